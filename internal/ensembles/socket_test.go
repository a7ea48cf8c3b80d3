package ensembles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/job"
)

const patience = time.Minute

// played is a Control that records calls, and fails when the test wants.
type played struct {
	mutex  sync.Mutex
	calls  []string
	parts  []coalloc.Part
	status coalloc.Status
	fails  error
	events []coalloc.EnsembleEvent
	goes   bool          // Events stays until its context is done
	left   chan struct{} // closed when such a call of Events returns
}

func (p *played) note(format string, arguments ...any) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.calls = append(p.calls, fmt.Sprintf(format, arguments...))
	return p.fails
}

func (p *played) Status(context.Context) (coalloc.Status, error) {
	return p.status, p.note("status")
}

func (p *played) Add(_ context.Context, parts ...coalloc.Part) error {
	p.parts = parts
	return p.note("add %d", len(parts))
}

func (p *played) Delete(_ context.Context, labels ...string) error {
	return p.note("delete %q", labels)
}

func (p *played) Substitute(_ context.Context, label string, part coalloc.Part) error {
	p.parts = []coalloc.Part{part}
	return p.note("substitute %q %q", label, part.Label)
}

func (p *played) Commit(_ context.Context, now bool) error { return p.note("commit %v", now) }

func (p *played) Cancel(context.Context) error { return p.note("cancel") }

func (p *played) Events(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) error {
	for _, event := range p.events {
		if event.Sequence > after {
			if err := observe(event); err != nil {
				return err
			}
		}
	}
	if p.goes {
		defer close(p.left)
		<-ctx.Done()
		return ctx.Err()
	}
	return p.note("events after %d", after)
}

// shortFolder returns a folder whose path leaves room for a socket.
func shortFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "en")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	return filepath.Join(folder, "one")
}

// served serves a control below a folder until the test ends.
func served(t testing.TB, folder string, control coalloc.Control) client {
	t.Helper()
	leave, err := serve(t.Context(), folder, control, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, leave()) })
	return client{folder}
}

func aPart(label string) coalloc.Part {
	return coalloc.Part{
		Label: label, Target: "local", Kind: coalloc.Required, Gate: coalloc.Held, Count: 2, JobType: coalloc.Multiple, CheckIn: time.Minute,
		Submission: job.Submission{Executable: "/bin/echo", Arguments: []string{"a b", "\xff", ""}, Values: []job.Assignment{{Name: "queue", Value: "x"}}},
	}
}

func TestOperationsReachAnEnsembleOfAnotherProcess(t *testing.T) {
	signal := 9
	control := &played{status: coalloc.Status{ID: "e1", State: coalloc.Waiting, Created: time.Unix(1, 0).UTC(), Parts: []coalloc.PartStatus{{Label: "a", Signal: &signal}}}}
	remote := served(t, shortFolder(t), control)
	status, err := remote.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, control.status, status)
	require.NoError(t, remote.Add(t.Context(), aPart("b"), aPart("c")))
	require.Equal(t, []coalloc.Part{aPart("b"), aPart("c")}, control.parts, "bytes that are not UTF-8 must arrive, too")
	require.NoError(t, remote.Substitute(t.Context(), "b", aPart("d")))
	require.Equal(t, []coalloc.Part{aPart("d")}, control.parts)
	require.NoError(t, remote.Delete(t.Context(), "c", "d"))
	require.NoError(t, remote.Commit(t.Context(), true))
	require.NoError(t, remote.Commit(t.Context(), false))
	require.NoError(t, remote.Cancel(t.Context()))
	require.Equal(t, []string{"status", "add 2", `substitute "b" "d"`, `delete ["c" "d"]`, "commit true", "commit false", "cancel"}, control.calls)
}

func TestErrorsKeepTheirIdentityAcrossTheSocket(t *testing.T) {
	control := &played{}
	remote := served(t, shortFolder(t), control)
	for name, known := range knownErrors() {
		control.fails = fmt.Errorf("part %q: %w", "a", known)
		err := remote.Commit(t.Context(), true)
		require.ErrorIs(t, err, known, name)
		require.EqualError(t, err, control.fails.Error())
	}
	control.fails = &UsageError{errors.New("local does not support gpus")}
	require.True(t, isUsage(remote.Add(t.Context(), aPart("a"))), "a request that a target cannot run is a mistake in the request")
	control.fails = errors.New(strings.Repeat("x", 2*longestText))
	require.Less(t, len(remote.Cancel(t.Context()).Error()), longestText+10)
}

func TestPartsAreCheckedBeforeTheyAreAdded(t *testing.T) {
	control := &played{}
	remote := served(t, shortFolder(t), control)
	part := aPart("a")
	part.Submission.Directory = "/tmp\n#SBATCH --uid=0"
	require.ErrorContains(t, remote.Add(t.Context(), part), "more than one line")
	require.Empty(t, control.calls)
}

