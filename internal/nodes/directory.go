package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

const (
	// defaultDirectory is relative to the home directory of the target.
	defaultDirectory = ".local/state/rmctl/node"
	jobsFolder       = "jobs"
)

const (
	commandTimeout = 30 * time.Second // of one short command on the target
	stagingTimeout = 5 * time.Minute
	mostHead       = 4 << 10
)

// hashInName is how many digits of the hash are in the name of the staged program.
const hashInName = 16

// A Directory is where rmctl keeps the program for nodes and the directories of jobs on a
// target. Its methods may be called concurrently.
type Directory struct {
	connection remote.Connection
	path       string
	executable string // rmctl
	program    func() (*program, error)

	turn   sync.Mutex
	staged string // the program on the target, once it was checked
}

// NewDirectory returns the directory of the target of a connection. The path is that of the
// setting node_directory, empty for the usual one; executable is the program of rmctl.
func NewDirectory(connection remote.Connection, directory, executable string) (*Directory, error) {
	place := connection.Info()
	directory = cmp.Or(directory, defaultDirectory)
	if !path.IsAbs(directory) {
		directory = path.Join(place.Home, directory)
	}
	directory = path.Clean(directory)
	if !path.IsAbs(directory) || !IsSafeWord(directory) {
		return nil, fmt.Errorf("%q cannot be the directory for programs on nodes: remote shells split it\nset node_directory of the target to an absolute path of letters, digits and %s", directory, safeSigns)
	}
	return &Directory{
		connection: connection, path: directory, executable: executable,
		program: sync.OnceValues(func() (*program, error) { return findProgram(executable, place) }),
	}, nil
}

const safeSigns = "_./:=,@%+-"

// IsSafeWord reports whether every shell leaves a word unchanged.
func IsSafeWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		isPlain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !isPlain && !strings.ContainsRune(safeSigns, r)
	})
}

// Job returns the directory of a job on the target, which may not exist.
func (d *Directory) Job(name string) string { return path.Join(d.path, jobsFolder, name) }

// Program returns the path of the program on the target. It stages the program if the
// target does not have it, and the first time it checks what the target has.
func (d *Directory) Program(ctx context.Context) (string, error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	if d.staged != "" {
		return d.staged, nil
	}
	return d.stage(ctx)
}

// StagedProgram returns the path of the program on the target after staging. It runs nothing on the target.
func (d *Directory) StagedProgram() (string, error) {
	local, err := d.program()
	if err != nil {
		return "", err
	}
	return d.stagedPath(local), nil
}

func (d *Directory) stagedPath(local *program) string {
	return path.Join(d.path, programName+"-"+local.hash[:hashInName])
}

// stage lets the target compute the hash of the program there, which needs no transfer and identifies its bytes.
func (d *Directory) stage(ctx context.Context) (string, error) {
	d.staged = ""
	local, err := d.program()
	if err != nil {
		return "", err
	}
	staged := d.stagedPath(local)
	hash, err := d.Hash(ctx, staged)
	if err == nil && hash != local.hash {
		if err = d.write(ctx, local, staged); err == nil {
			hash, err = d.Hash(ctx, staged)
		}
	}
	if err == nil && hash != local.hash {
		err = errors.New("its hash there differs")
	}
	if err != nil {
		return "", fmt.Errorf("staging %s on the target: %w", programName, err)
	}
	d.staged = staged
	return staged, nil
}

// write puts the program in place: no other process sees a part of it.
func (d *Directory) write(ctx context.Context, local *program, staged string) error {
	ctx, cancel := context.WithTimeout(ctx, stagingTimeout)
	defer cancel()
	if err := d.connection.MkdirAll(ctx, d.path, 0o700); err != nil {
		return writeHint(err)
	}
	if err := d.connection.Chmod(ctx, d.path, 0o700); err != nil {
		return writeHint(err)
	}
	content, err := os.Open(local.path)
	if err != nil {
		return err
	}
	defer content.Close() // nothing was written
	return writeHint(d.connection.WriteFile(ctx, staged, content, 0o700))
}

// writeHint adds a hint to an error of the directory, except for a lost connection.
func writeHint(err error) error {
	if err == nil || errors.Is(err, remote.ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w\nset node_directory of the target to a directory that you can write to", err)
}

// Hash returns the SHA-256 of a file of the target in hexadecimal digits; empty if there is no such file.
func (d *Directory) Hash(ctx context.Context, name string) (string, error) {
	if _, err := d.connection.Stat(ctx, name); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", writeHint(err)
	}
	var err error
	for _, words := range [][]string{{"sha256sum"}, {"shasum", "-a", "256"}} {
		var printed string
		printed, err = d.run(ctx, append(words, name)...)
		if err == nil {
			hash, _, _ := strings.Cut(printed, " ")
			return hash, nil
		}
		if !errors.Is(err, remote.ErrCommandNotFound) {
			break
		}
	}
	return "", err
}

// Prepare stages the program, and checks its hash each time. With the program it makes the
// directory of a job with its secret, and returns that directory.
func (d *Directory) Prepare(ctx context.Context, name string) (jobDirectory string, err error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	staged, err := d.stage(ctx)
	if err != nil {
		return "", err
	}
	jobDirectory = d.Job(name)
	if !IsSafeWord(name) || strings.Contains(name, "/") {
		return "", fmt.Errorf("%q cannot be the name of a job's directory", name)
	}
	if _, err := d.run(ctx, staged, "prepare", "--job", jobDirectory); err != nil {
		if errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "exited with code 126") {
			return "", fmt.Errorf("the target does not let programs run in %s: %w\nset node_directory of the target to a directory on a file system that is not mounted noexec", d.path, err)
		}
		return "", fmt.Errorf("preparing a directory for the job: %w", err)
	}
	return jobDirectory, nil
}

// run runs a short command on the target, and returns the beginning of what it prints.
func (d *Directory) run(ctx context.Context, words ...string) (string, error) {
	return d.output(ctx, mostHead, words...)
}

// output is run for a command that prints more, at most limit bytes.
func (d *Directory) output(ctx context.Context, limit int, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	printed, complaint := execution.NewHead(limit), execution.NewHead(mostHead)
	process, err := d.connection.Start(ctx, remote.Command{Arguments: words, Environment: map[string]string{"LC_ALL": "C"}, Stdout: printed, Stderr: complaint})
	if err != nil {
		return "", cmp.Or(ctx.Err(), err)
	}
	code, err := process.Wait()
	switch {
	case err != nil:
		return "", cmp.Or(ctx.Err(), err)
	case code != 0:
		said := strings.TrimSpace(complaint.String())
		return "", fmt.Errorf("%s exited with code %d: %.500q", path.Base(words[0]), code, said)
	}
	return printed.String(), nil
}
