package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/selection"
)

// newOperation returns the command for an operation on jobs.
func newOperation(a *app, operation control.Operation, short, long string) *cobra.Command {
	name := string(operation)
	return &cobra.Command{
		Use:               name + " JOB...",
		Short:             short,
		Long:              long + "\nThe next status shows the effect. A job that has ended is an error; the other jobs are\nprocessed nevertheless.",
		Example:           "  rmctl " + name + " 4711\n  rmctl " + name + " slurm/4711 slurm/4712",
		Args:              atLeast(1, "a job"),
		ValidArgsFunction: a.completeJobs(openJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			jobs, err := a.finder().Jobs(c.Context(), arguments)
			for _, job := range jobs {
				err = errors.Join(err, a.operate(c.Context(), operation, job))
			}
			return err
		},
	}
}

// operate applies an operation to a job.
func (a *app) operate(ctx context.Context, operation control.Operation, job selection.Handle) error {
	if operation == control.Cancel {
		return a.client().Cancel(ctx, job.Job)
	}
	return job.Controller.Operate(ctx, operation, job.Job)
}

// largestInput bounds the input that is sent to a job at once, in bytes.
const largestInput = 16 << 20

func newSend(a *app) *cobra.Command {
	var again bool
	c := &cobra.Command{
		Use:   "send [flags] JOB [TEXT...]",
		Short: "Send input to an interactive job",
		Long: `send sends a line to an interactive job of the background process, as if it were typed
there: the words of TEXT or, without TEXT, all of standard input. With --input it sends
the definition's input for such jobs, resolved again; the job has to be running.`,
		Example: `  rmctl send 4711 run next.dat
  rmctl send 4711 <commands.txt
  rmctl send --input 4711`,
		Args:              atLeast(1, "a job"),
		ValidArgsFunction: a.completeOneJob(attachableJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			if again && len(arguments) > 1 {
				return usage("send: --input sends the definition's input; it takes no text")
			}
			return a.send(c.Context(), arguments[0], arguments[1:], again)
		},
	}
	c.Flags().SetInterspersed(false) // what follows the job is text
	c.Flags().BoolVar(&again, "input", false, "send the definition's input for such jobs")
	return c
}

func (a *app) send(ctx context.Context, name string, words []string, again bool) error {
	job, err := a.finder().Job(ctx, name)
	if err != nil {
		return err
	}
	sessions, err := a.sessionOf(ctx, job)
	if err != nil {
		return fmt.Errorf("sending input: %w", err)
	}
	input := strings.Join(words, " ") + "\n"
	switch {
	case again:
		input, err = job.Controller.Input(ctx, job.Job)
	case len(words) == 0:
		input, err = a.readInput()
	}
	if err != nil {
		return err
	}
	err = sessions.Send(ctx, job.Tag, []byte(input))
	if errors.Is(err, daemon.ErrNoSession) {
		return fmt.Errorf("sending input to job %s: it has just ended", job.ID)
	}
	return err
}

func (a *app) readInput() (string, error) {
	input, err := io.ReadAll(io.LimitReader(a.stdin, largestInput+1))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(input) > largestInput {
		return "", fmt.Errorf("standard input is longer than %d bytes, which is as much as can be sent at once", largestInput)
	}
	return string(input), nil
}

func newOutput(a *app) *cobra.Command {
	var follow bool
	var stream control.Stream
	c := &cobra.Command{
		Use:   "output JOB",
		Short: "Print what a job has written",
		Long: `output prints the file that a job's standard output goes to, which the definition
names. With -f it waits for the file, and prints what is added to it until the job has
ended. Of an array it prints the output of the first task that has begun, and says which
one that is, or that of --task.`,
		Example: `  rmctl output 4711
  rmctl output -f 4711
  rmctl output --task 3 4711
  rmctl output --stderr slurm/4711`,
		Args:              exactly(1, "a job"),
		ValidArgsFunction: a.completeOneJob(anyJob),
		RunE: func(c *cobra.Command, arguments []string) error {
			job, err := a.finder().Job(c.Context(), arguments[0])
			if err != nil {
				return err
			}
			if stream.Task == "" {
				stream.Chosen = func(task, name string) { a.say("task %s of array %s: %s", task, job.ID, name) }
			}
			return a.printOutputs(c.Context(), []selection.Handle{job}, stream, follow)
		},
	}
	c.Flags().StringVar(&stream.Task, "task", "", "print the output of task `N` of an array")
	c.Flags().BoolVar(&stream.Stderr, "stderr", false, "print standard error instead")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until the job has ended")
	return c
}

// printOutputs prints the output of jobs, each under its name if there are several.
func (a *app) printOutputs(ctx context.Context, jobs []selection.Handle, stream control.Stream, follow bool) error {
	var problems []error
	for i, job := range jobs {
		if len(jobs) > 1 {
			fmt.Fprintf(a.stdout, "%s==> %s <==\n", strings.Repeat("\n", min(i, 1)), oneLine(job.Label()))
		}
		print := job.Controller.Output
		if follow {
			print = job.Controller.Follow
		}
		problems = append(problems, print(ctx, job.Job, stream, a.stdout))
	}
	return errors.Join(problems...)
}
