package track

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/jobdirectory"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/job"
)

const (
	// outputEvery is the interval for recording new output of the program.
	outputEvery = 5 * time.Second
	// endPatience is how long the end of the program waits for a hanging file system.
	endPatience = 20 * time.Second
)

// A recorder records the program's state in the directory of the job. It reports its first problem as one
// line on standard error.
type recorder struct {
	options Options
	program *program // nil if it did not start
	tracker *jobdirectory.Tracker

	member  jobdirectory.Member // owned by the recording goroutine once it has started
	printed int64               // bytes at the last check

	ending     chan syscall.WaitStatus
	done       chan struct{}
	running    chan struct{} // closed once the program has ended
	companion  sync.WaitGroup
	complained sync.Once
}

func newRecorder(o Options, identity rank.Identity, problem error, p *program) *recorder {
	now := time.Now()
	r := &recorder{options: o, program: p, ending: make(chan syscall.WaitStatus, 1), done: make(chan struct{}), running: make(chan struct{})}
	r.member = jobdirectory.Member{
		Process:   job.Process{Rank: identity.Rank, Node: o.Node, State: jobdirectory.StateRunning},
		Namespace: identity.Namespace, Variable: identity.Variable, Wrapper: os.Getpid(), Begun: now, Changed: now,
	}
	if problem != nil {
		r.member.Problem = problem.Error()
		r.complain(problem)
	}
	if p != nil {
		r.member.PID = p.process.Pid
		r.member.Start, _ = rank.StartOf(p.process.Pid)
	}
	return r
}

// complain writes the first problem to standard error and ignores others.
func (r *recorder) complain(err error) {
	r.complained.Do(func() {
		fmt.Fprintf(os.Stderr, "rmctl-node: %s\n", strings.ReplaceAll(fmt.Sprintf("%.500s", err), "\n", " "))
	})
}

// open opens the directories of the job.
func (r *recorder) open() error {
	private := ""
	if r.options.Private != nil {
		private, _ = r.options.Private() // otherwise use the directory of the job
	}
	tracker, err := jobdirectory.NewTracker(r.options.Job, private, r.options.Node)
	if err != nil {
		return fmt.Errorf("the program is not tracked: %w", err)
	}
	r.tracker = tracker
	return nil
}

// begin records the program in the background.
func (r *recorder) begin() {
	if r.options.While != nil {
		member := r.member
		r.companion.Go(func() { r.options.While(r.running, member) })
	}
	go func() {
		defer close(r.done)
		if err := r.open(); err != nil {
			r.complain(err)
			return
		}
		r.findDuplicate()
		r.publish(r.tracker.Publish)
		every := time.NewTicker(outputEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				if r.hasPrinted() {
					r.publish(r.tracker.PublishSometimes)
				}
			case status := <-r.ending:
				r.setEnd(status)
				r.publish(r.tracker.Publish)
				return
			}
		}
	}()
}

// publish stores the member and writes it to the directory of the job.
func (r *recorder) publish(publish func(*jobdirectory.Member) error) {
	r.member.Changed = time.Now()
	err := r.tracker.Note(&r.member)
	if err == nil {
		err = publish(&r.member)
	}
	if err != nil {
		r.complain(fmt.Errorf("the program is not tracked: %w", err))
	}
}

// hasPrinted reports whether the program has printed output since the last call.
func (r *recorder) hasPrinted() bool {
	output, outputBytes := r.program.output.kept.end()
	errors, errorBytes := r.program.errors.kept.end()
	r.member.Output, r.member.ErrorOutput = output, errors
	total := outputBytes + errorBytes
	hasPrinted := total != r.printed
	r.printed = total
	return hasPrinted
}

// findDuplicate records that another live process of this node has the same rank.
func (r *recorder) findDuplicate() {
	others, err := r.tracker.Local()
	if err != nil {
		return // publishing fails, too
	}
	for _, other := range others {
		isLive := other.State == jobdirectory.StateRunning && syscall.Kill(other.Wrapper, 0) == nil && other.Wrapper != r.member.Wrapper
		if isLive && r.member.Variable != "" && other.Identity() == r.member.Identity() {
			r.member.Problem = cmp.Or(r.member.Problem, jobdirectory.Duplicate(&other, &r.member))
			r.complain(fmt.Errorf("%s", r.member.Problem))
			return
		}
	}
}

func (r *recorder) setEnd(status syscall.WaitStatus) {
	r.hasPrinted()
	if status.Signaled() {
		number := int(status.Signal())
		r.member.State, r.member.Signal = jobdirectory.StateSignalled, &number
		return
	}
	code := status.ExitStatus()
	r.member.State, r.member.ExitCode = jobdirectory.StateExited, &code
}

// end records the end of the program and returns once rmctl can read it.
func (r *recorder) end(status syscall.WaitStatus) {
	close(r.running)
	r.ending <- status
	if !execution.ClosesWithin(r.done, endPatience) {
		r.complain(fmt.Errorf("the end of the program is not tracked: %s does not answer", r.options.Job))
	}
	r.companion.Wait()
}

// failed records that the program did not start.
func (r *recorder) failed(err error) {
	r.member.State, r.member.Problem = jobdirectory.StateError, err.Error()
	if err := r.open(); err != nil {
		return // the error above is more useful
	}
	r.publish(r.tracker.Publish)
}
