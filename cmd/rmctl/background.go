package main

import (
	"bytes"
	"encoding/gob"
	"io"
	"strings"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"

	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/internal/agentclient/bridge"
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
		Long:   "Keep connections between calls of rmctl, which start this process.",
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
				Begin:   a.liveEnsembles,
				Connect: connectForClients(login, log),
				Log:     log,
			})
			if errors.Is(err, daemon.ErrRunning) {
				return nil // another process was faster
			}
			if err != nil {
				log.Error("background process failed", "error", err)
			}
			return err
		},
	}
}

// connectForClients makes connections with the agent, display and tickets of the client's
// login.
func connectForClients(login *clientLogin, log *slog.Logger) func(context.Context, daemon.Place, remote.Prompter) (remote.Connection, error) {
	memory := &bridge.Memory{}
	return func(ctx context.Context, place daemon.Place, prompter remote.Prompter) (remote.Connection, error) {
		if err := login.apply(place.Environment); err != nil {
			return nil, err
		}
		target := settings.Target{Transport: place.Transport, Host: place.Host, SSHConfig: place.SSHConfig}
		connection, err := rmctl.Connect(ctx, target, prompter, nil, log)
		if err != nil || len(place.Agent.Arguments) == 0 {
			return connection, err
		}
		return bridge.New(connection, bridge.Options{
			Agent: place.Agent.Arguments, Proxy: place.Agent.Proxy, Environment: place.Agent.Environment, Memory: memory, Log: log,
		}), nil
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
		return fmt.Errorf("finding the executable: %w", err)
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

// buildIdentity identifies this build.
func buildIdentity() string {
	return daemon.BuildIdentity(buildVersion().Version, buildVersion().Revision)
}

// A hostedJob is an interactive job for the background process, or an ensemble.
type hostedJob struct {
	Ensemble     string // its id; then there is no job
	Target       string
	ConfigFolder string
	StateFolder  string
	Submission   job.Submission
	Environment  []string // of the user's shell, NAME=VALUE
}

// hostedRequest encodes what the background process is to run. Texts may hold any bytes, which JSON would change.
func (a *app) hostedRequest(hosted hostedJob) ([]byte, error) {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return nil, err
	}
	stateFolder, err := a.client().StateFolder()
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	hosted.ConfigFolder, hosted.StateFolder, hosted.Environment = configuration, stateFolder, os.Environ()
	if err := gob.NewEncoder(&encoded).Encode(hosted); err != nil {
		return nil, fmt.Errorf("encoding the job for the background process: %w", err)
	}
	return encoded.Bytes(), nil
}

// host is the [daemon.Hoster] of the background process. If it fails, the code is the exit code of rmctl for the error.
func (l *clientLogin) host(ctx context.Context, request []byte, session daemon.Hosted) (int, error) {
	var hosted hostedJob
	if err := gob.NewDecoder(bytes.NewReader(request)).Decode(&hosted); err != nil {
		return exitFailed, fmt.Errorf("decoding the job: %w", err)
	}
	// The connection may have been made from a login without this one's display.
	if err := l.apply(daemon.Assigned(hosted.Environment)); err != nil {
		return exitFailed, err
	}
	a := &app{
		stdin: strings.NewReader(""), stdout: session.Stdout, stderr: io.Discard,
		configFolder: hosted.ConfigFolder, stateFolder: hosted.StateFolder,
		wrapConnection: func(connection remote.Connection) remote.Connection {
			if connection.Info().Transport != settings.TransportLocal {
				return connection
			}
			return daemon.InEnvironment(connection, hosted.Environment)
		},
	}
	if hosted.Ensemble != "" {
		return a.hostEnsemble(ctx, hosted.Ensemble, session)
	}
	job, err := a.host(ctx, hosted, session)
	if closeErr := a.client().Close(); err == nil && closeErr != nil {
		return exitFailed, closeErr
	}
	if err != nil && (ctx.Err() == nil || !job.Detail.Ended()) {
		return exitCode(err), err
	}
	if err := jobExit(job); err != nil {
		return exitCode(err), nil
	}
	return exitDone, nil
}

// host runs a job with the streams of a session.
func (a *app) host(ctx context.Context, hosted hostedJob, session daemon.Hosted) (job.Job, error) {
	controller, err := a.controller(ctx, hosted.Target)
	if err != nil {
		return job.Job{}, err
	}
	return controller.RunInteractive(ctx, hosted.Submission, control.Terminal{
		Stdin: session.Stdin, Stdout: session.Stdout, Stderr: session.Stderr, Terminal: session.Terminal, Signals: session.Signals,
	})
}
