package ensembles

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

type submitFlags struct {
	commit, wait, holdFirst, dryRun bool

	at, id string
	sent   sentText
}

func newSubmit(e Environment) *cobra.Command {
	var flags submitFlags
	c := &cobra.Command{
		Use:   "submit FILE",
		Short: "Submit an ensemble",
		Long: `Submit the parts of a request in TOML, JSON or RSL, and print the id of the ensemble.
FILE may be - for standard input.

The processes wait at the barrier until the commit. If one part cannot be submitted, rmctl
submits the others nevertheless; coalloc status shows the reason.

With --at, rmctl on the login node of a target runs the ensemble, with its own targets, so
that nothing depends on this machine.`,
		Example: `  rmctl coalloc submit coupled.toml
  rmctl coalloc submit --commit --wait coupled.toml
  rmctl coalloc submit --at cluster --commit - <coupled.toml`,
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, words []string) error {
			if flags.at != "" {
				if flags.dryRun {
					return usage("--dry-run cannot be used together with --at; rmctl coalloc plan --at shows the parts")
				}
				return e.submitAt(c.Context(), words[0], flags)
			}
			service, r, err := e.request(c.Context(), words[0], flags.sent)
			if err != nil {
				return err
			}
			if r.ID = flags.id; r.ID != "" {
				if err := r.Check(); err != nil {
					return usage("%w", err)
				}
			}
			r.HoldFirst = r.HoldFirst || flags.holdFirst
			if flags.dryRun || r.DryRun {
				return e.plan(c.Context(), service, r, true)
			}
			e.prepare(c.Context(), r.Parts)
			return e.submit(c.Context(), service, r, flags)
		},
	}
	c.Flags().BoolVar(&flags.commit, "commit", false, "release the ensemble once all required parts have checked in")
	c.Flags().BoolVar(&flags.wait, "wait", false, "wait for the end, print events, and exit with the worst exit code of the parts")
	c.Flags().BoolVar(&flags.holdFirst, "hold-first", false, "submit jobs on hold, and release them once all are accepted")
	c.Flags().BoolVar(&flags.dryRun, "dry-run", false, "print what would run for each part, without running it")
	c.Flags().StringVar(&flags.id, "id", "", "`ID` of the ensemble, 12 hexadecimal digits; submitting it again has no effect")
	flags.sent.addLength(c)
	addAt(c, &flags.at)
	return c
}

func addAt(c *cobra.Command, at *string) {
	c.Flags().StringVar(at, "at", "", "`TARGET` whose login node runs this command")
}

func (e *Environment) submit(ctx context.Context, service *Service, r *coalloc.Request, flags submitFlags) error {
	if service.Launch != nil {
		id, err := service.Submit(ctx, r, flags.commit)
		return e.submitted(ctx, service, id, err, flags.wait, false)
	}
	if !flags.wait {
		return usage("the background process is disabled, so nothing would run the ensemble\nadd --wait")
	}
	id, err := service.record(ctx, r)
	return e.submitted(ctx, service, id, err, true, flags.commit)
}

// submitted prints a new ensemble, and waits for its end with --wait.
func (e *Environment) submitted(ctx context.Context, service *Service, id string, failure error, waits, commit bool) error {
	if id == "" {
		return failure
	}
	if err := errors.Join(failure, e.printSubmitted(ctx, service, id)); err != nil || !waits {
		return err
	}
	return e.wait(ctx, service, id, commit)
}

func (e *Environment) printSubmitted(ctx context.Context, service *Service, id string) error {
	if !e.IsJSON() {
		_, err := fmt.Fprintln(e.Stdout, tui.OneLine(id))
		return err
	}
	ensemble, err := service.Follow(ctx, id)
	if err != nil {
		return err
	}
	status, err := ensemble.Status(ctx)
	if err != nil {
		return err
	}
	return terminal.JSON(e.Stdout, status)
}

func (e *Environment) submitAt(ctx context.Context, file string, flags submitFlags) error {
	service, text, err := e.open(file, sentText{})
	if err != nil {
		return err
	}
	var words []string
	if flags.commit {
		words = append(words, "--commit")
	}
	if flags.holdFirst {
		words = append(words, "--hold-first")
	}
	id, err := service.SubmitAt(ctx, flags.at, flags.id, text, words...)
	if err != nil {
		return err // which names the ensemble if it may exist
	}
	return e.submitted(ctx, service, id, nil, flags.wait, false)
}

func newPlan(e Environment) *cobra.Command {
	var at string
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "Check parts and show when they would start",
		Long: `Check each part of a request with its target, and print when the scheduler expects it to
start. FILE may be - for standard input.

rmctl submits nothing, and exits with 1 if a part cannot be submitted.`,
		Example: "  rmctl coalloc plan coupled.toml\n  rmctl coalloc plan --json coupled.rsl",
		Args:    arguments("FILE"),
		RunE: func(c *cobra.Command, words []string) error {
			if at == "" {
				service, r, err := e.request(c.Context(), words[0], sentText{})
				if err != nil {
					return err
				}
				return e.plan(c.Context(), service, r, false)
			}
			service, text, err := e.open(words[0], sentText{})
			if err != nil {
				return err
			}
			return e.elsewhere(c.Context(), service, at, []string{"coalloc", "plan", "-"}, bytes.NewReader(text))
		},
	}
	addAt(c, &at)
	return c
}

// plan prints for each part when the scheduler expects it to start or, as a whole, what would be submitted.
func (e *Environment) plan(ctx context.Context, service *Service, r *coalloc.Request, whole bool) error {
	e.prepare(ctx, r.Parts)
	isPossible, err := printPlans(e.Stdout, coalloc.Plan(ctx, service.Client, r, !whole), e.IsJSON(), whole)
	if err == nil && !isPossible {
		return e.Exit(1)
	}
	return err
}

func newConvert(e Environment) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:     "convert FILE",
		Short:   "Convert a request between TOML and RSL",
		Long:    `Convert a request in TOML to RSL, or one in RSL to TOML. FILE may be - for standard input.`,
		Example: "  rmctl coalloc convert old.rsl >new.toml",
		Args:    arguments("FILE"),
		RunE: func(c *cobra.Command, words []string) error {
			service, text, err := e.open(words[0], sentText{})
			if err != nil {
				return err
			}
			r, err := service.Read(c.Context(), text)
			if err != nil {
				return usage("%s: %w", words[0], err)
			}
			isRSL := coalloc.FormatOf(text) == coalloc.RSL
			switch {
			case to == "rsl" || to == "" && !isRSL:
				text = []byte(r.RSL() + "\n")
			case to == "toml" || to == "":
				text, err = r.TOML()
			default:
				return usage("--to %q: write rsl or toml", to)
			}
			if err == nil {
				_, err = fmt.Fprint(e.Stdout, tui.Printable(string(text)))
			}
			return err
		},
	}
	c.Flags().StringVar(&to, "to", "", "output `FORMAT`: rsl or toml (default: the other one)")
	return c
}
