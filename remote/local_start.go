package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
)

// Start starts a process. A program without a slash is searched in the PATH of
// the command's own environment; only absolute directories count.
func (l *local) Start(ctx context.Context, command Command) (Handle, error) {
	failed := func(err error) (Handle, error) {
		failure := &StartError{Directory: command.Directory, Err: err}
		if len(command.Arguments) > 0 {
			failure.Program = command.Arguments[0]
		}
		return nil, failure
	}
	if err := cmp.Or(ctx.Err(), execution.Check(command.Arguments, command.Environment)); err != nil {
		return failed(err)
	}
	directory, err := l.workingDirectory(command.Directory)
	if err != nil {
		return failed(err)
	}
	environment := l.environment(command, directory)
	path, err := findProgram(command.Arguments[0], directory, environment["PATH"])
	if err != nil {
		return failed(err)
	}

	child := &exec.Cmd{
		Path: path,
		Args: command.Arguments,
		Dir:  directory,
		Env:  assignments(environment),
		SysProcAttr: &syscall.SysProcAttr{
			// Its own group lets a cancellation reach every process that the
			// command started, and keeps the terminal's signals from it.
			Setpgid: !command.Foreground,
		},
	}
	process, err := startLocal(ctx, child, command, l.grace, l.linger)
	if err != nil {
		return failed(err)
	}
	return process, nil
}

// workingDirectory returns the directory to run in, which must be one: the
// kernel's own error would not distinguish a missing directory from a missing program.
func (l *local) workingDirectory(name string) (string, error) {
	directory := l.absolute(name)
	info, err := os.Stat(directory)
	if err != nil {
		return "", fmt.Errorf("entering its directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("entering its directory: %w", &fs.PathError{Op: "chdir", Path: directory, Err: syscall.ENOTDIR})
	}
	return directory, nil
}

// environment returns the variables that the command sees.
func (l *local) environment(command Command, directory string) map[string]string {
	variables := map[string]string{}
	if command.ReplaceEnvironment {
		for _, name := range command.Keep {
			if value, set := os.LookupEnv(name); set {
				variables[name] = value
			}
		}
	} else {
		for _, assignment := range os.Environ() {
			name, value, _ := strings.Cut(assignment, "=")
			variables[name] = value
		}
		for _, name := range command.Unset {
			delete(variables, name)
		}
		if _, inherited := variables["PWD"]; inherited {
			variables["PWD"] = directory
		}
	}
	if command.Terminal != nil {
		variables["TERM"] = cmp.Or(command.Terminal.Type, "dumb")
	}
	maps.Copy(variables, command.Environment)
	return variables
}

func assignments(variables map[string]string) []string {
	list := make([]string, 0, len(variables))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		list = append(list, name+"="+variables[name])
	}
	return list
}

// findProgram returns the file to execute for a program's name.
func findProgram(program, directory, searchPath string) (string, error) {
	if strings.Contains(program, "/") {
		path := program
		if !filepath.IsAbs(path) {
			path = filepath.Join(directory, path)
		}
		if err := executable(path); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: there is no file %q", ErrCommandNotFound, path)
		} else if err != nil {
			return "", err
		}
		return path, nil
	}

	searchPath = cmp.Or(searchPath, execution.DefaultPath)
	var refused error
	for _, candidate := range filepath.SplitList(searchPath) {
		// A relative directory would let files in the working directory pose
		// as the scheduler's commands.
		if program == "" || !filepath.IsAbs(candidate) {
			continue
		}
		path := filepath.Join(candidate, program)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) && refused == nil {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("%w in PATH %q", ErrCommandNotFound, searchPath)
}

// executable returns an error for a file that cannot be executed.
func executable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return &fs.PathError{Op: "exec", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return &fs.PathError{Op: "exec", Path: path, Err: syscall.EACCES}
	}
	return nil
}

// busyAttempts and busyPause bound the wait for a program file that a process has open for
// writing. A child that another goroutine forked while the file was written keeps it open
// until it executes its own program, which on a busy machine may take seconds.
const (
	busyAttempts = 2000
	busyPause    = 5 * time.Millisecond
)

// execute starts the child.
func execute(ctx context.Context, child *exec.Cmd) (*exec.Cmd, error) {
	for attempt := 1; ; attempt++ {
		err := child.Start()
		switch {
		case err == nil:
			return child, nil
		case errors.Is(err, syscall.ETXTBSY) && attempt < busyAttempts:
			select {
			case <-time.After(busyPause):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			child = again(child)
		case errors.Is(err, syscall.ENOEXEC) && child.Path != "/bin/sh":
			// A script without "#!" is one for the shell, says POSIX of execvp.
			script := append([]string{child.Args[0], child.Path}, child.Args[1:]...)
			child = again(child)
			child.Path, child.Args = "/bin/sh", script
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: the interpreter that %q names is missing", ErrCommandNotFound, child.Path)
		default:
			return nil, err
		}
	}
}

// again returns a child like one whose start failed, which cannot be reused.
func again(child *exec.Cmd) *exec.Cmd {
	return &exec.Cmd{
		Path: child.Path, Args: child.Args, Dir: child.Dir, Env: child.Env,
		Stdin: child.Stdin, Stdout: child.Stdout, Stderr: child.Stderr,
		SysProcAttr: child.SysProcAttr,
	}
}
