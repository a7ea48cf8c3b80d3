package ensembles

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rmctl/rmctl/coalloc"
)

// live is an ensemble that another process runs, or the record of it once that process has ended.
type live struct {
	client
	onRecord coalloc.Control
	reopen   func(ctx context.Context) error // starts a process that runs it; may be nil
}

// statusPatience is how long a process that runs an ensemble may take to show it.
const statusPatience = 2 * time.Second

// Status implements [coalloc.Control]. If the process does not answer in time, it returns what is on record.
func (l *live) Status(ctx context.Context) (coalloc.Status, error) {
	asking, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	status, err := l.client.Status(asking)
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

// Add implements [coalloc.Control].
func (l *live) Add(ctx context.Context, parts ...coalloc.Part) error {
	return l.edited(ctx, l.client.Add(ctx, parts...))
}

// Delete implements [coalloc.Control].
func (l *live) Delete(ctx context.Context, labels ...string) error {
	return l.edited(ctx, l.client.Delete(ctx, labels...))
}

// Substitute implements [coalloc.Control].
func (l *live) Substitute(ctx context.Context, label string, part coalloc.Part) error {
	return l.edited(ctx, l.client.Substitute(ctx, label, part))
}

// Commit implements [coalloc.Control].
func (l *live) Commit(ctx context.Context, now bool) error {
	return l.edited(ctx, l.client.Commit(ctx, now))
}

// Cancel implements [coalloc.Control].
func (l *live) Cancel(ctx context.Context) error {
	return l.edited(ctx, l.client.Cancel(ctx))
}

// edited returns the error of an edit. If no process runs the ensemble because it has ended, it is ErrEnded.
func (l *live) edited(ctx context.Context, err error) error {
	if !errors.Is(err, coalloc.ErrNotRunning) {
		return err
	}
	if status, recordErr := l.onRecord.Status(ctx); recordErr == nil && status.State.Ended() {
		return coalloc.ErrEnded
	}
	return err
}

// Events implements [coalloc.Control]. If the process ends, events go on with the next one, or with the record.
func (l *live) Events(ctx context.Context, after int, observe func(coalloc.EnsembleEvent) error) error {
	counted := func(event coalloc.EnsembleEvent) error {
		err := observe(event)
		after = max(after, event.Sequence)
		return err
	}
	for {
		err := l.client.Events(ctx, after, counted)
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
