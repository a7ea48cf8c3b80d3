package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/job"
)

// A Debugged is a job whose ranks are debugged. Its methods may be called concurrently.
type Debugged struct {
	Session *debug.Session
	Log     <-chan string // lines about the job

	target        Target
	directory     string      // of the relay, on the target
	only          debug.Ranks // that are debugged; nil for all
	steps         *steps
	log           chan string
	ctx           context.Context
	cancel        context.CancelFunc
	tasks         sync.WaitGroup
	attached      bool          // debuggers attach to ranks that run already
	launched      bool          // the job is one of this session
	isInteractive bool          // the job ends with this session
	pass          string        // path of the file to remove at the end; empty for none
	ended         chan struct{} // closed when the job has ended, or was not submitted, or the connection was lost

	mutex    sync.Mutex
	relay    relay         // nil until there is one
	joined   chan struct{} // closed when another rank joins
	job      job.Job
	err      error
	hasEnded bool
}

// A relay connects ranks to rmctl.
type relay interface {
	AcceptStream(ctx context.Context) (net.Conn, error)
	Close() error
}

// quietTime is how long no further rank may connect until a program whose size no rank knows counts as complete.
const quietTime = 3 * time.Second

// mostLog bounds the lines about the job that nobody has read.
const mostLog = 100

