package main

import (
	"context"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// platform returns the resource managers of the user, those of -t alone where that
// is given. Connections ask the prompter, which may be nil where the terminal is
// used for something else. A platform that keeps listings does so for other commands.
// The caller closes it.
func (a *app) platform(ctx context.Context, prompter remote.Prompter, keepsListings bool) (*views.Views, error) {
	targets, err := a.loadTargets()
	if err != nil {
		return nil, err
	}
	folder, err := a.configuration()
	if err != nil {
		return nil, err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	var shown []string
	if a.target != "" {
		shown = []string{a.target}
	}
	return views.New(views.Options{
		Targets: targets, Folder: folder, Show: shown, Store: store, KeepListings: keepsListings, Log: a.log(),
		Open: func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error) {
			return a.open(ctx, store, target, prompter)
		},
		EndHosted: a.endHosted,
	})
}

// open makes a connection of its own for a target, and a controller over it.
func (a *app) open(ctx context.Context, store *jobstore.Store, target settings.Target, prompter remote.Prompter) (*control.Controller, func() error, error) {
	definition, err := a.definition(target.Definition)
	if err != nil {
		return nil, nil, err
	}
	connection, err := a.newConnection(ctx, target, prompter)
	if err != nil {
		return nil, nil, err
	}
	options := control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: store, Log: a.log(), Defaults: defaultsOf(target)}
	return control.New(options), connection.Close, nil
}

// endHosted ends an interactive job that the background process hosts.
func (a *app) endHosted(ctx context.Context, job job.Job) error {
	place, err := a.backgroundFolder()
	if err != nil {
		return err
	}
	return daemon.Find(place).End(ctx, job.Tag)
}
