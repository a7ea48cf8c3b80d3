package ensembles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/daemon"
)

func TestEditsDuringATakeoverAreMadeOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	id, err := h.service.Submit(t.Context(), &coalloc.Request{Parts: []coalloc.Part{farPart("a")}}, false)
	require.NoError(t, err)
	for i := range 8 {
		label := fmt.Sprint("p", i)
		// No edit, the first or the second one is pending.
		replaced := make(chan struct{})
		time.AfterFunc(time.Duration(i)*2*time.Millisecond, func() {
			h.replaces(id)
			close(replaced)
		})
		control, err := h.service.Open(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, control.Add(t.Context(), farPart(label)))
		require.NoError(t, control.Substitute(t.Context(), label, farPart(label)))
		require.NoError(t, control.Delete(t.Context(), label))
		<-replaced
	}
	control, err := h.service.Open(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, control.Commit(t.Context(), false))
	h.replaces(id)
	require.NoError(t, control.Commit(t.Context(), false))
	status, err := control.Status(t.Context())
	require.NoError(t, err)
	require.True(t, status.Committed)
	require.Len(t, status.Parts, 1+8*2, "%+v", status.Parts)
	for _, p := range status.Parts[1:] {
		require.Equal(t, coalloc.PartDeleted, p.State)
	}
}

// farPart returns a part that waits.
func farPart(label string) coalloc.Part {
	part := aPart(label)
	part.Target = "far"
	return part
}

func TestAnEditWhoseAnswerIsLostIsSentToTheNextProcess(t *testing.T) {
	folder := shortFolder(t)
	before := &played{fails: coalloc.ErrNotRunning}
	leave, err := serve(t.Context(), folder, before, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	after := &played{fails: coalloc.ErrReleased}
	control := newLive(client{folder}, &played{status: coalloc.Status{State: coalloc.Waiting}})
	control.reopen = func(context.Context) error {
		require.NoError(t, leave())
		served(t, folder, after)
		return nil
	}
	part := aPart("a")
	part.Tag = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	require.ErrorIs(t, control.Add(t.Context(), part), coalloc.ErrReleased, "it was never made")
	require.Equal(t, []coalloc.Part{part}, after.parts, "with the same tag")
	require.Equal(t, before.parts, after.parts)
	for name, edit := range map[string]struct {
		status coalloc.Status
		fails  error
		edit   func(coalloc.Control) error
		err    error
	}{
		"add":          {status: coalloc.Status{Parts: []coalloc.PartStatus{{Tag: part.Tag}}}, fails: coalloc.ErrEnded, edit: func(c coalloc.Control) error { return c.Add(t.Context(), part) }},
		"delete":       {status: coalloc.Status{Parts: []coalloc.PartStatus{{Label: "a", State: coalloc.PartDeleted}}}, fails: coalloc.ErrUnknownPart, edit: func(c coalloc.Control) error { return c.Delete(t.Context(), "a") }},
		"not deleted":  {status: coalloc.Status{Parts: []coalloc.PartStatus{{Label: "a", State: coalloc.PartDeleted}, {Label: "a"}}}, fails: coalloc.ErrReleased, edit: func(c coalloc.Control) error { return c.Delete(t.Context(), "a") }, err: coalloc.ErrReleased},
		"commit":       {status: coalloc.Status{Released: time.Unix(1, 0)}, fails: coalloc.ErrReleased, edit: func(c coalloc.Control) error { return c.Commit(t.Context(), true) }},
		"commit --now": {status: coalloc.Status{State: coalloc.Ending, Committed: true, Reason: "not checked in: b"}, fails: coalloc.ErrEnded, edit: func(c coalloc.Control) error { return c.Commit(t.Context(), true) }, err: coalloc.ErrIncomplete},
		"cancel":       {status: coalloc.Status{State: coalloc.Canceled}, fails: coalloc.ErrEnded, edit: func(c coalloc.Control) error { return c.Cancel(t.Context()) }},
		"not canceled": {status: coalloc.Status{State: coalloc.Done}, fails: coalloc.ErrEnded, edit: func(c coalloc.Control) error { return c.Cancel(t.Context()) }, err: coalloc.ErrEnded},
	} {
		t.Run(name, func(t *testing.T) {
			folder := shortFolder(t)
			control := newLive(client{folder}, &played{status: coalloc.Status{State: coalloc.Waiting}})
			control.reopen = func(context.Context) error {
				next := played{status: edit.status}
				served(t, folder, answering{&next, edit.fails})
				return nil
			}
			require.ErrorIs(t, edit.edit(control), edit.err)
		})
	}
}

// answering is a Control whose edits fail, but not its status.
type answering struct {
	*played
	fails error
}

func (a answering) Add(context.Context, ...coalloc.Part) error { return a.fails }

func (a answering) Delete(context.Context, ...string) error { return a.fails }

func (a answering) Commit(context.Context, bool) error { return a.fails }

func (a answering) Cancel(context.Context) error { return a.fails }

func TestAProcessThatMakesRoomIsNoFailure(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	launch := h.service.Launch
	failures := []error{daemon.ErrLeaving, &daemon.GoneError{Err: errors.New("x")}, context.Canceled}
	h.service.Launch = func(ctx context.Context, id string) error {
		if len(failures) > 0 {
			err := failures[0]
			failures = failures[1:]
			return err
		}
		return launch(ctx, id)
	}
	_, err := h.service.Submit(t.Context(), &coalloc.Request{Parts: []coalloc.Part{farPart("a")}}, false)
	require.NoError(t, err)
	require.Empty(t, failures)
}

func TestEnsemblesMoveToTheProcessOfThisBuildOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	renewals := 0
	h.service.Renew = func(context.Context) error {
		renewals++
		return errors.New("no such process")
	}
	_, err := h.service.List(t.Context(), false)
	require.NoError(t, err)
	require.Zero(t, renewals, "there is no ensemble")
	id, err := h.service.Submit(t.Context(), &coalloc.Request{Parts: []coalloc.Part{farPart("a")}}, false)
	require.NoError(t, err)
	require.Equal(t, 1, renewals)
	_, err = h.service.List(t.Context(), false)
	require.NoError(t, err)
	_, err = h.service.Open(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, 1, renewals)
}
