package ensembles

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/remote"
)

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
	starting := &remote.StartError{Program: "rmctl", Err: errCut}
	for name, cut := range map[string]journey{"before": fails(errCut), "starting": fails(starting), "meanwhile": half, "after": isCutAfter} {
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
	require.ErrorContains(t, err, "rmctl does not know whether rmctl at login runs ensemble "+p.only().ID)
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
	require.ErrorContains(t, err, "rmctl does not know whether the command was done")
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

func TestAnEnsembleThatTheOtherHostHasForgottenCanBeCanceled(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	id := p.submits()
	p.login = newHost(t)
	status, err := p.looks()
	require.ErrorIs(t, err, coalloc.ErrUnknownEnsemble)
	require.Contains(t, status.Reason, "last known state; login: unknown ensemble")
	control, err := p.service.Open(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, control.Cancel(t.Context()))
	status, err = p.looks()
	require.NoError(t, err)
	require.Equal(t, coalloc.Canceled, status.State)
	require.Equal(t, "rmctl at login no longer has it on record", status.Reason)
	require.NotZero(t, status.Ended)
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

// A breaking connection is lost when a command starts.
type breaking struct {
	remote.Connection
	closed *int
}

func (breaking) Start(context.Context, remote.Command) (remote.Handle, error) { return nil, errCut }

func (b breaking) Close() error {
	*b.closed++
	return nil
}

// keeping is a Connector with one connection.
type keeping struct {
	Connector
	connection remote.Connection
	uses       int
}

func (k *keeping) Connection(context.Context, rmctl.Target) (remote.Connection, error) {
	k.uses++
	return k.connection, nil
}

func TestALostConnectionIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	closed, made := 0, 0
	kept := &keeping{Connector: newHost(t).service.Client.(Connector), connection: breaking{closed: &closed}}
	caller := &Caller{Kept: kept, Connect: func(context.Context, rmctl.Target) (remote.Connection, error) {
		made++
		return breaking{closed: &closed}, nil
	}}
	for range 3 {
		require.ErrorIs(t, caller.Run(t.Context(), "login", Call{}), remote.ErrUnreachable)
	}
	require.Equal(t, 1, kept.uses)
	require.Equal(t, 2, made)
	require.Equal(t, 2, closed, "the kept one belongs to others")
}
