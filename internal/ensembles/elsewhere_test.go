package ensembles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// away are the errors of a connection that is lost, and of one that cannot be made again.
var (
	errCut     = &remote.ConnectError{Host: "login", Reason: remote.Disconnected, Err: io.ErrUnexpectedEOF}
	errRefused = &remote.ConnectError{Host: "login", Reason: remote.Refused, Err: errors.New("connection refused")}
	errNoCode  = &remote.ConnectError{Host: "login", Reason: remote.NotAuthenticated, Err: remote.ErrNobodyToAsk}
)

// A host has an rmctl with a record of its own. The parts of its ensembles wait, as their target needs the user to log in.
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

// A journey is what happens to one command on its way to the other host.
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

// meets sets what happens to the next commands.
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

func TestAnEnsembleAtATargetIsOnRecordBeforeItIsThere(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.meets(func(_ context.Context, call Call, run func(Call) error) error {
		require.Equal(t, coalloc.Prepared, p.only().State)
		status, err := p.looks()
		require.NoError(t, err)
		require.Equal(t, "another process submits the ensemble now", status.Reason)
		return run(call)
	})
	id := p.submits()
	require.Equal(t, id, p.only().ID)
	require.Equal(t, "n", p.only().Name)
	require.Equal(t, id, p.login.only().ID)
	require.Empty(t, p.login.only().At)
	require.Equal(t, []string{"submit"}, p.commands)
}

func TestASubmissionThatIsCutOffIsRepeatedAndRunsOnce(t *testing.T) {
	t.Parallel()
	half := func(_ context.Context, call Call, run func(Call) error) error {
		text, err := io.ReadAll(call.Stdin)
		require.NoError(t, err)
		call.Stdin, call.Stderr = bytes.NewReader(text[:strings.Index(string(text), "[part.b]")]), io.Discard
		require.Error(t, run(call), "a part of a request is no request")
		return errCut
	}
	for name, cut := range map[string]journey{"before": fails(errCut), "meanwhile": half, "after": isCutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.meets(cut)
			id := p.submits()
			require.Equal(t, []string{"submit", "submit"}, p.commands)
			require.Equal(t, id, p.login.only().ID)
			status, err := p.looks()
			require.NoError(t, err)
			require.Len(t, status.Parts, 2)
		})
	}
}

func TestTheNextLookFindsAnEnsembleWhoseSubmissionHadNoAnswer(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.meets(isCutAfter, fails(errNoCode))
	_, err := p.service.SubmitAt(t.Context(), "login", "", []byte(waiting))
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorContains(t, err, "it is not known whether rmctl at login runs ensemble "+p.only().ID)
	require.Equal(t, coalloc.Prepared, p.only().State)
	p.meets(fails(errRefused))
	status, err := p.looks()
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Contains(t, status.Reason, "last known state; ")
	require.Equal(t, coalloc.Prepared, p.only().State, "nobody knows yet")

	status, err = p.looks()
	require.NoError(t, err)
	require.Len(t, status.Parts, 2)
	require.Equal(t, status.State, p.only().State)
	require.Equal(t, p.only().ID, p.login.only().ID)
}

func TestTheNextLookEndsAnEnsembleWhoseSubmissionDidNotArrive(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var late func() error
	p.meets(func(_ context.Context, call Call, run func(Call) error) error {
		text, err := io.ReadAll(call.Stdin)
		require.NoError(t, err)
		late = func() error {
			return run(Call{Arguments: call.Arguments, Stdin: bytes.NewReader(text), Stdout: io.Discard, Stderr: io.Discard})
		}
		return errCut
	}, fails(errNoCode))
	_, err := p.service.SubmitAt(t.Context(), "login", "", []byte(waiting))
	require.ErrorIs(t, err, remote.ErrUnreachable)
	status, err := p.looks()
	require.NoError(t, err)
	require.Equal(t, coalloc.Failed, status.State)
	require.Equal(t, "its submission did not arrive at login: the connection was lost", status.Reason)
	require.Equal(t, coalloc.Failed, p.only().State)

	require.NoError(t, late(), "the process that was started for it")
	require.Equal(t, coalloc.Canceled, p.login.only().State, "it runs nothing any more")
	status, err = p.looks()
	require.NoError(t, err)
	require.Equal(t, coalloc.Failed, status.State)
}

func TestASubmissionThatCertainlyFailedLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	none := func() {
		t.Helper()
		for _, h := range []*host{p.host, p.login} {
			names, err := h.service.Names(t.Context(), true)
			require.NoError(t, err)
			require.Empty(t, names)
		}
	}
	_, err := p.service.SubmitAt(t.Context(), "login", "", []byte("[part.a]\nexecutable = \"x\"\n"))
	require.ErrorIs(t, err, coalloc.ErrInvalid)
	none()
	for _, failure := range []error{errRefused, errNoCode, fmt.Errorf("x: %w", remote.ErrCommandNotFound)} {
		p.meets(fails(failure))
		_, err = p.service.SubmitAt(t.Context(), "login", "", []byte(waiting))
		require.ErrorIs(t, err, failure)
		require.Equal(t, []string{"submit"}, p.commands)
		none()
	}
	_, err = p.service.SubmitAt(t.Context(), "login", "../x", []byte(waiting))
	require.ErrorIs(t, err, coalloc.ErrInvalid)
	none()
}

func TestASubmissionWithTheSameIDRunsOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	id := coalloc.NewID()
	for range 2 {
		submitted, err := p.service.SubmitAt(t.Context(), "login", id, []byte(waiting), "--commit")
		require.NoError(t, err)
		require.Equal(t, id, submitted)
	}
	require.Equal(t, id, p.login.only().ID)
	_, err := p.service.SubmitAt(t.Context(), "far", id, []byte(waiting))
	require.ErrorIs(t, err, coalloc.ErrRecorded)
}

func TestEditsWhoseAnswersAreLostAreMadeOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	id := p.submits()
	control, err := p.service.Open(t.Context(), id)
	require.NoError(t, err)
	labels := func() (labels []string) {
		status, err := p.looks()
		require.NoError(t, err)
		for _, part := range status.Parts {
			labels = append(labels, part.Label+" "+string(part.State))
		}
		return labels
	}
	const more = "[part.c]\ntarget = \"far\"\nexecutable = \"/bin/true\"\n"
	p.meets(isCutAfter)
	require.NoError(t, p.service.Edit(t.Context(), id, "", []byte(more)))
	require.Equal(t, []string{"a SUBMITTING", "b SUBMITTING", "c SUBMITTING"}, labels())
	require.ErrorIs(t, p.service.Edit(t.Context(), id, "", []byte(more)), coalloc.ErrDuplicateLabel, "another edit")
	p.meets(isCutAfter)
	require.NoError(t, p.service.Edit(t.Context(), id, "c", []byte(more)))
	require.Equal(t, []string{"a SUBMITTING", "b SUBMITTING", "c DELETED", "c SUBMITTING"}, labels())
	p.meets(isCutAfter)
	require.NoError(t, control.Delete(t.Context(), "b", "c"))
	require.Equal(t, []string{"a SUBMITTING", "b DELETED", "c DELETED", "c DELETED"}, labels())
	require.ErrorIs(t, control.Delete(t.Context(), "b"), coalloc.ErrUnknownPart)
	p.meets(isCutAfter)
	require.NoError(t, control.Commit(t.Context(), false))
	p.meets(fails(errCut), fails(errNoCode))
	err = control.Delete(t.Context(), "a")
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.ErrorContains(t, err, "it is not known whether it was done")
	p.meets(isCutAfter)
	require.NoError(t, control.Cancel(t.Context()))
	p.meets(fails(errRefused))
	require.ErrorIs(t, control.Cancel(t.Context()), error(errRefused))
	require.Equal(t, []string{"cancel"}, p.commands, "nothing was sent")
}

func TestACommitNowWhoseAnswerIsLostSaysHowItWent(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	control, err := p.service.Open(t.Context(), p.submits())
	require.NoError(t, err)
	p.meets(isCutAfter)
	require.ErrorIs(t, control.Commit(t.Context(), true), coalloc.ErrIncomplete)
}

// Targets, launch configurations and definitions of the other host count.
func TestTheOtherHostReadsTheRequestsOfItsEnsembles(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	id := p.submits()
	require.NoError(t, p.service.Edit(t.Context(), id, "", []byte(`&(resourceManagerContact=only-there)(executable=/bin/true)(label=there)`)))
	status, err := p.looks()
	require.NoError(t, err)
	require.Equal(t, "only-there", status.Parts[2].Target)
	err = p.service.Edit(t.Context(), id, "", []byte("[part.x]\nlaunch = \"unknown\"\n"))
	require.ErrorIs(t, err, coalloc.ErrInvalid)
	require.ErrorContains(t, err, "login: ")
}

func TestAHostThatCannotBeReachedLeavesTheLastKnownState(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.submits()
	before, err := p.looks()
	require.NoError(t, err)
	p.meets(fails(errRefused))
	status, err := p.looks()
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Contains(t, status.Reason, "last known state; connecting to login: connection refused")
	require.Equal(t, before.Parts, status.Parts)
	p.meets(fails(errRefused))
	listed, err := p.service.List(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, []coalloc.Status{status}, listed)
}

func TestTheEndOfAnEnsembleAtATargetIsOnRecordHere(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	_, err := p.service.SubmitAt(t.Context(), "login", "", []byte("[part.a]\ntarget = \"nowhere\"\nexecutable = \"/bin/true\"\n"))
	require.NoError(t, err)
	var status coalloc.Status
	require.Eventually(t, func() bool {
		status, err = p.looks()
		return err == nil && status.State == coalloc.Failed
	}, patience, patience/1000)
	p.meets(fails(errRefused))
	again, err := p.looks()
	require.NoError(t, err)
	require.Equal(t, status, again)
	require.Contains(t, again.Parts[0].Reason, "nowhere")
	require.Empty(t, p.commands)
}
