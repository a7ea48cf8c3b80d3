package repeated

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// A place is a host whose commands record each run in a file.
type place struct {
	*Connection
	notes string
}

func newPlace(t *testing.T) place {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	return place{New(local), filepath.Join(t.TempDir(), "runs")}
}

// run runs a script and returns its exit code and output.
func (p place) run(ctx context.Context, script string, environment map[string]string) (code int, stdout, stderr string, err error) {
	var out, problems bytes.Buffer
	process, err := p.Start(ctx, remote.Command{
		Arguments: []string{"sh", "-c", `echo run >>"$0"; ` + script, p.notes}, Environment: environment, Stdout: &out, Stderr: &problems,
	})
	if err != nil {
		return -1, "", "", err
	}
	code, err = process.Wait()
	return code, out.String(), problems.String(), err
}

func (p place) runs(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(p.notes)
	require.NoError(t, err)
	return strings.Count(string(text), "\n")
}

func TestEqualCommandsRunOnceAndPrintTheSame(t *testing.T) {
	p := newPlace(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			code, stdout, stderr, err := p.run(t.Context(), "echo printed; echo problem >&2; exit 3", nil)
			require.NoError(t, err)
			require.Equal(t, 3, code)
			require.Equal(t, "printed\n", stdout)
			require.Equal(t, "problem\n", stderr)
		})
	}
	group.Wait()
	require.Equal(t, 1, p.runs(t))
}

func TestDifferentCommandsRunSeparately(t *testing.T) {
	p := newPlace(t)
	for _, value := range []string{"a", "b", "a"} {
		_, stdout, _, err := p.run(t.Context(), `echo "$VALUE"`, map[string]string{"VALUE": value})
		require.NoError(t, err)
		require.Equal(t, value+"\n", stdout)
	}
	require.Equal(t, 2, p.runs(t))
}

func TestACommandWithLongOutputRunsAgain(t *testing.T) {
	p := newPlace(t)
	p.most = 3
	for range 2 {
		_, stdout, _, err := p.run(t.Context(), "echo 123", nil)
		require.NoError(t, err)
		require.Equal(t, "123\n", stdout)
	}
	require.Equal(t, 2, p.runs(t))
}

func TestACommandThatCannotStartIsNotTriedAgain(t *testing.T) {
	p := newPlace(t)
	started := 0
	p.Connection = New(counting{p.Connection, &started})
	for range 3 {
		_, err := p.Start(t.Context(), remote.Command{Arguments: []string{"no-such-command-here"}})
		require.ErrorIs(t, err, remote.ErrCommandNotFound)
	}
	require.Equal(t, 1, started)
}

type counting struct {
	remote.Connection
	started *int
}

func (c counting) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	*c.started++
	return c.Connection.Start(ctx, command)
}

// The output of a killed command may be incomplete.
func TestAKilledCommandHasTheReason(t *testing.T) {
	p := newPlace(t)
	why := errors.New("it may run for a moment")
	limited, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
	defer cancel()
	_, _, _, _ = p.run(limited, "echo part; exec sleep 600", nil)
	_, _, _, err := p.run(t.Context(), "echo part; exec sleep 600", nil)
	require.ErrorIs(t, err, why)
	require.Equal(t, 1, p.runs(t))
}

func TestACommandThatReadsInputRunsEachTime(t *testing.T) {
	p := newPlace(t)
	for _, text := range []string{"a", "b"} {
		var out bytes.Buffer
		process, err := p.Start(t.Context(), remote.Command{Arguments: []string{"cat"}, Stdin: strings.NewReader(text), Stdout: &out})
		require.NoError(t, err)
		_, err = process.Wait()
		require.NoError(t, err)
		require.Equal(t, text, out.String())
	}
}
