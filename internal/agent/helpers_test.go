package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

const manager = "cluster"

// definition is by which the fake scheduler submits.
const definition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="cluster">
  <control-data>
    <attribute name="partition" type="string"><description>Partition of the job</description></attribute>
    <attribute name="count" type="integer" min="1" max="64"><description>Number of nodes</description></attribute>
    <attribute name="class" type="choice"><choice>batch,debug</choice><default>batch</default></attribute>
    <attribute name="whole" type="boolean"/>
    <attribute name="hidden" visible="false"/>
    <submit-batch name="submit"><arg>submit</arg></submit-batch>
    <x:portable name="queue" attribute="partition"/>
    <x:portable name="nodes" attribute="count"/>
  </control-data>
</resource-manager-builder>`

// A scheduler is a fake one.
type scheduler struct {
	mu        sync.Mutex
	submitted []job.Submission
	debugged  [][]string // arguments of debuggers
	canDebug  bool       // the definition has a command for that
	done      []string   // operations
	refuses   error
	hold      chan struct{} // submissions wait for it, if it is not nil
	accept    func(job.Submission) job.Job
	printed   agent.Printed
	reads     chan struct{} // output is read once it has a value, if it is not nil
}

func (f *scheduler) Definition(context.Context) (*config.Definition, error) {
	text := definition
	if f.canDebug {
		text = strings.Replace(text, "<x:portable", `<submit-batch-debug name="debug"><arg>debug</arg></submit-batch-debug><x:portable`, 1)
	}
	return config.Read("cluster.xml", []byte(text), nil)
}

func (f *scheduler) Debug(ctx context.Context, s job.Submission, arguments []string) (job.Job, error) {
	f.mu.Lock()
	f.debugged = append(f.debugged, arguments)
	f.mu.Unlock()
	return f.Submit(ctx, s)
}

func (f *scheduler) Submit(_ context.Context, s job.Submission) (job.Job, error) {
	if f.hold != nil {
		<-f.hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.submitted = append(f.submitted, s)
	if f.refuses != nil {
		return job.Job{}, f.refuses
	}
	return f.accept(s), nil
}

func (f *scheduler) Operate(_ context.Context, id string, operation agent.Operation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, fmt.Sprint(operation, " ", id))
	return f.refuses
}

func (f *scheduler) Move(_ context.Context, id, queue string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, fmt.Sprintf("move %s %s", id, queue))
	return f.refuses
}

func (f *scheduler) Printed(_ context.Context, id string, _ int64) (agent.Printed, error) {
	if f.reads != nil {
		<-f.reads
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, "printed "+id)
	return f.printed, f.refuses
}

// A client is the other end of a session.
type client struct {
	t         *testing.T
	life      context.Context // of the agent
	model     *model.Model
	scheduler *scheduler
	options   agent.Options
	to        *io.PipeWriter
	from      *io.PipeReader
	updates   []string // that came
	raw       []proxy.Update
	mu        sync.Mutex
	ended     chan error
	next      uint32
	stalled   chan struct{} // while the client does not read
}

// stall has the client read one more update, and then nothing until goOn.
func (c *client) stall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalled = make(chan struct{})
}

func (c *client) goOn() { close(c.stalled) }

// dial starts an agent over a model with one resource manager. It must be called in a bubble.
func dial(t *testing.T, change func(*agent.Options)) *client {
	c := &client{t: t, life: t.Context(), model: model.New(), scheduler: &scheduler{}, ended: make(chan error, 1)}
	c.options = agent.Options{Model: c.model, Manager: manager, Scheduler: c.scheduler}
	c.put(model.ResourceManager, "", manager, "rmState", "STARTING")
	c.put(model.ResourceManager, "", manager, "rmState", "STARTED")
	c.scheduler.accept = func(s job.Submission) job.Job {
		c.define("jobTag")
		c.put(model.Job, "batch", "42", "jobState", "PENDING", "jobTag", s.Tag)
		return job.Job{ID: "42", Tag: s.Tag}
	}
	if change != nil {
		change(&c.options)
	}
	c.connect()
	return c
}

// connect begins a session.
func (c *client) connect() {
	var commands *io.PipeReader
	var answers *io.PipeWriter
	commands, c.to = io.Pipe()
	c.from, answers = io.Pipe()
	c.options.Close = func() error { return errors.Join(commands.Close(), answers.Close()) }
	ended := make(chan error, 1)
	c.ended = ended
	go func() { ended <- agent.Serve(c.life, commands, answers, c.options) }()
	from := proxy.NewReader(c.from)
	go func() {
		for {
			frame, err := from.Read()
			if err != nil {
				c.note("(closed)", proxy.Update{})
				return
			}
			update, err := proxy.ParseUpdate(frame)
			if err != nil {
				panic(err)
			}
			c.note(describe(update), update)
		}
	}()
}

func (c *client) note(text string, update proxy.Update) {
	c.mu.Lock()
	stalled := c.stalled
	c.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates, c.raw = append(c.updates, text), append(c.raw, update)
}

// describe writes an update on a line.
func describe(u proxy.Update) string {
	text := fmt.Sprintf("%s %d", u.Name(), u.Transaction)
	if u.Parent != "" {
		text += " in " + u.Parent
	}
	for _, group := range u.Groups {
		text += " [" + group.IDs.String() + list(group.Attributes) + "]"
	}
	for _, definition := range u.Definitions {
		text += " " + definition.ID
	}
	return text + list(u.Attributes)
}

func list(attributes proxy.Attributes) string {
	text := ""
	for _, attribute := range attributes {
		text += " " + attribute.ID + "=" + attribute.Value
	}
	return text
}

// send sends a command and returns its transaction.
func (c *client) send(id proxy.CommandID, attributes ...string) uint32 {
	c.next++
	command := proxy.Command{ID: id, Transaction: c.next}
	for _, text := range attributes {
		name, value, _ := strings.Cut(text, "=")
		command.Attributes = append(command.Attributes, proxy.Attribute{ID: name, Value: value})
	}
	_, err := c.to.Write(command.Frame().Append(nil))
	require.NoError(c.t, err)
	return c.next
}

// got returns what has come since the last call, once the agent does nothing more.
func (c *client) got() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	updates := c.updates
	c.updates = nil
	return updates
}

// start begins a session up to its first events, which it drops.
func (c *client) start(features ...string) {
	if len(features) > 0 {
		c.send(proxy.Init, "version=2.0", "baseId=1000", "session=S")
	} else {
		c.send(proxy.Init, "version=2.0", "baseId=1000")
	}
	c.send(proxy.ModelDefinition)
	c.got()
	if len(features) > 0 {
		c.send(proxy.StartEvents, "rmctlFeatures="+strings.Join(features, ","))
	} else {
		c.send(proxy.StartEvents)
	}
	c.got()
}

// quit ends the session.
func (c *client) quit() {
	require.NoError(c.t, c.to.Close())
	require.NoError(c.t, <-c.ended)
	require.NoError(c.t, c.from.Close())
}

// put puts an element into the model with attributes, each a name and a value.
func (c *client) put(kind model.Kind, parent, id string, attributes ...string) {
	row := model.Row{Manager: manager, Kind: kind, Parent: parent, ID: id}
	if kind == model.ResourceManager {
		row.Manager = ""
	}
	for i := 0; i < len(attributes); i += 2 {
		row.Attributes = append(row.Attributes, model.Attribute{ID: attributes[i], Text: attributes[i+1]})
	}
	require.Empty(c.t, c.model.Update(func(u *model.Update) { u.Put(row) }))
}

func (c *client) remove(kind model.Kind, id string) {
	require.Empty(c.t, c.model.Update(func(u *model.Update) { u.Remove(manager, kind, id) }))
}

// define defines attributes of jobs that only rmctl has.
func (c *client) define(ids ...string) {
	c.model.Update(func(u *model.Update) {
		for _, id := range ids {
			_, isDefined := c.model.Snapshot().Definition(id)
			if !isDefined {
				require.NoError(c.t, u.Define(model.Definition{ID: id, Type: model.String, Name: id, Default: []string{""}}))
			}
		}
	})
}

// A record is a fake one.
type record struct {
	reflected int64
	touched   map[string]int64 // number of the last event by tag
}

func (r *record) Reflected() int64 { return r.reflected }

func (r *record) EachTouched(_ context.Context, after int64, do func(string)) (int64, error) {
	last := after
	for tag, number := range maps.All(r.touched) {
		if last = max(last, number); number > after {
			do(tag)
		}
	}
	return max(last, r.reflected), nil
}
