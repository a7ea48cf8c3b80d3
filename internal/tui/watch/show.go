package watch

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// Controls are what a user can do from the screen, and what is looked up for it.
// They are called in the background, several at the same time; those with a
// context end soon after that.
type Controls interface {
	Available() []string        // names of all targets, including those that are not shown
	Start(manager string) error // returns at once; the model shows the result
	Stop(manager string) error
	Refresh(manager string) error
	// Retry returns when a target in ERROR is tried again by itself; the zero
	// time if it is not.
	Retry(manager string) time.Time
	Operate(ctx context.Context, manager, job string, operation control.Operation) error
	// History yields the recorded events of a job, oldest first. The error matches
	// jobstore.ErrNotFound if nothing is on record.
	History(ctx context.Context, manager, job string, each func(job.Event) error) error
	// Follow copies the end of a job's output to w, and what comes until the job has
	// ended. If bytes before that are left out, it first calls skipped with their number.
	Follow(ctx context.Context, manager, job string, stderr bool, skipped func(bytes int64), w io.Writer) error
	// LaunchConfigurations returns the names of what the user keeps to submit again.
	LaunchConfigurations() ([]string, error)
	// Ensembles returns the ensembles that have not ended. With an error it returns those that are known.
	Ensembles(ctx context.Context) ([]coalloc.Status, error)
	// Submit has a job filled in at the terminal, which is its own meanwhile, and
	// returns what there is to say of it. It begins with the values of a launch
	// configuration, unless that is empty.
	Submit(ctx context.Context, manager, configuration string, stdin io.Reader, terminal io.Writer) (string, error)
}

// Options are what a screen is made of.
type Options struct {
	Model    *model.Model
	Controls Controls
	User     string        // of this machine: whose jobs are one's own
	Prompter *tui.Prompter // whose questions are asked
	Notices  *tui.Notices  // that are shown; may be nil
	Stdin    io.Reader
	Terminal io.Writer
}

// How often the screen looks for changes, and the unit of ages.
const (
	changePace = 250 * time.Millisecond
	agePace    = 5 * time.Second
)

// Show shows the screen until the user leaves it, which is no error, or ctx ends,
// whose error it returns then; it waits for all that it began.
func Show(ctx context.Context, o Options) error {
	var d *display
	begin := func(ctx context.Context, work tui.Work) tea.Model {
		d = newDisplay(ctx, o, time.Now)
		d.background = work
		return d
	}
	pulse := func(ctx context.Context, send func(tea.Msg)) { d.pulse(ctx, send) }
	ask := func(ctx context.Context, send func(tea.Msg)) {
		o.Prompter.Serve(ctx, send)
		o.Prompter.Leave()
	}
	return tui.Show(ctx, o.Stdin, o.Terminal, begin, pulse, ask)
}

// A pulseMsg brings what has changed since the last one.
type pulseMsg struct {
	snapshot *model.Snapshot
	now      time.Time
	retries  map[string]time.Time
	notices  []string
}

// pulse sends changes until the context ends. Changes in close succession go out
// together.
func (d *display) pulse(ctx context.Context, send func(tea.Msg)) {
	pace := time.NewTicker(changePace)
	defer pace.Stop()
	var shown *model.Snapshot
	var sent time.Time
	for {
		m := pulseMsg{snapshot: d.model.Snapshot(), now: d.now()}
		if d.notices != nil {
			m.notices = d.notices.Take()
		}
		m.retries = d.retriesOf(m.snapshot)
		isStirred := d.stirred.Swap(false)
		if shown == nil || m.snapshot.Revision() != shown.Revision() || len(m.notices) > 0 || isStirred || m.now.Sub(sent) >= agePace {
			shown, sent = m.snapshot, m.now
			send(m)
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

// retriesOf returns when targets in ERROR are tried again.
func (d *display) retriesOf(snapshot *model.Snapshot) map[string]time.Time {
	retries := map[string]time.Time{}
	for manager := range snapshot.Managers() {
		if element := manager.Element(); element.State() == vocabulary.StateError {
			retries[element.ID()] = d.controls.Retry(element.ID())
		}
	}
	return retries
}
