package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/ensembles"
	"github.com/rmctl/rmctl/internal/selection"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

func newCoalloc(a *app) *cobra.Command {
	return ensembles.NewCommand(a.ensembleEnvironment())
}

func newRSL(a *app) *cobra.Command { return ensembles.NewRSLCommand(a.ensembleEnvironment()) }

func (a *app) ensembleEnvironment() ensembles.Environment {
	return ensembles.Environment{
		Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, IsJSON: func() bool { return a.json },
		Service: a.ensembles, Prepare: a.prepareTargets, Output: a.printOutputOf,
		Place: func(target string, s job.Submission) (job.Submission, error) {
			return placed(s, a.isTargetElsewhere(target))
		},
		Exit: exitWith,
	}
}

// ensembles returns what runs and finds the ensembles of the user.
func (a *app) ensembles() (*ensembles.Service, error) {
	isEnabled, err := a.usesBackground()
	configuration, folderErr := a.client().ConfigFolder()
	if err = errors.Join(err, folderErr); err != nil {
		return nil, err
	}
	sources, err := coalloc.SourcesOf(a.client(), configuration)
	caller := &ensembles.Caller{Kept: a.client(), Connect: func(ctx context.Context, target settings.Target) (remote.Connection, error) {
		return a.newConnection(ctx, target, a.prompter())
	}}
	service := &ensembles.Service{Client: a.client(), Run: caller.Run, Sources: sources, Log: a.log()}
	if isEnabled {
		service.Launch = a.launchEnsemble
		service.Renew = func(ctx context.Context) error {
			_, err := a.backgroundClient(ctx)
			return err
		}
	}
	return service, err
}

// prepareTargets connects to targets, so that SSH prompts appear on this terminal.
func (a *app) prepareTargets(ctx context.Context, names []string) {
	a.prompter() // before several connections need it
	ensembles.Reach(ctx, a.client(), names)
}

// printOutputOf prints what the jobs of submissions have written.
func (a *app) printOutputOf(ctx context.Context, tags []string, stream control.Stream, follow bool) error {
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	var jobs []job.Job
	for _, tag := range tags {
		found, err := store.ByTag(ctx, tag)
		if err != nil {
			return err
		}
		jobs = append(jobs, found)
	}
	handles, err := a.finder().WithControllers(ctx, jobs)
	handles = slices.DeleteFunc(handles, func(h selection.Handle) bool { return h.Controller == nil })
	return errors.Join(a.printOutputs(ctx, handles, stream, follow), err)
}

// ensembleLaunch is the session of the background process that runs an ensemble.
func (a *app) ensembleLaunch(id string) (daemon.Launch, error) {
	request, err := a.hostedRequest(hostedJob{Ensemble: id})
	return daemon.Launch{Name: "ensemble:" + id, Request: request, Yields: true}, err
}

// launchEnsemble makes the background process run an ensemble, and waits until it does.
func (a *app) launchEnsemble(ctx context.Context, id string) error {
	launch, err := a.ensembleLaunch(id)
	if err != nil {
		return err
	}
	background, err := a.backgroundClient(ctx)
	if err != nil {
		return err
	}
	return ensembles.LaunchIn(ctx, background, launch)
}

// hostEnsemble runs an ensemble in the background process.
func (a *app) hostEnsemble(ctx context.Context, id string, session daemon.Hosted) (code int, err error) {
	service := &ensembles.Service{Client: a.client(), Log: a.log()}
	status, err := service.Host(ctx, id, false, func(coalloc.Control) {
		fmt.Fprintln(session.Stdout, "running") // a client may wait for it
	})
	if err != nil {
		return exitCode(err), err
	}
	return status.ExitCode(), nil
}

// liveEnsembles returns the sessions of the ensembles that the background process has to run.
func (a *app) liveEnsembles(ctx context.Context) ([]daemon.Launch, error) {
	ids, err := (&ensembles.Service{Client: a.client()}).Live(ctx)
	var launches []daemon.Launch
	for _, id := range ids {
		launch, launchErr := a.ensembleLaunch(id)
		if err = errors.Join(err, launchErr); launchErr == nil {
			launches = append(launches, launch)
		}
	}
	return launches, err
}
