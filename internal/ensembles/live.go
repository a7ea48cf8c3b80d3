package ensembles

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/coalloc"
)

// mostTakeovers bounds how often an edit is sent again to the next process that runs the ensemble.
const mostTakeovers = 5

// live is an ensemble that another process runs, or its record once that process has ended.
type live struct {
	repeated
	process  client
	onRecord coalloc.Control
	reopen   func(ctx context.Context) error // starts a process that runs it; may be nil
}

func newLive(process client, onRecord coalloc.Control) *live {
	l := &live{process: process, onRecord: onRecord}
	l.repeated = repeated{
		once: process, isLost: func(err error) bool { return errors.Is(err, coalloc.ErrNotRunning) }, restore: l.restore, status: l.Status,
	}
	return l
}

// restore starts the next process that runs the ensemble.
func (l *live) restore(ctx context.Context, attempt int, lost error) error {
	status, err := l.onRecord.Status(ctx)
	switch {
	case err == nil && status.State.Ended():
		return coalloc.ErrEnded
	case l.reopen == nil || attempt > mostTakeovers:
		return lost
	}
	return l.reopen(ctx)
}

// Add implements [coalloc.Control].
func (l *live) Add(ctx context.Context, parts ...coalloc.Part) error {
	parts = tagged(parts, uuid.NewString())
	return l.attempt(ctx, func() error { return l.process.Add(ctx, parts...) }, hasTags(parts))
}

// Substitute implements [coalloc.Control].
func (l *live) Substitute(ctx context.Context, label string, part coalloc.Part) error {
	parts := tagged([]coalloc.Part{part}, uuid.NewString())
	return l.attempt(ctx, func() error { return l.process.Substitute(ctx, label, parts[0]) }, hasTags(parts))
}

// statusPatience is how long a process that runs an ensemble may take to show it.
const statusPatience = 2 * time.Second

// Status implements [coalloc.Control]. If the process does not answer in time, it returns what is on record.
func (l *live) Status(ctx context.Context) (coalloc.Status, error) {
	asking, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	status, err := l.process.Status(asking)
	isLate := err != nil && asking.Err() != nil && ctx.Err() == nil
	if !isLate && !errors.Is(err, coalloc.ErrNotRunning) {
		return status, err
	}
	status, err = l.onRecord.Status(ctx)
	if isLate {
		status.Reason = strings.TrimSuffix("last known state; the process that runs the ensemble does not answer; "+status.Reason, "; ")
	}
	return status, err
}

// Events implements [coalloc.Control]. If the process ends, events continue from the next one, or from the
// record.
func (l *live) Events(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) error {
	counted := func(event coalloc.EnsembleEvent) error {
		err := observe(event)
		after = max(after, event.Sequence)
		return err
	}
	for {
		err := l.process.Events(ctx, after, counted)
		if !errors.Is(err, coalloc.ErrNotRunning) {
			return err
		}
		status, err := l.onRecord.Status(ctx)
		if err != nil {
			return err
		}
		if l.reopen == nil || status.State.Ended() {
			return l.onRecord.Events(ctx, after, counted)
		}
		if err := l.reopen(ctx); err != nil {
			return err
		}
	}
}