func TestEventsAreStreamedUntilTheEnd(t *testing.T) {
	control := &played{}
	for i := range 2000 {
		control.events = append(control.events, coalloc.EnsembleEvent{Sequence: i + 1, Kind: coalloc.PartChanged, Label: "a", Text: strings.Repeat("y", 100)})
	}
	remote := served(t, shortFolder(t), control)
	var observed []coalloc.EnsembleEvent
	require.NoError(t, remote.Events(t.Context(), 10, func(event coalloc.EnsembleEvent) error {
		observed = append(observed, event)
		return nil
	}))
	require.Equal(t, control.events[10:], observed)

	enough := errors.New("enough")
	require.ErrorIs(t, remote.Events(t.Context(), 0, func(coalloc.EnsembleEvent) error { return enough }), enough)
}

func TestAClientThatLeavesEndsItsCall(t *testing.T) {
	control := &played{goes: true, left: make(chan struct{}), events: []coalloc.EnsembleEvent{{Sequence: 1}}}
	remote := served(t, shortFolder(t), control)
	ctx, cancel := context.WithCancel(t.Context())
	err := remote.Events(ctx, 0, func(coalloc.EnsembleEvent) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	select {
	case <-control.left:
	case <-time.After(patience):
		t.Fatal("the server still follows events that nobody reads")
	}
}

func TestTheEndOfTheServerEndsItsClients(t *testing.T) {
	folder := shortFolder(t)
	control := &played{goes: true, left: make(chan struct{}), events: []coalloc.EnsembleEvent{{Sequence: 1}}}
	leave, err := serve(t.Context(), folder, control, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	remote := client{folder}
	var leaving sync.WaitGroup
	err = remote.Events(t.Context(), 0, func(coalloc.EnsembleEvent) error {
		leaving.Go(func() { _ = leave() })
		return nil
	})
	require.ErrorIs(t, err, coalloc.ErrNotRunning)
	leaving.Wait()
	_, err = remote.Status(t.Context())
	require.ErrorIs(t, err, coalloc.ErrNotRunning, "the socket must be gone")
	served(t, folder, control) // and the folder free
}

func TestOneProcessHasTheSocketOfAnEnsemble(t *testing.T) {
	folder := shortFolder(t)
	served(t, folder, &played{})
	_, err := serve(t.Context(), folder, &played{}, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, coalloc.ErrRunning)
	_, err = client{shortFolder(t)}.Status(t.Context())
	require.ErrorIs(t, err, coalloc.ErrNotRunning)
	info, err := os.Stat(daemon.SocketPath(controlFolder(folder)))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAProcessThatDoesNotAnswerLeavesTheRecord(t *testing.T) {
	folder := shortFolder(t)
	listener, held, err := daemon.Occupy(controlFolder(folder)) // nobody accepts
	require.NoError(t, err)
	defer held.Close()
	defer listener.Close()
	control := &live{process: client{folder}, onRecord: &played{status: coalloc.Status{ID: "e1", State: coalloc.Waiting}}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, err := control.Status(ctx)
	require.NoError(t, err)
	require.Equal(t, coalloc.Status{ID: "e1", State: coalloc.Waiting, Reason: "last known state; the process that runs the ensemble does not answer"}, status)
}

func TestWrongRequestsAreRefused(t *testing.T) {
	folder := shortFolder(t)
	control := &played{}
	served(t, folder, control)
	for name, line := range map[string]string{
		"an unknown operation":        `{"operation":"release"}`,
		"no JSON":                     `status`,
		"no part to add":              `{"operation":"add","parts":"AAAA"}`,
		"nothing to substitute":       `{"operation":"substitute","parts":"` + encodedParts(t) + `"}`,
		"a value of another type":     `{"operation":7}`,
		"parts that are no such text": `{"operation":"add","parts":"?"}`,
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("unix", daemon.SocketPath(controlFolder(folder)))
			require.NoError(t, err)
			defer conn.Close()
			_, err = conn.Write([]byte(line + "\n"))
			require.NoError(t, err)
			var got answer
			require.NoError(t, readLine(bufio.NewReader(conn), longestAnswer, &got))
			require.ErrorContains(t, got.Failed.unpack(), "violates the protocol")
		})
	}
	require.Empty(t, control.calls)
}

// encodedParts are two parts as in a request.
func encodedParts(t *testing.T) string {
	t.Helper()
	packed, err := packParts([]coalloc.Part{aPart("a"), aPart("b")})
	require.NoError(t, err)
	var line strings.Builder
	require.NoError(t, writeLine(&line, packed))
	return strings.Trim(line.String(), "\"\n")
}

func TestLinesAreBounded(t *testing.T) {
	var got answer
	err := readLine(bufio.NewReader(strings.NewReader(strings.Repeat("x", 100)+"\n")), 50, &got)
	require.ErrorIs(t, err, errProtocol)
	require.NoError(t, readLine(bufio.NewReader(strings.NewReader(`{"failed":{"message":"m"}}`+"\n")), 50, &got))
	require.EqualError(t, got.Failed.unpack(), "m")
}

func FuzzRequestLine(f *testing.F) {
	f.Add([]byte(`{"operation":"add","parts":"AAAA"}` + "\n"))
	f.Add([]byte(`{"operation":"commit","now":true}` + "\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var asked request
		if readLine(bufio.NewReader(strings.NewReader(string(line))), 1<<16, &asked) != nil {
			return
		}
		parts, err := unpackParts(asked.Parts)
		if err == nil {
			for _, part := range parts {
				require.NoError(t, part.Check(), "parts that are accepted are valid")
			}
		}
	})
}
