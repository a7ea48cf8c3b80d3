// Package rmctl submits jobs to schedulers and follows them. A [Client] has the targets and the
// record of the command rmctl.
//
//	client, err := rmctl.Open(ctx, rmctl.Options{})
//	...
//	defer client.Close()
//	j, err := client.Submit(ctx, "slurm", job.Submission{Executable: "./simulate"})
//	...
//	j, err = client.Wait(ctx, j)
//	...
//	err = client.Output(ctx, j, os.Stdout)
//
// [Client.Controller] returns the [control.Controller] of a target, which does everything else.
//
// Jobs:
//
//   - [github.com/rmctl/rmctl/job]: jobs, submissions and job states
//   - [github.com/rmctl/rmctl/control]: a definition bound to a connection
//   - [github.com/rmctl/rmctl/jobstore]: the durable record of jobs
//   - [github.com/rmctl/rmctl/monitor] and [github.com/rmctl/rmctl/model]: machines, queues,
//     nodes and jobs, kept up to date
//   - [github.com/rmctl/rmctl/coalloc]: ensembles, jobs of several parts
//   - [github.com/rmctl/rmctl/proxy]: the protocol between agents and clients
//   - [github.com/rmctl/rmctl/remote], [github.com/rmctl/rmctl/remote/ssh] and
//     [github.com/rmctl/rmctl/remote/openssh]: connections to hosts
//
// Definitions:
//
//   - [github.com/rmctl/rmctl/config]: a definition as Go types
//   - [github.com/rmctl/rmctl/config/check]: the problems of a definition
//   - [github.com/rmctl/rmctl/command]: runs one command of a definition
//   - [github.com/rmctl/rmctl/tokenizer]: parses the output of a command
//   - [github.com/rmctl/rmctl/attribute]: attributes, references, validators
//   - [github.com/rmctl/rmctl/cases] and [github.com/rmctl/rmctl/cases/casetest]: tests
//     definitions with recorded commands
//   - [github.com/rmctl/rmctl/rms] and [github.com/rmctl/rmctl/schemas]: shipped definitions;
//     the schema
package rmctl

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A Target is where jobs run: the Definition, a shipped name or a file, and the Host, which
// is reached by the Transport "local", "ssh" or "openssh".
type Target = settings.Target

// Targets are all targets of a user. All returns them, Names their names, and Find the
// target of a name, or the default one if the name is empty.
type Targets = settings.Targets

// Options configure a client. The zero value uses the folders of the command rmctl, and
// makes connections in this process.
type Options struct {
	// ConfigFolder contains targets.toml; if empty, it is rmctl in $XDG_CONFIG_HOME or ~/.config.
	ConfigFolder string
	// SiteFolder contains the targets.toml for all users of a machine; if empty, it is /etc/rmctl.
	SiteFolder string
	// StateFolder contains the record of jobs; if empty, it is rmctl in $XDG_STATE_HOME or ~/.local/state.
	StateFolder string

	Log      *slog.Logger    // nil to log nothing
	Prompter remote.Prompter // answers questions of SSH connections, such as passwords; may be nil

	// Connect makes the connection of a target; nil for [Connect].
	Connect func(ctx context.Context, target Target) (remote.Connection, error)
	// Definition loads a shipped definition or a file; nil for [check.UsableDefinition], whose
	// warnings are logged.
	Definition func(nameOrFile string) (*config.Definition, error)
	// Configure changes the options of a controller before it is made; may be nil.
	Configure func(*control.Options)
}

// A Client submits, follows and controls jobs of all targets of a user. Its methods
// may be called concurrently. It makes a connection when a target is first used.
type Client struct {
	options     Options
	targets     kept[struct{}, *Targets]
	store       kept[struct{}, *jobstore.Store]
	connections kept[connectionKey, remote.Connection]
	controllers kept[string, *control.Controller]
}

// New returns a client that reads targets and opens the job store when they are first needed.
func New(options Options) *Client {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{options: options}
}

// Open returns a client once it has read the targets and opened the job store.
// The caller closes it.
func Open(ctx context.Context, options Options) (*Client, error) {
	c := New(options)
	if _, err := c.Targets(); err != nil {
		return nil, err
	}
	if _, err := c.Store(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Close closes the connections and the job store. Jobs keep running.
func (c *Client) Close() error {
	err := c.CloseConnections()
	for _, store := range c.store.clear() {
		err = errors.Join(err, store.Close())
	}
	return err
}

// Submit submits a job to a target, the default one if the name is empty. Errors
// are those of [control.Controller.Submit] and of [Client.Controller].
func (c *Client) Submit(ctx context.Context, target string, s job.Submission) (job.Job, error) {
	controller, err := c.Controller(ctx, target)
	if err != nil {
		return job.Job{}, err
	}
	return controller.Submit(ctx, s)
}

// Jobs returns the jobs on record that have not ended, newest first. [Client.Store] also
// has those that have ended.
func (c *Client) Jobs(ctx context.Context) ([]job.Job, error) {
	store, err := c.Store(ctx)
	if err != nil {
		return nil, err
	}
	return store.List(ctx, jobstore.Filter{})
}

// Status returns the current state of a job. It queries the scheduler unless the last query is
// only a few seconds old. Errors are those of [control.Controller.Status].
func (c *Client) Status(ctx context.Context, j job.Job) (job.Job, error) {
	controller, err := c.Controller(ctx, j.Target)
	if err != nil {
		return j, err
	}
	return controller.Status(ctx, j, false)
}

// Wait waits until a job has ended and returns it. Errors are those of
// [control.Controller.Wait].
func (c *Client) Wait(ctx context.Context, j job.Job) (job.Job, error) {
	controller, err := c.Controller(ctx, j.Target)
	if err != nil {
		return j, err
	}
	return controller.Wait(ctx, j, "", nil)
}

// Output copies what a job has written to its standard output to w. The error is a
// *[control.OutputError], which matches [io/fs.ErrNotExist] while there is no file.
func (c *Client) Output(ctx context.Context, j job.Job, w io.Writer) error {
	controller, err := c.Controller(ctx, j.Target)
	if err != nil {
		return err
	}
	return controller.Output(ctx, j, control.Stream{}, w)
}

// Follow copies the standard output of a job to w as it grows, until the job has ended.
func (c *Client) Follow(ctx context.Context, j job.Job, w io.Writer) error {
	controller, err := c.Controller(ctx, j.Target)
	if err != nil {
		return err
	}
	return controller.Follow(ctx, j, control.Stream{}, w)
}

// Cancel makes the scheduler end a job; the next Status or Wait shows the effect.
// An interactive job ends in the process that it is attached to. Errors are those of
// [control.Controller.Operate].
func (c *Client) Cancel(ctx context.Context, j job.Job) error {
	controller, err := c.Controller(ctx, j.Target)
	if err != nil {
		return err
	}
	switch controller.Holder(j) {
	case control.HeldByProgram:
		_, err := controller.EndHeld(ctx, j)
		return err
	case control.HeldByHost:
		err := c.EndHosted(ctx, j)
		if !errors.Is(err, daemon.ErrNoSession) {
			return err
		}
	}
	return controller.Operate(ctx, control.Cancel, j)
}
