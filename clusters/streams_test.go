package clusters_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// runsWithout runs rmctl without a terminal and returns its two output streams.
func runsWithout(t *testing.T, d *rmctltest.Desk, stdin io.Reader, isClosed bool, arguments ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := d.Command(ctx, arguments...)
	if isClosed {
		command.Args = append([]string{"sh", "-c", `exec "$@" <&-`, "sh", command.Path}, command.Args[1:]...)
		command.Path = "/bin/sh"
	}
	var output, complaints bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = stdin, &output, &complaints
	var exit *exec.ExitError
	if err := command.Run(); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return output.String(), complaints.String(), command.ProcessState.ExitCode()
}

// anyBytes is an input that terminals, line readers and decoders change.
var anyBytes = strings.Repeat("a line\na\x00zero\r\n\xff\xfe\x04\x03\x1c^@ \x1b[m\t\n", 50_000) + "no end of line"

// passesStreams runs programs through an interactive definition without a terminal. Their
// input, output and exit codes must arrive unchanged. It repeats this, since launchers
// sometimes lose streams. The arguments begin the command line.
func passesStreams(t *testing.T, d *rmctltest.Desk, input string, arguments ...string) {
	t.Helper()
	file := filepath.Join(d.Home, "input")
	require.NoError(t, os.WriteFile(file, []byte(input), 0o644))
	opened := func() io.Reader {
		content, err := os.Open(file)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, content.Close()) })
		return content
	}
	// Open MPI gives its ranks their own terminal as standard output, which makes no
	// difference.
	const program = `cat; printf 'out\0\r\n'; printf 'err\0\377\r\n' >&2
		[ -t 0 ] || [ -t 2 ] || [ -z "$OMPI_COMM_WORLD_RANK" -a -t 1 ] || exit 3`
	for _, stdin := range []struct {
		name   string
		open   func() io.Reader
		closed bool
		input  string
		tries  int
	}{
		{name: "null", open: func() io.Reader { return nil }, tries: 20},
		{name: "closed", open: func() io.Reader { return nil }, closed: true, tries: 5},
		{name: "pipe", open: func() io.Reader { return strings.NewReader(input) }, input: input, tries: 5},
		{name: "file", open: opened, input: input, tries: 5},
	} {
		for range stdin.tries {
			stdout, stderr, code := runsWithout(t, d, stdin.open(), stdin.closed, append(arguments, "--", "sh", "-c", program)...)
			require.Equal(t, 3, code, "%s: %s", stdin.name, stderr)
			require.True(t, stdin.input+"out\x00\r\n" == stdout, "%s: %d bytes became %d: %q", stdin.name, len(stdin.input), len(stdout), stdout[:min(len(stdout), 200)])
			require.Contains(t, "\n"+stderr, "\nerr\x00\xff\r\n", stdin.name)
		}
	}
	stdout, stderr, code := runsWithout(t, d, opened(), false, append(arguments, "--", "cat")...)
	require.Zero(t, code, stderr)
	require.True(t, input == stdout, "%d bytes became %d", len(input), len(stdout))
	require.Contains(t, d.Does("jobs", "--all", "--json"), `"detail":"COMPLETED"`)
}
