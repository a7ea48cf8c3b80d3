package ensembles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
)

func newAdd(e Environment) *cobra.Command {
	var sent sentText
	c := &cobra.Command{
		Use:               "add ID FILE",
		Short:             "Add parts before the release",
		Long:              "Add the parts of FILE, or of standard input (-), to an ensemble before its release.",
		Example:           "  rmctl coalloc add last more.toml",
		Args:              arguments("ID", "FILE"),
		ValidArgsFunction: e.completeIDs(false, 0),
		RunE: func(c *cobra.Command, words []string) error {
			return e.editText(c.Context(), words[0], "", words[1], sent)
		},
	}
	sent.addEditFlags(c)
	return c
}

func newDelete(e Environment) *cobra.Command {
	return &cobra.Command{
		Use:               "delete ID PART...",
		Short:             "Delete parts before the release",
		Long:              "Delete parts by label before the release, and cancel their jobs.",
		Example:           "  rmctl coalloc delete last solver",
		Args:              arguments("ID", "PART..."),
		ValidArgsFunction: e.completeIDs(false, 1<<10),
		RunE: func(c *cobra.Command, words []string) error {
			return e.edit(c.Context(), words[0], func(ensemble coalloc.Control) error { return ensemble.Delete(c.Context(), words[1:]...) })
		},
	}
}

func newSubstitute(e Environment) *cobra.Command {
	var sent sentText
	c := &cobra.Command{
		Use:               "substitute ID PART FILE",
		Short:             "Replace a part before the release",
		Long:              "Replace a part with the one in FILE before the release. The index stays the same.",
		Example:           "  rmctl coalloc substitute last solver other.toml",
		Args:              arguments("ID", "PART", "FILE"),
		ValidArgsFunction: e.completeIDs(false, 1),
		RunE: func(c *cobra.Command, words []string) error {
			return e.editText(c.Context(), words[0], words[1], words[2], sent)
		},
	}
	sent.addEditFlags(c)
	return c
}

func newCommit(e Environment) *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use:               "commit ID",
		Short:             "Release an ensemble once its required parts have checked in",
		Long:              `Release an ensemble once all required parts have checked in.`,
		Example:           "  rmctl coalloc commit last\n  rmctl coalloc commit --now last",
		Args:              arguments("ID"),
		ValidArgsFunction: e.completeIDs(false, 0),
		RunE: func(c *cobra.Command, words []string) error {
			return e.edit(c.Context(), words[0], func(ensemble coalloc.Control) error { return ensemble.Commit(c.Context(), now) })
		},
	}
	c.Flags().BoolVar(&now, "now", false, "release at once; if a required part is missing, cancel the ensemble and exit with 1")
	return c
}

func newCancel(e Environment) *cobra.Command {
	return &cobra.Command{
		Use:               "cancel ID",
		Short:             "Cancel all parts of an ensemble",
		Long:              `Cancel all parts of an ensemble, before or after the release.`,
		Example:           "  rmctl coalloc cancel last",
		Args:              arguments("ID"),
		ValidArgsFunction: e.completeIDs(false, 0),
		RunE: func(c *cobra.Command, words []string) error {
			service, id, err := e.find(c.Context(), words[0])
			if err != nil {
				return err
			}
			ensemble, err := service.Cancel(c.Context(), id)
			return e.edited(c.Context(), ensemble, err)
		},
	}
}

// newWithdraw returns the command with which another host prevents that its submission still arrives.
func newWithdraw(e Environment) *cobra.Command {
	return &cobra.Command{
		Use:    "withdraw ID",
		Short:  "Print an ensemble, or prevent its submission",
		Hidden: true,
		Args:   arguments("ID"),
		RunE: func(c *cobra.Command, words []string) error {
			service, err := e.Service()
			if err != nil {
				return err
			}
			if err := coalloc.Withdraw(c.Context(), service.Client, words[0]); err != nil && !errors.Is(err, coalloc.ErrRecorded) {
				return err
			}
			return e.printSubmitted(c.Context(), service, words[0])
		},
	}
}

func newWait(e Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until an ensemble ends",
		Long: `Wait until an ensemble ends, and exit with the worst exit code of its parts.

rmctl prints events on standard error, and prompts you to log in to targets if necessary.
If the background process is disabled, this command runs the ensemble.`,
		Example:           "  rmctl coalloc wait last",
		Args:              arguments("ID"),
		ValidArgsFunction: e.completeIDs(false, 0),
		RunE: func(c *cobra.Command, words []string) error {
			service, id, err := e.find(c.Context(), words[0])
			if err != nil {
				return err
			}
			return e.wait(c.Context(), service, id, false)
		},
	}
}

