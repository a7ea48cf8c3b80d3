// Package agent is the agent's side of the proxy protocol: it shows one resource manager of a
// model to one client and executes the client's commands. DESIGN.md describes how.
package agent

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// A Scheduler carries out commands. Its methods are called concurrently.
type Scheduler interface {
	// Definition returns the definition by which jobs are submitted. It waits until jobs
	// can be submitted.
	Definition(ctx context.Context) (*config.Definition, error)
	// Submit submits a job. If an earlier submission has the same tag, it returns the outcome of that
	// one.
	Submit(ctx context.Context, s job.Submission) (job.Job, error)
	// Debug submits a job, as Submit does, that runs servers of the Eclipse PTP debugger instead of the
	// program, and starts the debugger's master, which connects to the client.
	Debug(ctx context.Context, s job.Submission, arguments []string) (job.Job, error)
	// Operate performs an operation on the job with an id.
	Operate(ctx context.Context, id string, operation Operation) error
	// Move moves a job to another queue.
	Move(ctx context.Context, id, queue string) error
	// Printed reads the output of an ended job, at most so many bytes at the end of each stream.
	Printed(ctx context.Context, id string, most int64) (Printed, error)
}

// An Operation is an operation on a job: cancel, hold, release, suspend or resume.
type Operation string

// A Record provides the events of recorded jobs.
type Record interface {
	// Reflected returns the number of the newest event that the model reflects for certain.
	Reflected() int64
	// EachTouched calls do with the tags of jobs that have events after a given one.
	EachTouched(ctx context.Context, after int64, do func(tag string)) (last int64, err error)
}

// Options configure an agent.
type Options struct {
	Model     *model.Model
	Manager   string // id of the resource manager in the model
	Scheduler Scheduler
	Record    Record // if nil, returning clients get everything

	// Old is set for clients of version 2.x of the Eclipse PTP, which know the states that
	// the model has; later ones know fewer.
	Old bool
	// Close ends the connection, so that reads and writes under way return. It may be
	// called again.
	Close func() error
	Trace func(proxy.Line) error // gets each message; may be nil
	Log   *slog.Logger           // nil to log nothing
}

// Limits of a session.
const (
	quitLimit     = 900 * time.Millisecond // from QUIT or a disconnect until the connection is closed
	announceLimit = 10 * time.Second       // how long OK waits for a submitted job to appear in the model
	mostWorkers   = 8                      // concurrent commands of the scheduler
	mostUnread    = 5                      // unreadable frames before the session ends
)

// Serve serves the client of a connection until the client quits or disconnects, which is not an error,
// or ctx is done, which it reports to the client. It finishes pending submissions first, even if the
// client is gone.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := newSession(ctx, o)
	defer context.AfterFunc(ctx, func() {
		s.close()
		s.pass(s.shutDown)
	})()
	go s.read(r)
	s.work.Go(s.watch)
	written := make(chan struct{})
	go s.write(w, written)
	err := s.run()
	close(s.outgoing)
	select {
	case <-written:
	case <-s.expired:
		err = cmp.Or(err, errSlow)
	case <-s.life.Done():
	}
	s.end(err)
	closeErr := o.Close()
	s.work.Wait()
	if err == nil && closeErr != nil {
		o.Log.Debug("closing the connection", "error", closeErr)
	}
	return cmp.Or(context.Cause(ctx), err)
}
