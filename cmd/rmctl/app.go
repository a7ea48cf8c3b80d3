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
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
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
	isBrief      bool // whether lines of the log have no prefix
	keepsLog     bool // whether lines of the log have their time and all details
	configFolder string
	stateFolder  string
	siteFolder   string // of the configuration for all users of this machine; empty for the usual one

	opened *rmctl.Client                  // see client
	used   map[string]*control.Controller // by their targets

	step func(*config.Command, reader.Step) // gets what readers do with each record; may be nil

	shown map[string]string // the last line about each job, by its tag

	questions *tui.Questions // of connections; nil before the first connection or without a terminal

	traceFile string         // for the messages of sessions with agents; empty for none
	tracer    *bridge.Tracer // nil without a file

	wrapConnection func(remote.Connection) remote.Connection // may be nil
}

// client returns the client of this process, created from the flags when it is first needed.
func (a *app) client() *rmctl.Client {
	if a.opened == nil {
		options := a.clientOptions(func(ctx context.Context, target settings.Target) (remote.Connection, error) {
			if a.wrapConnection != nil && target.Agent != nil { // nothing there can be recorded for a definition
				return nil, noDefinition(target.Name)
			}
			connection, err := a.newConnection(ctx, target, a.prompter())
			if err == nil && a.wrapConnection != nil {
				connection = a.wrapConnection(connection)
			}
			return connection, err
		})
		options.Configure = func(o *control.Options) {
			o.Log, o.OnListed, o.OnStaging, o.Step = a.log(), a.warnOfListing(), tui.StagingBar(a.stderr), a.step
		}
		a.opened = rmctl.New(options)
	}
	return a.opened
}

func (a *app) clientOptions(connect func(context.Context, settings.Target) (remote.Connection, error)) rmctl.Options {
	return rmctl.Options{ConfigFolder: a.configFolder, SiteFolder: a.siteFolder, StateFolder: a.stateFolder, Log: a.log(), Definition: a.definition, Connect: connect}
}

// folders returns the configuration folders.
func (a *app) folders() (settings.Folders, error) {
	user, err := a.client().ConfigFolder()
	return settings.Folders{Site: cmp.Or(a.siteFolder, settings.SiteFolder), User: user}, err
}

// close closes the connections and the store.
func (a *app) close() error { return a.client().Close() }

// controller returns the controller of a target, or of the chosen one if the name is empty.
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

// finder returns what finds jobs by the names that users write.
func (a *app) finder() *selection.Finder {
	return &selection.Finder{
		Target: a.target, Store: a.client().Store, Targets: a.client().Targets, Controller: a.controller,
		Note: func(note string) { a.say("%s", note) },
	}
}

// targetDefinition returns the definition of a target, which an agent has itself.
func (a *app) targetDefinition(ctx context.Context, target settings.Target) (*config.Definition, error) {
	if target.Agent == nil {
		return a.definition(target.Definition)
	}
	connection, err := a.client().Connection(ctx, target)
	if err != nil {
		return nil, err
	}
	return bridge.Definition(ctx, connection, target.Name)
}

// definition loads a usable definition; it prints warnings with -v.
func (a *app) definition(nameOrFile string) (*config.Definition, error) {
	definition, problems, err := check.UsableDefinition(nameOrFile)
	if isA[*config.InvalidError](err) {
		return nil, fmt.Errorf("%w\nrun rmctl validate %s to see each problem with its line", err, nameOrFile)
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