// eventText returns an event for people.
func eventText(event coalloc.EnsembleEvent) string {
	text := event.Label
	if text != "" {
		text += ": "
	}
	if event.State != "" {
		text += event.State
	}
	switch {
	case event.Text == "":
		return text
	case event.State != "":
		return text + " (" + event.Text + ")"
	}
	return text + event.Text
}

func newEvents(e Environment) *cobra.Command {
	var follow bool
	var after int
	c := &cobra.Command{
		Use:               "events ID",
		Short:             "Print the events of an ensemble",
		Long:              "Print the events of an ensemble and its parts.",
		Example:           "  rmctl coalloc events last\n  rmctl coalloc events -f --json last",
		Args:              arguments("ID"),
		ValidArgsFunction: e.completeIDs(true, 0),
		RunE: func(c *cobra.Command, words []string) error {
			_, id, err := e.find(c.Context(), words[0])
			if err != nil {
				return err
			}
			return e.events(c.Context(), id, after, follow)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until the ensemble has ended")
	c.Flags().IntVar(&after, "after", 0, "sequence number `N` of the last event to skip")
	return c
}

func (e *Environment) events(ctx context.Context, id string, after int, follow bool) error {
	service, err := e.Service()
	if err != nil {
		return err
	}
	table := terminal.NewTable(e.Stdout, []string{"TIME", "WHAT", "PART", "STATE", "TEXT"})
	show := func(event coalloc.EnsembleEvent) error {
		if e.IsJSON() {
			return terminal.JSON(e.Stdout, event)
		}
		return table.Add([]string{terminal.Clock(event.Time), terminal.OrDash(string(event.Kind)), terminal.OrDash(event.Label), terminal.OrDash(event.State), terminal.OrDash(event.Text)})
	}
	if !follow {
		events, err := service.Events(ctx, id, after)
		for _, event := range events {
			if err == nil {
				err = show(event)
			}
		}
		return errors.Join(err, table.Flush())
	}
	ensemble, err := service.show(ctx, id)
	if err != nil {
		return err
	}
	return ensemble.Events(ctx, after, func(event coalloc.EnsembleEvent) error {
		return errors.Join(show(event), table.Flush())
	})
}

func newOutput(e Environment) *cobra.Command {
	var follow bool
	var stream control.Stream
	c := &cobra.Command{
		Use:     "output ID [PART...]",
		Short:   "Print the output of parts",
		Long:    `Print the standard output of an ensemble's jobs, by default of all parts that have run.`,
		Example: "  rmctl coalloc output last\n  rmctl coalloc output -f last solver",
		Args: func(c *cobra.Command, words []string) error {
			return arguments("ID", "PART...")(c, append(slices.Clone(words), "")) // parts may be left out
		},
		ValidArgsFunction: e.completeIDs(true, 1<<10),
		RunE: func(c *cobra.Command, words []string) error {
			return e.output(c.Context(), words[0], words[1:], stream, follow)
		},
	}
	c.Flags().BoolVar(&stream.Stderr, "stderr", false, "print standard error instead")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until the job has ended; requires a single part")
	return c
}

func (e *Environment) output(ctx context.Context, name string, labels []string, stream control.Stream, follow bool) error {
	service, id, err := e.find(ctx, name)
	if err != nil {
		return err
	}
	ensemble, err := service.show(ctx, id)
	if err != nil {
		return err
	}
	status, err := ensemble.Status(ctx)
	if err != nil {
		return err
	}
	if status.At != "" {
		words := []string{"coalloc", "output", fmt.Sprintf("--stderr=%v", stream.Stderr), fmt.Sprintf("--follow=%v", follow), "--", id}
		return e.elsewhere(ctx, service, status.At, append(words, labels...), nil)
	}
	tags, err := tagsOf(&status, labels)
	if err != nil {
		return err
	}
	if follow && len(tags) > 1 {
		return usage("--follow requires a single part")
	}
	return e.Output(ctx, tags, stream, follow)
}

// tagsOf returns the tags of the jobs of some parts; without labels, those of all jobs that ran.
func tagsOf(s *coalloc.Status, labels []string) (tags []string, err error) {
	for _, label := range labels {
		if !slices.ContainsFunc(s.Parts, func(p coalloc.PartStatus) bool { return p.Label == label }) {
			return nil, fmt.Errorf("%w %q", coalloc.ErrUnknownPart, label)
		}
	}
	for _, p := range s.Parts {
		hasRun := !p.Active.IsZero() || p.State == coalloc.PartDone || p.State == coalloc.PartFailed
		if p.JobID != "" && (len(labels) == 0 && hasRun || slices.Contains(labels, p.Label)) {
			tags = append(tags, p.Tag)
		}
	}
	return tags, nil
}
