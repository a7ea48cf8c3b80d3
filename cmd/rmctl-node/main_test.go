package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/tree"
)

var installation string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "rmctl-node-built-")
	if err != nil {
		panic(err)
	}
	installation = folder
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

const patience = 3 * time.Minute

// An ensemble is a co-allocator, with the relay that real processes reach it by.
type ensemble struct {
	t         testing.TB
	ctx       context.Context
	program   string // rmctl-node
	directory string
	key       *rendezvous.Key
	server    *rendezvous.Server
	relay     *exec.Cmd

	mutex   sync.Mutex
	events  []rendezvous.ProcessEvent
	changed chan struct{}
}

func newEnsemble(t testing.TB) *ensemble {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	e := &ensemble{
		t: t, ctx: ctx, program: rmctltest.NodeProgram(t, installation), changed: make(chan struct{}),
		directory: filepath.Join(t.TempDir(), "jobs", "ensemble"),
	}
	require.NoError(t, jobdirectory.Prepare(e.directory, "", time.Now()))
	var err error
	e.key, err = rendezvous.NewKey()
	require.NoError(t, err)
	e.server = rendezvous.NewServer(e.key, "e", e.observe)
	e.relay = exec.Command(e.program, "relay", "--job", e.directory, "--top", "--streams", "--node", "here")
	e.relay.Stderr = os.Stderr
	input, err := e.relay.StdinPipe()
	require.NoError(t, err)
	output, err := e.relay.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, e.relay.Start())
	secret, err := tree.ReadSecret(e.directory)
	require.NoError(t, err)
	client, err := tree.Connect(ctx, pipes{output, input}, secret)
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { _ = e.server.Serve(ctx, client.AcceptStream, func(error) {}) })
	t.Cleanup(func() {
		cancel()
		e.server.Close()
		require.NoError(t, client.Close())
		serving.Wait()
		_ = e.relay.Wait() // some tests kill it
	})
	return e
}

// pipes are stdout and stdin of a process.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

// Close closes both.
func (p pipes) Close() error {
	_ = p.WriteCloser.Close() // as the next
	return p.ReadCloser.Close()
}

func (e *ensemble) observe(event rendezvous.ProcessEvent) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.events = append(e.events, event)
	close(e.changed)
	e.changed = make(chan struct{})
}

// awaits waits until as many events of a kind have come, and returns the last of these.
func (e *ensemble) awaits(kind rendezvous.EventKind, count int) rendezvous.ProcessEvent {
	e.t.Helper()
	for {
		e.mutex.Lock()
		found := 0
		for _, event := range e.events {
			if event.Kind == kind {
				if found++; found == count {
					e.mutex.Unlock()
					return event
				}
			}
		}
		changed, all := e.changed, e.events
		e.mutex.Unlock()
		select {
		case <-changed:
		case <-e.ctx.Done():
			require.Fail(e.t, "the event did not come", "%+v", all)
		}
	}
}

// admits admits a part, and returns its pass.
func (e *ensemble) admits(serial, count int, gate string, words ...string) *rendezvous.Pass {
	label := "part" + strconv.Itoa(serial)
	e.server.Admit(rendezvous.Part{Serial: serial, Index: serial - 1, Label: label, Count: count, Gate: gate, Joins: true})
	return &rendezvous.Pass{
		Ensemble: "e", Serial: serial, Index: serial - 1, Label: label, Gate: gate, Count: count, Parts: 2, Joins: true,
		Fingerprint: e.key.Fingerprint(), Secret: e.key.PartSecret(serial), Arguments: words, Wait: patience,
	}
}

// writes writes a pass to its file.
func (e *ensemble) writes(pass *rendezvous.Pass) string {
	e.t.Helper()
	text, err := pass.Encode()
	require.NoError(e.t, err)
	path := filepath.Join(e.directory, "part-"+strconv.Itoa(pass.Serial)+".json")
	if earlier, err := os.ReadFile(path); err != nil || !bytes.Equal(earlier, text) { // others may be reading it
		require.NoError(e.t, os.WriteFile(path, text, 0o600))
	}
	return path
}

// A running is a process of a part.
type running struct {
	*exec.Cmd
	t              testing.TB
	output, errors text
}

// A text grows while a process runs.
type text struct {
	mutex sync.Mutex
	all   bytes.Buffer
}

// Write implements [io.Writer].
func (b *text) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.all.Write(data)
}

// String returns what is there.
func (b *text) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.all.String()
}

// command returns a command of rmctl-node that was not started yet.
func (e *ensemble) command(words ...string) *running {
	r := &running{t: e.t, Cmd: exec.Command(e.program, words...)}
	r.Cmd.Stdout, r.Cmd.Stderr = &r.output, &r.errors
	return r
}

// runs starts a process of a part, with additional variables.
func (e *ensemble) runs(pass *rendezvous.Pass, variables ...string) *running {
	e.t.Helper()
	r := e.command("run", "--pass", e.writes(pass), "--", "false", "words that nobody runs")
	r.Env = append(os.Environ(), variables...)
	require.NoError(e.t, r.Start())
	e.t.Cleanup(func() { _ = r.Process.Kill() }) // it may have ended
	return r
}

// ends waits for the end of a process, and returns its exit code; -1 for a signal.
func (r *running) ends() int {
	r.t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = r.Wait() // the state says more
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		_ = r.Process.Kill() // the test fails
		<-ended
		require.Fail(r.t, "the process did not end", "%s%s", r.output.String(), r.errors.String())
	}
	return r.ProcessState.ExitCode()
}

// releases releases parts once all their processes wait.
func (e *ensemble) releases(serials ...int) {
	e.t.Helper()
	var rosters []rendezvous.Roster
	require.Eventually(e.t, func() bool {
		var err error
		rosters, err = e.server.Freeze(e.ctx, serials)
		return err == nil
	}, patience, 5*time.Millisecond)
	e.server.Release(rosters)
}
