package main

import (
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/jobwatch"
)

func newWatch(a *app) *cobra.Command {
	w := &jobwatch.Watch{}
	var plain bool
	c := &cobra.Command{
		Use:               "watch [JOB...]",
		ValidArgsFunction: a.completeJobs(openJob),
		Short:             "Watch queues, nodes and jobs, or print events of jobs",
		Long: `watch shows resource managers, queues, nodes and jobs on the full screen of a terminal,
where you can submit and control jobs; press ? for the keys. -t limits it to one target.

With a job, --json, --plain, --after or a hook, or without a terminal, it queries jobs as
often as their definitions allow. Without --json or --after it first prints the state of
each job; then it prints each change of state on a line. It ends when all jobs that you
named have ended; if you named none, when it is interrupted.

Each event has a cursor. With --after it continues behind that event, also after a
restart: it leaves nothing out, and keeps the order of a job's events.`,
		Example: `  rmctl watch
  rmctl watch --json
  rmctl watch --after 1042 --json 4711
  rmctl watch --on-end 'notify-send "job $RMCTL_JOB_ID: $RMCTL_JOB_STATE"'`,
		RunE: func(c *cobra.Command, arguments []string) error {
			isScreen, err := a.wantsScreen(c, plain, arguments)
			if err != nil {
				return err
			}
			if isScreen {
				return a.showScreen(c.Context())
			}
			w.Resumes = c.Flags().Changed("after")
			w.Finder, w.JSON, w.Stdout, w.Messages = a.finder(), a.json, a.stdout, a.stderr
			return w.Run(c.Context(), arguments)
		},
	}
	c.Flags().Int64Var(&w.Cursor, "after", 0, "print events after `CURSOR`; 0 for all (default: from now on)")
	c.Flags().BoolVar(&plain, "plain", false, "print events on lines, also on a terminal")
	c.Flags().StringVar(&w.Hooks.OnChange, "on-change", "", "shell command `CMD` to run at each change of state, with RMCTL_JOB_… in its environment")
	addOnEnd(c, &w.Hooks.OnEnd)
	return c
}
