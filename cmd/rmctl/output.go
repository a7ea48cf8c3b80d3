package main

import (
	"github.com/spf13/cobra"
)

func newOutput(a *app) *cobra.Command {
	var stderr, follow bool
	c := &cobra.Command{
		Use:   "output JOB",
		Short: "Print what a job has written",
		Long: `output prints the file that a job's standard output goes to, as its definition
tells where that is. With -f it waits for the file, and prints what is added to
it until the job has ended.`,
		Example: `  rmctl output 4711
  rmctl output -f 4711
  rmctl output --stderr slurm/4711`,
		Args:              exactly(1, "a job"),
		ValidArgsFunction: a.completeOneJob(anyJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			job, err := a.findJob(c.Context(), arguments[0])
			if err != nil {
				return err
			}
			if follow {
				return job.controller.Follow(c.Context(), job.Job, stderr, a.stdout)
			}
			return job.controller.Output(c.Context(), job.Job, stderr, a.stdout)
		},
	}
	c.Flags().BoolVar(&stderr, "stderr", false, "print the standard error instead")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing until the job has ended")
	return c
}
