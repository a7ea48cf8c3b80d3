package ensembles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// The errors of a connection that is lost, of a host that is away, and of one that asks for a code.
var (
	errCut     = &remote.ConnectError{Host: "login", Reason: remote.Disconnected, Err: io.ErrUnexpectedEOF}
	errRefused = &remote.ConnectError{Host: "login", Reason: remote.Refused, Err: errors.New("connection refused")}
	errNoCode  = &remote.ConnectError{Host: "login", Reason: remote.NotAuthenticated, Err: remote.ErrNobodyToAsk}
)

// A host has an rmctl with a separate record. The parts of its ensembles wait for a login to their target.
type host struct {
	t       *testing.T
	service *Service
	running sync.WaitGroup

	mutex   sync.Mutex
	ctx     context.Context // of the background process
	suspend func()
}

func newHost(t *testing.T) *host {
	t.Helper()
	home, err := os.MkdirTemp("", "host")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	require.NoError(t, os.WriteFile(filepath.Join(home, "targets.toml"), []byte("[targets.login]\ndefinition = \"local\"\n[targets.far]\ndefinition = \"local\"\n"), 0o600))
	client, err := rmctl.Open(t.Context(), rmctl.Options{ConfigFolder: home, SiteFolder: filepath.Join(home, "site"), StateFolder: filepath.Join(home, "state"),
		Connect: func(context.Context, rmctl.Target) (remote.Connection, error) { return nil, errNoCode }})
	require.NoError(t, err)
	h := &host{t: t, service: &Service{Client: client}}
	h.ctx, h.suspend = context.WithCancel(context.Background())
	t.Cleanup(func() {
		h.suspend()
		h.running.Wait()
		require.NoError(t, client.Close())
	})
	h.service.Launch = func(_ context.Context, id string) error {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		ctx := h.ctx
		h.running.Go(func() { _, _ = h.service.Host(ctx, id, false, nil) }) // it is suspended, or another one runs it
		return nil
	}
	return h
}

// replaces has another background process run an ensemble.
func (h *host) replaces(id string) {
	h.mutex.Lock()
	h.suspend()
	h.ctx, h.suspend = context.WithCancel(context.Background())
	h.mutex.Unlock()
	_ = h.service.Launch(h.ctx, id) // never fails
}

// exits runs a command of rmctl, which prints JSON, and returns its exit code as an error.
func (h *host) exits(ctx context.Context, call Call) error {
	root := NewCommand(Environment{
		Stdin: call.Stdin, Stdout: call.Stdout, Stderr: call.Stderr, IsJSON: func() bool { return true },
		Service: func() (*Service, error) { return h.service, nil },
		Place:   func(_ string, s job.Submission) (job.Submission, error) { return s, nil },
		Prepare: func(context.Context, []string) {},
		Output:  func(context.Context, []string, control.Stream, bool) error { return nil },
		Exit:    func(code int) error { return nil },
	})
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(call.Arguments[2:])
	err := root.ExecuteContext(ctx)
	if err == nil {
		return nil
	}
	line, _ := json.Marshal(map[string]string{"error": err.Error()})
	_, _ = fmt.Fprintf(call.Stderr, "%s\n", line)
	if errors.Is(err, coalloc.ErrInvalid) {
		return &ExitError{2}
	}
	return &ExitError{1}
}

// A journey is the fate of one command on its way to the other host.
type journey func(ctx context.Context, call Call, run func(Call) error) error

func arrives(_ context.Context, call Call, run func(Call) error) error { return run(call) }

// isCutAfter runs the command, whose answer is lost.
func isCutAfter(_ context.Context, call Call, run func(Call) error) error {
	call.Stdout, call.Stderr = io.Discard, io.Discard
	_ = run(call)
	return errCut
}

func fails(err error) journey {
	return func(context.Context, Call, func(Call) error) error { return err }
}

// A pair is this host and one with rmctl behind a connection.
type pair struct {
	*host
	login    *host
	mutex    sync.Mutex
	journeys []journey // of the next commands; then all arrive
	commands []string
}

func newPair(t *testing.T) *pair {
	p := &pair{host: newHost(t), login: newHost(t)}
	p.service.Run = func(ctx context.Context, target string, call Call) error {
		require.Equal(t, "login", target)
		p.mutex.Lock()
		next := arrives
		if len(p.journeys) > 0 {
			next, p.journeys = p.journeys[0], p.journeys[1:]
		}
		p.commands = append(p.commands, call.Arguments[2])
		p.mutex.Unlock()
		return next(ctx, call, func(call Call) error { return p.login.exits(ctx, call) })
	}
	return p
}

// meets sets the fates of the next commands.
func (p *pair) meets(journeys ...journey) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.journeys, p.commands = journeys, nil
}

const waiting = "name = \"n\"\n[part.a]\ntarget = \"far\"\nexecutable = \"/bin/true\"\n[part.b]\ntarget = \"far\"\nexecutable = \"/bin/true\"\n"

// submits submits an ensemble of two parts.
func (p *pair) submits() string {
	p.t.Helper()
	id, err := p.service.SubmitAt(p.t.Context(), "login", "", []byte(waiting))
	require.NoError(p.t, err)
	return id
}

// only returns the only ensemble on record of a host.
func (h *host) only() coalloc.Status {
	h.t.Helper()
	names, err := h.service.Names(h.t.Context(), true)
	require.NoError(h.t, err)
	require.Len(h.t, names, 1)
	return names[0]
}

// looks returns the ensemble as this host shows it.
func (p *pair) looks() (coalloc.Status, error) {
	p.t.Helper()
	control, err := p.service.Follow(p.t.Context(), p.only().ID)
	require.NoError(p.t, err)
	return control.Status(p.t.Context())
}
