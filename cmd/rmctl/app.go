package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// app holds the flags that all commands share, and what they open.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	catchSignals   func() // makes signals cancel the context of commands; may be nil

	target       string
	json         bool
	verbose      int
	isBrief      bool // whether lines of the log are as short as can be
	keepsLog     bool // whether lines of the log are for later, with their time
	configFolder string
	stateFolder  string

	opened *rmctl.Client                  // see client
	used   map[string]*control.Controller // by their targets

	asked *tui.Questions // asks what connections ask; nil before the first one is made, or where there is nobody to ask

	listening func(remote.Connection) remote.Connection // wraps the connections that are made; nil but for rmctl record
}

// client returns what this process works with, made from the flags when it is first
// needed.
func (a *app) client() *rmctl.Client {
	if a.opened == nil {
		options := a.clientOptions(func(ctx context.Context, target settings.Target) (remote.Connection, error) {
			connection, err := a.newConnection(ctx, target, a.prompter())
			if err == nil && a.listening != nil {
				connection = a.listening(connection)
			}
			return connection, err
		})
		options.Configure = func(o *control.Options) {
			o.Log, o.OnListed, o.OnStaging = a.log(), a.warnOfListing(), tui.StagingBar(a.stderr)
		}
		a.opened = rmctl.New(options)
	}
	return a.opened
}

func (a *app) clientOptions(connect func(context.Context, settings.Target) (remote.Connection, error)) rmctl.Options {
	return rmctl.Options{ConfigFolder: a.configFolder, StateFolder: a.stateFolder, Log: a.log(), Definition: a.definition, Connect: connect}
}

// close releases what commands opened. The store is left to the end of the
// process: closing it would write SQLite's log back and wait for the disk, some
// milliseconds each time, where the next process takes the log over as it is.
// What was committed is in the log; Intend has waited for the disk already.
func (a *app) close() error { return a.client().CloseConnections() }

// knowsTarget is nil unless the chosen target neither is one nor has jobs on record:
// nothing is on record of a name that is mistyped, and that is no sign that it has no jobs.
func (a *app) knowsTarget(ctx context.Context, store *jobstore.Store) error {
	if a.target == "" {
		return nil
	}
	recorded, err := store.List(ctx, jobstore.Filter{Target: a.target, All: true, Limit: 1})
	if err != nil || len(recorded) > 0 {
		return err
	}
	targets, err := a.client().Targets()
	if err == nil {
		_, err = targets.Find(a.target)
	}
	return err
}

// controller returns the controller of a target, the chosen one for an empty name.
func (a *app) controller(ctx context.Context, name string) (*control.Controller, error) {
	controller, err := a.client().Controller(ctx, cmp.Or(name, a.target))
	if err == nil {
		if a.used == nil {
			a.used = map[string]*control.Controller{}
		}
		a.used[controller.Target] = controller
	}
	return controller, err
}

// definition loads a definition that must be usable; its warnings are shown with -v.
func (a *app) definition(nameOrFile string) (*config.Definition, error) {
	definition, problems, err := check.UsableDefinition(nameOrFile)
	if isA[*config.InvalidError](err) {
		return nil, fmt.Errorf("%w\nrmctl validate %s shows each with its line", err, nameOrFile)
	}
	if err != nil {
		return nil, &usageError{err}
	}
	if a.verbose > 0 {
		for _, problem := range problems {
			fmt.Fprintln(a.stderr, printable(problem.String()))
		}
	}
	return definition, nil
}
