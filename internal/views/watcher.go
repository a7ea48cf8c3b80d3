package views

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// ownPace is how often the watcher checks whether a query for jobs of this user is due;
// the definition's interval says how often the scheduler is queried.
const ownPace = 2 * time.Second

// A watcher keeps the model of a STARTED resource manager up to date.
type watcher struct {
	manager    *manager
	controller *control.Controller
	monitor    *monitor.Monitor
	source     source
	record     *record
	look       chan struct{}       // requests a look at own jobs now
	silent     map[model.Kind]bool // the kinds that the scheduler lists, and whether its newest answer failed
}

func newWatcher(m *manager, controller *control.Controller) *watcher {
	options := m.platform.options
	intervals := map[model.Kind]time.Duration{}
	for kind, listing := range listingOf {
		if list := controller.Definition.Command(listing); list != nil {
			intervals[kind] = max(list.Interval, m.Target.LeastInterval())
		}
	}
	listings := newSource(m.Target, controller, options.KeepListings, options.Now)
	for _, kind := range listings.further() {
		intervals[kind] = intervals[model.Job]
	}
	w := &watcher{manager: m, controller: controller, source: listings, look: make(chan struct{}, 1), silent: map[model.Kind]bool{}}
	w.record = &record{store: options.Store, target: m.Target.Name, now: options.Now, definition: controller.Definition, submitted: map[string][]model.Attribute{},
		source: listings, processes: map[string][]job.Process{}}
	for kind := range intervals {
		w.silent[kind] = false
	}
	w.monitor = monitor.New(monitor.Options{
		Model: m.platform.model, Manager: m.Target.Name, Machine: hostOf(m.Target), User: controller.Place.User,
		Record: w.record.read, Submission: w.record.submission, Describe: descriptions(controller.Definition),
		Rows: func(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
			outcome, err := listings.rows(ctx, kind, each)
			w.noteAnswer(ctx, kind, err)
			return outcome, err
		},
		JobChanges: func(ctx context.Context, ids []string, each func(id string, facts monitor.Facts) error) (monitor.Outcome, bool, error) {
			outcome, areKnown, err := listings.changes(ctx, ids, each)
			if areKnown {
				w.noteAnswer(ctx, model.Job, err)
			}
			return outcome, areKnown, err
		},
		Intervals: intervals, Due: listings.due,
		Location: controller.Location(), IsLost: isLost, Log: options.Log, Now: options.Now, After: options.After, Jitter: options.Jitter,
	})
	return w
}

// noteAnswer shows whether the scheduler answers its listings: it does not if the newest ones of
// all kinds failed, or if its agent says so.
func (w *watcher) noteAnswer(ctx context.Context, kind model.Kind, err error) {
	if _, isListed := w.silent[kind]; !isListed || ctx.Err() != nil || isLost(err) {
		return // what the start-up commands found, or no answer
	}
	if silence := w.source.silence(); err == nil && silence != nil {
		w.manager.answers(silence)
		return
	}
	w.silent[kind] = err != nil
	for _, isSilent := range w.silent {
		if err != nil && !isSilent {
			return
		}
	}
	w.manager.answers(err)
}

// isLost reports whether an error means that the connection is gone. That an earlier
// query had none, or one of another process, does not.
func isLost(err error) bool {
	var query *control.QueryError
	isEarlier := errors.As(err, &query) && query.Earlier
	return errors.Is(err, remote.ErrUnreachable) && !isEarlier
}

// run watches until the context ends or the connection is lost.
func (w *watcher) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.monitor.Run(ctx) })
	group.Go(func() error { return w.followOwn(ctx) })
	group.Go(func() error { return w.source.follow(ctx, w.lookSoon) })
	return group.Wait()
}

// followOwn queries the jobs on record that have not ended, as rmctl's commands
// do, so that their states have evidence and an end.
func (w *watcher) followOwn(ctx context.Context) error {
	options := w.manager.platform.options
	for {
		jobs, err := options.Store.List(ctx, jobstore.Filter{Target: w.manager.Target.Name})
		if err == nil && len(jobs) > 0 {
			_, err = w.controller.Update(ctx, jobs, false)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isLost(err):
			return err
		case err != nil:
			options.Log.Debug("asking for jobs", "target", w.manager.Target.Name, "error", err) // their records have it
		}
		select {
		case <-ctx.Done():
		case <-w.look:
		case <-options.After(ownPace):
		}
	}
}

// lookSoon requests a look now.
func (w *watcher) lookSoon() {
	w.monitor.Refresh()
	select {
	case w.look <- struct{}{}:
	default: // one is requested already
	}
}

// descriptions returns a function for [monitor.Options]: attributes of elements are described as
// those of submissions that have the same name.
func descriptions(d *config.Definition) func(id string) (name, description string) {
	return func(id string) (name, description string) {
		if id == agentStale {
			return "Stale at the Agent", "Why the agent's data is stale"
		}
		if known := d.Attribute(id); known != nil {
			return known.Label, strings.TrimSpace(known.Text(attribute.FieldDescription))
		}
		return "", ""
	}
}
