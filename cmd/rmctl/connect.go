package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/openssh"
	"github.com/rmctl/rmctl/remote/ssh"
)

// connectionKey tells connections apart: several targets may share one.
type connectionKey struct{ transport, host, sshConfig string }

func keyOf(target settings.Target) connectionKey {
	return connectionKey{target.Transport, target.Host, target.SSHConfig}
}

// connect returns the connection of a target, made once. A target elsewhere is
// never replaced by this machine, nor by another host.
func (a *app) connect(ctx context.Context, target settings.Target) (remote.Connection, error) {
	key := keyOf(target)
	if known := a.connections[key]; known != nil {
		return known, nil
	}
	connection, err := a.newConnection(ctx, target, a.prompter())
	if err != nil {
		return nil, err
	}
	if a.listening != nil {
		connection = a.listening(connection)
	}
	if a.connections == nil {
		a.connections = map[connectionKey]remote.Connection{}
	}
	a.connections[key] = connection
	return connection, nil
}

// prompter returns what asks the user, nil if there is no terminal.
func (a *app) prompter() remote.Prompter {
	if a.asked == nil {
		terminal := tui.Terminal()
		if terminal == nil {
			return nil
		}
		a.asked = tui.NewQuestions(terminal, true)
	}
	return a.asked
}

func (a *app) newConnection(ctx context.Context, target settings.Target, prompter remote.Prompter) (remote.Connection, error) {
	if target.Transport == settings.TransportLocal {
		return remote.NewLocal()
	}
	place := placeOf(target)
	if connection, err := a.connectInBackground(ctx, place, prompter); err != nil || connection != nil {
		return connection, err
	}
	return connectTo(ctx, place, prompter, a.log(), a.showBanner)
}

// placeOf returns where a target's connection leads, with what making it
// depends on here.
func placeOf(target settings.Target) daemon.Place {
	place := daemon.Place{Transport: target.Transport, Host: target.Host, SSHConfig: target.SSHConfig, Environment: map[string]string{}}
	for _, name := range connectionVariables() {
		if value, set := os.LookupEnv(name); set {
			place.Environment[name] = value
		}
	}
	return place
}

// connectionVariables are those of the user's login that connections depend on:
// agent, display and Kerberos tickets.
func connectionVariables() []string {
	return []string{"SSH_AUTH_SOCK", "DISPLAY", "XAUTHORITY", "KRB5CCNAME"}
}

// connectInBackground returns a connection that the background process keeps,
// nil where there is none to be had: then everything works, only slower.
func (a *app) connectInBackground(ctx context.Context, place daemon.Place, prompter remote.Prompter) (remote.Connection, error) {
	wanted, err := a.wantsBackground()
	if err != nil || !wanted {
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
	var unreached *daemon.DialError
	if errors.As(err, &unreached) {
		return withoutIt(err)
	}
	if err != nil {
		return nil, err
	}
	return connection, nil
}

// connectTo makes a connection in this process.
func connectTo(ctx context.Context, place daemon.Place, prompter remote.Prompter, log *slog.Logger, banner func(host, text string)) (remote.Connection, error) {
	switch place.Transport {
	case settings.TransportSSH:
		return ssh.Connect(ctx, ssh.Options{Host: place.Host, ConfigFile: place.SSHConfig, Prompter: prompter, Banner: banner, Log: log})
	case settings.TransportOpenSSH:
		return openssh.Connect(ctx, openssh.Options{Host: place.Host, ConfigFile: place.SSHConfig, Prompter: prompter, Log: log})
	}
	return nil, fmt.Errorf("there is no transport %q", place.Transport)
}

// showBanner shows what a server says before it lets the user in.
func (a *app) showBanner(host, text string) {
	if a.verbose > 0 {
		fmt.Fprintf(a.stderr, "%s says:\n%s\n", oneLine(host), printable(text))
	}
}

// wantsBackground reports whether the user wants a background process.
func (a *app) wantsBackground() (bool, error) {
	switch os.Getenv("RMCTL_BACKGROUND") {
	case "off", "no", "false", "0":
		return false, nil
	}
	targets, err := a.loadTargets()
	if err != nil {
		return false, err
	}
	return targets.Background, nil
}

// backgroundFolder returns where the background process of this state folder is.
func (a *app) backgroundFolder() (string, error) {
	state, err := folder(a.stateFolder, "XDG_STATE_HOME", ".local/state")
	if err != nil {
		return "", err
	}
	return daemon.Folder(state)
}

// backgroundClient returns a client of the background process, which is started
// if it is not there.
func (a *app) backgroundClient(ctx context.Context) (*daemon.Client, error) {
	place, err := a.backgroundFolder()
	if err != nil {
		return nil, err
	}
	return daemon.Open(ctx, daemon.ClientOptions{Folder: place, Build: buildIdentity(), Start: a.startBackground, Log: a.log()})
}
