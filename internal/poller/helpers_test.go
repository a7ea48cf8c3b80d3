package poller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/tokenizer"
)

var (
	ownJobs = polls.PollKey{Kind: polls.OwnJobs, Key: "local by slurm"}
	allJobs = polls.PollKey{Kind: "list-jobs", Key: "local by slurm"}
)

// A world is a state folder that processes share, and a clock that moves where a
// test, a wait or a query moves it.
type world struct {
	folder string
	time   time.Time
	pauses int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{folder: t.TempDir(), time: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
}

// A process is one of those that query.
type process struct {
	*poller.Poller
	world    *world
	store    *jobstore.Store
	warnings []error
}

func (w *world) process(t *testing.T, name string) *process {
	t.Helper()
	store, err := jobstore.Open(t.Context(), w.folder)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	p := &process{world: w, store: store}
	p.Poller = &poller.Poller{
		Store: store.Polls(), Holder: name,
		IsGone: func(holder string) bool { return holder == "killed" },
		Now: func() time.Time {
			w.time = w.time.Add(time.Millisecond) // no two looks at the clock give the same
			return w.time
		},
		Pause: func(ctx context.Context, length time.Duration) error {
			w.pauses++
			w.time = w.time.Add(length)
			return ctx.Err()
		},
		Jitter: func() float64 { return 0 },
		Warn:   func(err error) { p.warnings = append(p.warnings, err) },
	}
	return p
}

// request queries a scheduler that takes some time for each query.
func (w *world) request(took time.Duration) poller.Request {
	return poller.Request{
		Key: ownJobs, Target: "slurm", Interval: time.Second,
		Query: func(_ context.Context, turn *poller.Turn) error {
			begun := w.time
			w.time = w.time.Add(took)
			turn.AddBusy(1, begun)
			turn.Answered = true
			return nil
		},
		FailureOf: func(err error) *poller.Failure { return &poller.Failure{Kind: polls.PollFailed, Text: err.Error()} },
	}
}

// polls lets a process poll, and reports whether that led to a query.
func (p *process) polls(t *testing.T, r poller.Request, wish poller.Wish) bool {
	t.Helper()
	outcome, err := p.Jobs(t.Context(), r, wish)
	require.NoError(t, err)
	return outcome.Made
}

// polled is how the last query for jobs went.
func (p *process) polled(t *testing.T) polls.Poll {
	t.Helper()
	poll, err := p.store.Polls().Poll(t.Context(), ownJobs)
	require.NoError(t, err)
	return poll
}

var errDown = errors.New("the controller is down")

// listing lists rows of about 100 bytes; those that another process listed go to
// received.
func (w *world) listing(count int, received *[]command.Row) poller.Listing {
	return poller.Listing{
		Request: poller.Request{
			Key: allJobs, Target: "slurm", Interval: 10 * time.Second,
			FailureOf: func(err error) *poller.Failure { return &poller.Failure{Kind: polls.PollFailed, Text: err.Error()} },
		},
		List: func(_ context.Context, share func(command.Row)) (command.Listed, error) {
			for i := range count {
				share(row(i))
			}
			return command.Listed{Rows: count}, nil
		},
		Receive: func(row command.Row) error {
			*received = append(*received, row)
			return nil
		},
	}
}

func row(number int) command.Row {
	return command.Row{
		ID: fmt.Sprint(number), Again: number%7 == 3,
		Facts: tokenizer.FactsOf(map[string]string{"name": fmt.Sprintf("a name of number %080d", number), "owner": "\xff\x00" + fmt.Sprint(number%5), "state": "RUNNING"}),
	}
}
