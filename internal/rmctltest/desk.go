package rmctltest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/remotetest"
)

// A Desk is where a user works with rmctl: a home folder with targets, and a
// background process if it is wanted.
type Desk struct {
	Home        string
	Environment []string // of every rmctl

	t       testing.TB
	program string              // the rmctl of another user
	user    *syscall.Credential // who runs it; nil for the user of the tests
}

// NewDesk returns a desk with the definitions of a folder as targets, each by
// the name of its file, and with further settings in the environment. Without
// a folder it has the targets that everybody has.
func NewDesk(t testing.TB, folder string, environment ...string) *Desk {
	t.Helper()
	remotetest.HeedHangUps()
	home, err := os.MkdirTemp("", "rmctl-desk-") // not below the name of the test, which is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() {
		// A job that ends at this moment still leaves its exit code there.
		require.Eventually(t, func() bool { return os.RemoveAll(home) == nil }, time.Minute, 10*time.Millisecond)
	})
	d := &Desk{t: t, Home: home, Environment: append([]string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "GORACE=atexit_sleep_ms=0",
	}, environment...)}
	require.NoError(t, os.MkdirAll(d.configuration(""), 0o700))
	var targets strings.Builder
	if folder != "" {
		definitions, err := filepath.Glob(filepath.Join(folder, "*.xml"))
		require.NoError(t, err)
		require.NotEmpty(t, definitions, "there are no definitions in %s", folder)
		for _, definition := range definitions {
			source, err := os.ReadFile(definition)
			require.NoError(t, err)
			name := filepath.Base(definition)
			require.NoError(t, os.WriteFile(d.configuration(name), source, 0o600))
			fmt.Fprintf(&targets, "[targets.%s]\ndefinition = %q\n", strings.TrimSuffix(name, ".xml"), name)
		}
	}
	require.NoError(t, os.WriteFile(d.configuration("targets.toml"), []byte(targets.String()), 0o600))
	t.Cleanup(d.clear)
	return d
}

func (d *Desk) configuration(name string) string {
	return filepath.Join(d.Home, ".config", "rmctl", name)
}

// BelongsTo gives the desk to another user, who runs rmctl from then on.
func (d *Desk) BelongsTo(name string) {
	d.t.Helper()
	owner, err := user.Lookup(name)
	require.NoError(d.t, err)
	id, err := strconv.ParseUint(owner.Uid, 10, 32)
	require.NoError(d.t, err)
	group, err := strconv.ParseUint(owner.Gid, 10, 32)
	require.NoError(d.t, err)
	// By a process of its own: what other tests start meanwhile would have a file that is written here open, which keeps it from running.
	own := filepath.Join(d.Home, "rmctl")
	require.NoError(d.t, exec.Command("install", "-m", "755", program(d.t), own).Run())
	if node := filepath.Join(filepath.Dir(program(d.t)), "rmctl-node"); exists(node) {
		require.NoError(d.t, exec.Command("install", "-m", "755", node, d.Home).Run())
	}
	require.NoError(d.t, filepath.WalkDir(d.Home, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, int(id), int(group)))
	}))
	d.program, d.user = own, &syscall.Credential{Uid: uint32(id), Gid: uint32(group)}
}

// Reaches adds a target elsewhere. The definition is a name, a path, or a file
// of the desk's folder.
func (d *Desk) Reaches(name, definition, transport, host, sshConfig string) {
	d.t.Helper()
	file, err := os.OpenFile(d.configuration("targets.toml"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(d.t, err)
	_, err = fmt.Fprintf(file, "[targets.%s]\ndefinition = %q\ntransport = %q\nhost = %q\nssh_config = %q\n", name, definition, transport, host, sshConfig)
	require.NoError(d.t, errors.Join(err, file.Close()))
}

// clear ends what is left in the background, and the background process.
func (d *Desk) clear() {
	folder, err := daemon.Folder(filepath.Join(d.Home, ".local", "state", "rmctl"))
	require.NoError(d.t, err)
	client := daemon.Find(folder)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.t.Context()), patience)
	defer cancel()
	sessions, err := client.List(ctx)
	if errors.Is(err, daemon.ErrNotRunning) {
		return
	}
	require.NoError(d.t, err)
	for _, session := range sessions {
		if err := client.End(ctx, session.Names[0]); !errors.Is(err, daemon.ErrNoSession) {
			require.NoError(d.t, err)
		}
	}
	d.Does("conn", "close", "--all")
}

// Command returns a command of rmctl that is not started yet.
func (d *Desk) Command(ctx context.Context, arguments ...string) *exec.Cmd {
	d.t.Helper()
	if d.user == nil {
		d.program = program(d.t)
	}
	command := exec.CommandContext(ctx, d.program, arguments...)
	command.Dir, command.Env = d.Home, d.Environment
	if d.user != nil {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: d.user}
	}
	return command
}

// Does runs rmctl, which must succeed, and returns what it prints.
func (d *Desk) Does(arguments ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.t.Context()), patience)
	defer cancel()
	command := d.Command(ctx, arguments...)
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	require.NoError(d.t, command.Run(), "rmctl %s: %s%s", strings.Join(arguments, " "), &stdout, &stderr)
	return strings.TrimSpace(stdout.String())
}

// Refused runs rmctl, which must exit with the code of a failure, and
// returns all that it prints.
func (d *Desk) Refused(code int, arguments ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	command := d.Command(ctx, arguments...)
	output, _ := command.CombinedOutput()
	require.Equal(d.t, code, command.ProcessState.ExitCode(), "rmctl %s: %s", strings.Join(arguments, " "), output)
	return string(output)
}

// Sits starts rmctl at a terminal, and kills it when the test has ended or
// nobody would wait for it any more.
func (d *Desk) Sits(arguments ...string) *Terminal {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	s := startTerminal(d.t, d.Command(ctx, arguments...))
	d.t.Cleanup(cancel)
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
