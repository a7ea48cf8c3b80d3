package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/remote"
)

// prompter returns the prompter of connections, nil without a terminal.
func (a *app) prompter() remote.Prompter {
	if a.questions == nil {
		terminal := tui.Terminal()
		if terminal == nil {
			return nil
		}
		a.questions = tui.NewQuestions(terminal, true)
	}
	return a.questions
}

// newConnection makes the connection of a target, and never one to another host instead. A
// session with an agent stays in the background process.
func (a *app) newConnection(ctx context.Context, target settings.Target, prompter remote.Prompter) (connection remote.Connection, err error) {
	if target.Transport != settings.TransportLocal || target.Agent != nil {
		connection, err = a.connectInBackground(ctx, placeOf(target), prompter)
	}
	if err == nil && connection == nil {
		connection, err = rmctl.Connect(ctx, target, prompter, a.showBanner, a.log())
	}
	if err == nil && target.Agent != nil && a.tracer != nil {
		if err := a.tracer.Trace(ctx, connection); err != nil {
			return nil, errors.Join(err, connection.Close())
		}
	}
	return connection, err
}

// placeOf returns the place of a target, with the variables that its connection depends on.
func placeOf(target settings.Target) daemon.Place {
	place := daemon.Place{Transport: target.Transport, Host: target.Host, SSHConfig: target.SSHConfig, Environment: map[string]string{}}
	if target.Agent != nil {
		place.Agent = daemon.Agent{Arguments: target.Agent, Proxy: target.Proxy, Environment: target.Environment}
	}
	for _, name := range connectionVariables() {
		if value, set := os.LookupEnv(name); set {
			place.Environment[name] = value
		}
	}
	return place
}

// connectionVariables are the variables of a login that connections depend on: agent, display
// and Kerberos tickets.
func connectionVariables() []string {
	return []string{"SSH_AUTH_SOCK", "DISPLAY", "XAUTHORITY", "KRB5CCNAME"}
}

// connectInBackground returns a connection of the background process; nil without that
// process, when everything works but more slowly.
func (a *app) connectInBackground(ctx context.Context, place daemon.Place, prompter remote.Prompter) (remote.Connection, error) {
	isEnabled, err := a.usesBackground()
	if err != nil || !isEnabled {
		return nil, err
	}
	withoutIt := func(err error) (remote.Connection, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.log().Info("connecting without the background process", "reason", err)
		return nil, nil
	}
	client, err := a.backgroundClient(ctx)
	if err != nil {
		return withoutIt(err)
	}
	connection, err := client.Connect(ctx, place, prompter)
	switch {
	case isA[*daemon.DialError](err):
		return withoutIt(err)
	case err != nil:
		return nil, err
	}
	return connection, nil
}

// showBanner prints the banner of an SSH server.
func (a *app) showBanner(host, text string) {
	if a.verbose > 0 {
		fmt.Fprintf(a.stderr, "%s says:\n%s\n", oneLine(host), printable(text))
	}
}

// usesBackground reports whether the background process is enabled.
func (a *app) usesBackground() (bool, error) {
	switch os.Getenv("RMCTL_BACKGROUND") {
	case "off", "no", "false", "0":
		return false, nil
	}
	targets, err := a.client().Targets()
	if err != nil {
		return false, err
	}
	return targets.Background, nil
}

// backgroundFolder returns the folder of the background process.
func (a *app) backgroundFolder() (string, error) {
	state, err := a.client().StateFolder()
	if err != nil {
		return "", err
	}
	return daemon.Folder(state)
}

// backgroundClient returns a client of the background process, which it starts if necessary.
func (a *app) backgroundClient(ctx context.Context) (*daemon.Client, error) {
	place, err := a.backgroundFolder()
	if err != nil {
		return nil, err
	}
	return daemon.Open(ctx, daemon.ClientOptions{Folder: place, Build: buildIdentity(), Start: a.startBackground, Log: a.log()})
}

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
