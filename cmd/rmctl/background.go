package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/remote"
)

// backgroundCommand is the hidden command of the background process.
const backgroundCommand = "background"

func newBackground(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    backgroundCommand,
		Short:  "Keep connections between calls of rmctl",
		Long:   "background is the process that keeps connections between calls of rmctl, which start it.",
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			folder, err := a.backgroundFolder()
			if err != nil {
				return err
			}
			file, err := daemon.OpenLog(folder)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			log := slog.New(slog.NewTextHandler(file, nil))
			login := &clientLogin{}
			err = daemon.Serve(c.Context(), daemon.Options{
				Folder:  folder,
				Build:   buildIdentity(),
				Hoster:  login.host,
				Connect: connectForClients(login, log),
				Log:     log,
			})
			if errors.Is(err, daemon.ErrRunning) {
				return nil // another process was faster
			}
			if err != nil {
				log.Error("the background process failed", "error", err)
			}
			return err
		},
	}
}

// connectForClients makes connections with the agent, display and tickets of the client's
// login.
func connectForClients(login *clientLogin, log *slog.Logger) func(context.Context, daemon.Place, remote.Prompter) (remote.Connection, error) {
	return func(ctx context.Context, place daemon.Place, prompter remote.Prompter) (remote.Connection, error) {
		if err := login.apply(place.Environment); err != nil {
			return nil, err
		}
		target := settings.Target{Transport: place.Transport, Host: place.Host, SSHConfig: place.SSHConfig}
		return rmctl.Connect(ctx, target, prompter, nil, log)
	}
}

// A clientLogin is the login whose agent, display and tickets this process uses. All clients
// are the same user: the last login counts, since its agent certainly exists.
type clientLogin struct{ mutex sync.Mutex }

// apply sets the connection variables of this process to those of a login.
func (l *clientLogin) apply(environment map[string]string) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var failures []error
	for _, name := range connectionVariables() {
		if value, set := environment[name]; set {
			failures = append(failures, os.Setenv(name, value))
		} else {
			failures = append(failures, os.Unsetenv(name))
		}
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("using the environment of a client: %w", err)
	}
	return nil
}

// startBackground starts this program as the background process.
func (a *app) startBackground() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the file of this program: %w", err)
	}
	state, err := a.client().StateFolder()
	if err != nil {
		return err
	}
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return err
	}
	return daemon.StartProcess(program, backgroundCommand, "--state-dir", state, "--config-dir", configuration)
}

// buildIdentity identifies a build of rmctl, even one that was not built from a commit.
func buildIdentity() string {
	v := buildVersion()
	identity := v.Version + " " + v.Revision
	program, err := os.Executable()
	if err != nil {
		return identity
	}
	file, err := os.Stat(program)
	if err != nil {
		return identity
	}
	return fmt.Sprintf("%s %d %d", identity, file.Size(), file.ModTime().UnixNano())
}
