package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newStart(a *app) *cobra.Command {
	var fresh bool
	c := &cobra.Command{
		Use:   "start",
		Short: "Start a session: run the definition's start-up commands",
		Long: `Run the start-up commands of the target's definition, which find its queues, for example.

Other commands start a session when they need one.`,
		Example: `  rmctl start -t slurm
  rmctl start -t slurm --fresh`,
		RunE: func(c *cobra.Command, _ []string) error {
			controller, err := a.controller(c.Context(), "")
			if err != nil {
				return err
			}
			return controller.Start(c.Context(), fresh)
		},
	}
	c.Flags().BoolVar(&fresh, "fresh", false, "run the commands even if they ran recently")
	return c
}

func newStop(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "stop",
		Short:   "Stop the session: run the definition's shut-down commands",
		Long:    "Run the shut-down commands, and discard what the session found. Jobs keep running.",
		Example: "  rmctl stop -t slurm",
		RunE: func(c *cobra.Command, _ []string) error {
			controller, err := a.controller(c.Context(), "")
			if err != nil {
				return err
			}
			return controller.Stop(c.Context())
		},
	}
}

func newAction(a *app) *cobra.Command {
	var flags submissionFlags
	c := &cobra.Command{
		Use:   "action NAME",
		Short: "Run one of the definition's actions",
		Long: `Run a button action, start-up command or shut-down command of the definition by its name,
and keep what it finds. rmctl describe lists the names.`,
		Example:           "  rmctl action -t slurm get-queues",
		Args:              atLeast(1, "NAME"),
		ValidArgsFunction: a.completeActions,
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := c.Flags().Parse(arguments[1:]); err != nil {
				return &usageError{err}
			}
			r, err := a.request(flags, append([]string{""}, c.Flags().Args()...))
			if err != nil {
				return err
			}
			controller, err := a.controllerOf(c.Context(), r.launch)
			if err != nil {
				return err
			}
			result, err := controller.Action(c.Context(), arguments[0], r.Submission)
			if err != nil {
				return r.located(err)
			}
			if a.verbose > 0 {
				fmt.Fprint(a.stderr, printable(result.Stdout))
			}
			return nil
		},
	}
	flags.add(a, c)
	return c
}
