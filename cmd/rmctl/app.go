package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
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

	store       *jobstore.Store
	targets     *settings.Targets
	connections map[connectionKey]remote.Connection
	controllers map[string]*control.Controller

	asked *tui.Questions // asks what connections ask; nil before the first one is made, or where there is nobody to ask

	listening func(remote.Connection) remote.Connection // wraps the connections that are made; nil but for rmctl record
}

// close releases what commands opened. The store is left to the end of the
// process: closing it would write SQLite's log back and wait for the disk, some
// milliseconds each time, where the next process takes the log over as it is.
// What was committed is in the log; Intend has waited for the disk already.
func (a *app) close() error {
	var err error
	for _, connection := range a.connections {
		err = errors.Join(err, connection.Close())
	}
	return err
}

// folder returns where rmctl keeps files of one kind: what the flag says, else
// below what the XDG variable names, else below the home directory.
func folder(flag, variable, fallback string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	if base := os.Getenv(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "rmctl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home directory: %w; --config and --state name the folders that are looked for in it", err)
	}
	return filepath.Join(home, fallback, "rmctl"), nil
}

func (a *app) openStore(ctx context.Context) (*jobstore.Store, error) {
	if a.store != nil {
		return a.store, nil
	}
	path, err := folder(a.stateFolder, "XDG_STATE_HOME", ".local/state")
	if err != nil {
		return nil, err
	}
	if err := files.RefuseForeign(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("opening the job store in %q: %w", path, err)
	}
	a.store, err = jobstore.Open(ctx, path)
	return a.store, err
}

// configuration returns the folder of the user's own settings.
func (a *app) configuration() (string, error) {
	return folder(a.configFolder, "XDG_CONFIG_HOME", ".config")
}

func (a *app) loadTargets() (*settings.Targets, error) {
	if a.targets != nil {
		return a.targets, nil
	}
	path, err := a.configuration()
	if err != nil {
		return nil, err
	}
	a.targets, err = settings.LoadTargets(path)
	return a.targets, err
}

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
	targets, err := a.loadTargets()
	if err == nil {
		_, err = targets.Find(a.target)
	}
	return err
}

// controller returns the controller of a target, the chosen one for an empty name.
func (a *app) controller(ctx context.Context, name string) (*control.Controller, error) {
	if name == "" {
		name = a.target
	}
	targets, err := a.loadTargets()
	if err != nil {
		return nil, err
	}
	target, err := targets.Find(name)
	if err != nil {
		return nil, err
	}
	if known := a.controllers[target.Name]; known != nil {
		return known, nil
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	definition, err := a.definition(target.Definition)
	if err != nil {
		return nil, err
	}
	connection, err := a.connect(ctx, target)
	if err != nil {
		return nil, err
	}
	options := control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: store, Log: a.log(), OnListed: a.warnOfListing(), OnStaging: tui.StagingBar(a.stderr)}
	options.Defaults = defaultsOf(target)
	if a.controllers == nil {
		a.controllers = map[string]*control.Controller{}
	}
	a.controllers[target.Name] = control.New(options)
	return a.controllers[target.Name], nil
}

// definition loads a definition that must be usable; its warnings are shown with -v.
func (a *app) definition(nameOrFile string) (*config.Definition, error) {
	definition, problems, err := rms.UsableDefinition(nameOrFile)
	var invalid *config.InvalidError
	if errors.As(err, &invalid) {
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
