package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// app holds the flags that all commands share, and what they open.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	target       string
	json         bool
	verbose      int
	configFolder string
	stateFolder  string

	store       *jobstore.Store
	targets     *control.Targets
	connections map[connectionKey]remote.Connection
	controllers map[string]*control.Controller

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

// log returns the logger that -v asks for: warnings always, what is done with
// -v, every command that is run with -vv.
func (a *app) log() *slog.Logger {
	level := slog.LevelWarn
	switch {
	case a.verbose == 1:
		level = slog.LevelInfo
	case a.verbose > 1:
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
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
		return "", fmt.Errorf("finding the home directory: %w", err)
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
	if err := remote.RefuseForeign(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("opening the job store in %q: %w", path, err)
	}
	a.store, err = jobstore.Open(ctx, path)
	return a.store, err
}

// configuration returns the folder of the user's own settings.
func (a *app) configuration() (string, error) {
	return folder(a.configFolder, "XDG_CONFIG_HOME", ".config")
}

func (a *app) loadTargets() (*control.Targets, error) {
	if a.targets != nil {
		return a.targets, nil
	}
	path, err := a.configuration()
	if err != nil {
		return nil, err
	}
	a.targets, err = control.LoadTargets(path)
	return a.targets, err
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
	options := control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: store, Log: a.log(), OnDrift: a.warnOfDrift, OnStaging: a.stagingBar()}
	options.Defaults = defaultsOf(target)
	if a.controllers == nil {
		a.controllers = map[string]*control.Controller{}
	}
	a.controllers[target.Name] = control.New(options)
	return a.controllers[target.Name], nil
}

// definition loads a definition that must be usable; its warnings are shown with -v.
func (a *app) definition(nameOrFile string) (*config.Definition, error) {
	definition, problems, err := control.UsableDefinition(nameOrFile)
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
