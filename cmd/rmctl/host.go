package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// A hostedJob is an interactive job for the background process.
type hostedJob struct {
	Target       string
	ConfigFolder string
	StateFolder  string
	Submission   job.Submission
	Environment  []string // of the user's shell, NAME=VALUE
}

// hostedRequest encodes a submission for the background process. Its texts may hold any
// bytes, which JSON would change.
func (a *app) hostedRequest(target string, s job.Submission) ([]byte, error) {
	configuration, err := a.client().ConfigFolder()
	if err != nil {
		return nil, err
	}
	stateFolder, err := a.client().StateFolder()
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	job := hostedJob{Target: target, ConfigFolder: configuration, StateFolder: stateFolder, Submission: s, Environment: os.Environ()}
	if err := gob.NewEncoder(&encoded).Encode(job); err != nil {
		return nil, fmt.Errorf("encoding the submission for the background process: %w", err)
	}
	return encoded.Bytes(), nil
}

// host is the [daemon.Hoster] of the background process: it runs an interactive job to its
// end. If it fails, the code is the exit code of rmctl for the error.
func (l *clientLogin) host(ctx context.Context, request []byte, session daemon.Hosted) (int, error) {
	var hosted hostedJob
	if err := gob.NewDecoder(bytes.NewReader(request)).Decode(&hosted); err != nil {
		return exitFailed, fmt.Errorf("reading what to run: %w", err)
	}
	// The connection may have been made from a login without this one's display.
	if err := l.apply(assigned(hosted.Environment)); err != nil {
		return exitFailed, err
	}
	a := &app{
		stdin: strings.NewReader(""), stdout: session.Stdout, stderr: io.Discard,
		configFolder: hosted.ConfigFolder, stateFolder: hosted.StateFolder,
		wrapConnection: func(connection remote.Connection) remote.Connection {
			return inEnvironment(connection, hosted.Environment)
		},
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

// A userEnvironment is a connection to this machine whose processes have the environment of a
// user's shell instead of that of this process.
type userEnvironment struct {
	remote.Connection
	variables map[string]string
}

// inEnvironment sets the environment of processes of a connection to this machine. Other
// connections stay as they are.
func inEnvironment(connection remote.Connection, assignments []string) remote.Connection {
	if connection.Info().Transport != settings.TransportLocal {
		return connection
	}
	return userEnvironment{connection, assigned(assignments)}
}

// Start implements [remote.Connection].
func (u userEnvironment) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	environment := map[string]string{}
	if command.ReplaceEnvironment {
		for _, name := range command.Keep {
			if value, set := u.variables[name]; set {
				environment[name] = value
			}
		}
	} else {
		maps.Copy(environment, u.variables)
		for _, name := range command.Unset {
			delete(environment, name)
		}
		if command.Terminal != nil {
			environment["TERM"] = command.Terminal.Type
		}
	}
	maps.Copy(environment, command.Environment)
	command.Environment, command.ReplaceEnvironment, command.Keep, command.Unset = environment, true, nil, nil
	return u.Connection.Start(ctx, command)
}

// assigned returns the variables of assignments NAME=VALUE.
func assigned(assignments []string) map[string]string {
	variables := make(map[string]string, len(assignments))
	for _, assignment := range assignments {
		if name, value, found := strings.Cut(assignment, "="); found && name != "" {
			variables[name] = value
		}
	}
	return variables
}
