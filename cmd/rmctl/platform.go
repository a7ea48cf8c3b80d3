package main

import (
	"context"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/remote"
)

// platform returns the resource managers of the user, or only that of -t. Connections use the
// prompter, which may be nil. A platform that keeps listings does so for other commands. The
// caller closes it. From then on this process uses its client.
func (a *app) platform(ctx context.Context, prompter remote.Prompter, keepsListings bool) (*views.Views, error) {
	client := rmctl.New(a.clientOptions(func(ctx context.Context, target settings.Target) (remote.Connection, error) {
		return a.newConnection(ctx, target, prompter)
	}))
	a.opened = client
	targets, err := client.Targets()
	if err != nil {
		return nil, err
	}
	folders, err := a.folders()
	if err != nil {
		return nil, err
	}
	store, err := client.Store(ctx)
	if err != nil {
		return nil, err
	}
	var shown []string
	if a.target != "" {
		shown = []string{a.target}
	}
	return views.New(views.Options{
		Targets: targets, Folders: folders, Show: shown, Store: store, KeepListings: keepsListings, Log: a.log(),
		Open: client.NewController, EndHosted: client.EndHosted,
	})
}
