package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/daemon"
)

// largestInput bounds what is sent to a job at once.
const largestInput = 16 << 20

func newSend(a *app) *cobra.Command {
	var again bool
	c := &cobra.Command{
		Use:   "send [flags] JOB [TEXT...]",
		Short: "Feed input to an interactive job",
		Long: `send feeds a line to an interactive job that the background process hosts, as if it
was typed there: the words of TEXT, or all of standard input as it is where there
is no TEXT. With --input it is the input that the definition gives such jobs,
resolved again; the job has to be running.`,
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
	c.Flags().BoolVar(&again, "input", false, "send the input that the definition has for such jobs")
	return c
}

func (a *app) send(ctx context.Context, name string, words []string, again bool) error {
	job, err := a.findJob(ctx, name)
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
		input, err = job.controller.Input(ctx, job.Job)
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