func newDebugged(ctx context.Context, target Target, steps *steps) *Debugged {
	log := make(chan string, mostLog)
	d := &Debugged{Session: &debug.Session{}, Log: log, log: log, target: target, steps: steps, joined: make(chan struct{}), ended: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(ctx)
	return d
}

// gather joins the ranks that connect.
func (d *Debugged) gather(relay relay) {
	d.mutex.Lock()
	d.relay = relay
	d.mutex.Unlock()
	d.tasks.Go(func() {
		err := Gather(d.ctx, d.Session, relay.AcceptStream, func() {
			d.mutex.Lock()
			defer d.mutex.Unlock()
			close(d.joined)
			d.joined = make(chan struct{})
		})
		if d.ctx.Err() == nil {
			d.end(fmt.Errorf("the connection to the nodes was lost: %w", err))
		}
	})
}

// run submits the job, calls a function once it runs, and waits for its end.
func (d *Debugged) run(submission job.Submission, runs func(ctx context.Context, j job.Job)) {
	ctx, cancel := context.WithCancel(d.ctx)
	var begun sync.WaitGroup
	defer begun.Wait()
	defer cancel()
	var once sync.Once
	changed := func(j job.Job) {
		d.set(j)
		if j.Detail.Primary() == job.Running {
			once.Do(func() {
				d.steps.done("the job runs")
				begun.Go(func() { runs(ctx, j) })
			})
		}
	}
	controller := d.target.Controller
	var j job.Job
	var err error
	if d.isInteractive {
		j, err = controller.RunInteractive(d.ctx, submission, control.Terminal{Stdout: d.target.Output, Stderr: d.target.Output, Changed: changed})
	} else if j, err = controller.Submit(d.ctx, submission); err == nil {
		d.steps.done("submitted the job")
		changed(j)
		j, err = controller.Wait(d.ctx, j, "", changed)
	}
	d.set(j)
	d.end(err)
}

// launchRelays starts relays on the nodes of the job unless its ranks reach the target without.
func (d *Debugged) launchRelays(ctx context.Context, top *onnodes.Top, tag string) {
	limited, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	if d.Ready(limited) == nil || ctx.Err() != nil {
		return
	}
	ctx, cancelLaunch := context.WithTimeout(ctx, relayLimit)
	defer cancelLaunch()
	reachable, err := d.target.Reach(ctx, tag)
	var problems map[string]string
	if err == nil {
		problems, err = top.LaunchFor(ctx, reachable)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		d.target.Log.Warn("cannot start relays on the nodes of the job; its ranks may not reach rmctl", "error", err)
	}
	for node, problem := range problems {
		d.target.Log.Warn("cannot start a relay on a node", "node", node, "error", problem)
	}
}

// Ready waits until all ranks that are debugged have joined. An error says why that will not happen.
func (d *Debugged) Ready(ctx context.Context) error {
	for {
		d.mutex.Lock()
		joined, attached := d.joined, d.attached
		d.mutex.Unlock()
		if d.isComplete() {
			d.steps.done("all ranks have connected")
			return nil
		}
		var quiet <-chan time.Time
		if !attached && d.Size() == 0 && len(d.Session.Ranks()) > 0 {
			quiet = time.After(quietTime)
		}
		select {
		case <-joined:
		case <-quiet:
			d.steps.done("no further rank has connected")
			return nil
		case <-d.ended:
			return d.whyEnded()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// whyEnded returns why no further rank will join.
func (d *Debugged) whyEnded() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.err != nil {
		return d.err
	}
	text := fmt.Sprintf("the job ended before its ranks connected (%s)", d.job.Detail.Word())
	if d.job.Reason != "" {
		text += ": " + d.job.Reason
	}
	return errors.New(text)
}

// isComplete reports whether all ranks that are debugged have joined.
func (d *Debugged) isComplete() bool {
	d.mutex.Lock()
	attached, only := d.attached, d.only
	d.mutex.Unlock()
	all := d.Session.Ranks()
	if attached { // the ranks that have a debugger are known
		return only != nil && len(only.Without(all)) == 0
	}
	size := d.Size()
	if size == 0 {
		return false
	}
	expected := ranges.Set{{First: 0, Last: size - 1}}
	if only != nil {
		expected = expected.Without(expected.Without(only))
	}
	return len(expected.Without(all)) == 0
}

// Size returns how many ranks the program has, 0 if that is not known yet.
func (d *Debugged) Size() int {
	all := d.Session.Ranks()
	if len(all) == 0 {
		return 0
	}
	hello, _ := d.Session.Hello(all[0].First)
	return hello.Size
}

// set updates the known state of the job.
func (d *Debugged) set(j job.Job) {
	if j.Tag == "" {
		return
	}
	d.mutex.Lock()
	isNew := d.job.ID != j.ID || d.job.Detail != j.Detail
	d.job = j
	d.mutex.Unlock()
	if isNew {
		d.say(fmt.Sprintf("job %s: %s", j.ID, j.Detail.Word()))
	}
}

// say passes on a line about the job. It is left out if nobody reads.
func (d *Debugged) say(line string) {
	select {
	case d.log <- line:
	default:
	}
}

// end notes the end of the job, or why rmctl sees no more of it. The first one counts.
func (d *Debugged) end(err error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.hasEnded {
		d.hasEnded, d.err = true, err
		close(d.ended)
	}
}

// Wait waits for the end of a job that was launched, and returns it.
func (d *Debugged) Wait(ctx context.Context) (job.Job, error) {
	select {
	case <-d.ended:
	case <-ctx.Done():
		return job.Job{}, context.Cause(ctx)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.job, d.err
}

// Job returns the known state of the job.
func (d *Debugged) Job() job.Job {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.job
}

// Kill ends all ranks and the job, and waits for the end.
func (d *Debugged) Kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	d.Session.Ask(ctx, debug.Question{Ranks: d.Session.Ranks(debug.Ready, debug.Running, debug.Stopped), Request: debug.Request{Verb: debug.Kill}})
	if !d.launched {
		return nil
	}
	// Ranks that never connected end with the job.
	j := d.Job()
	var err error
	if j.ID != "" && !j.Detail.Ended() && d.target.Controller.Supports(control.Cancel) {
		err = d.target.Controller.Operate(ctx, control.Cancel, j)
		if _, hasEnded := errors.AsType[*control.EndedError](err); hasEnded {
			err = nil
		}
	}
	if err == nil {
		_, err = d.Wait(ctx)
	}
	return err
}

// Detach lets all ranks run on without debuggers. An interactive job would end with this session, so Detach waits for the
// end of such a job.
func (d *Debugged) Detach(ctx context.Context) error {
	if err := d.release(ctx); err != nil || !d.launched || !d.isInteractive {
		return err
	}
	d.say("the program runs on; rmctl waits for its end, because it is attached to this terminal")
	_, err := d.Wait(ctx)
	return err
}

func (d *Debugged) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	var problems []string
	for _, part := range d.Session.Ask(ctx, debug.Question{Ranks: d.Session.Ranks(debug.Ready, debug.Running, debug.Stopped), Request: debug.Request{Verb: debug.Detach}}) {
		if part.Problem != "" {
			problems = append(problems, fmt.Sprintf("%s: %s", part.Ranks, part.Text))
		}
	}
	if len(problems) > 0 {
		return errors.New("detaching from ranks " + strings.Join(problems[:min(len(problems), mostProblems)], "; "))
	}
	return nil
}

// Done returns a channel that is closed once the job of this session has ended, or rmctl sees no more of it.
func (d *Debugged) Done() <-chan struct{} { return d.ended }

// Report passes on lines about the job until the session is closed, and returns once all ranks have joined. An error says
// why that will not happen.
func (d *Debugged) Report(ctx context.Context, report func(line string)) error {
	d.tasks.Go(func() {
		for {
			select {
			case line := <-d.log:
				report(line)
			case <-d.ctx.Done():
				return
			}
		}
	})
	return d.Ready(ctx)
}

// Leave ends the job, or lets its ranks run on without debuggers, and closes the session.
func (d *Debugged) Leave(ctx context.Context, kills bool) error {
	var err error
	if kills {
		err = d.Kill(ctx)
	} else {
		err = d.Detach(ctx)
	}
	return errors.Join(err, d.Close())
}

// mostProblems bounds how many problems one message names.
const mostProblems = 5

// Close ends the session. Ranks that still have a debugger are released or ended, as the request says; an interactive job
// that runs ends.
func (d *Debugged) Close() error {
	d.mutex.Lock()
	relay := d.relay
	d.mutex.Unlock()
	var closed error
	if relay != nil {
		closed = relay.Close()
	}
	d.cancel()
	d.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), endLimit)
	defer cancel()
	switch {
	case d.pass != "":
		err := d.target.Controller.Connection.Remove(ctx, d.pass)
		if errors.Is(err, fs.ErrNotExist) { // it went with the directory of a job that has ended
			err = nil
		}
		return errors.Join(closed, err)
	case d.directory != "":
		return errors.Join(closed, d.target.Nodes.RemoveJobs(ctx, []string{d.directory}))
	}
	return closed
}
