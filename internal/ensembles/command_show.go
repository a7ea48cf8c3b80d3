package ensembles

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

func newStatus(e Environment) *cobra.Command {
	var start bool
	c := &cobra.Command{
		Use:   "status [ID]",
		Short: "Show an ensemble, its parts and who has checked in",
		Long: `Show the state of an ensemble and its parts, by default of all ensembles that have not
ended. Without --start, rmctl queries no scheduler.`,
		Example:           "  rmctl coalloc status last\n  rmctl coalloc status --json 4f1c2a7e5b0f\n  rmctl coalloc status --start last",
		ValidArgsFunction: e.completeIDs(true, 0),
		Args:              optionalID,
		RunE: func(c *cobra.Command, words []string) error {
			shown, err := e.statuses(c.Context(), words)
			if start && err == nil {
				err = e.estimateStarts(c.Context(), shown)
			}
			return errors.Join(e.printStatuses(shown), err)
		},
	}
	c.Flags().BoolVar(&start, "start", false, "query the expected start of queued jobs")
	return c
}

// estimateStarts queries the schedulers for the expected start of the jobs that wait.
func (e *Environment) estimateStarts(ctx context.Context, shown []coalloc.Status) error {
	service, err := e.Service()
	if err != nil {
		return err
	}
	for i := range shown {
		service.EstimateStarts(ctx, &shown[i])
	}
	return nil
}

func optionalID(c *cobra.Command, words []string) error {
	if len(words) > 1 {
		return usage("unexpected argument %q\nsee %s --help", words[1], c.CommandPath())
	}
	return nil
}

func (e *Environment) statuses(ctx context.Context, words []string) ([]coalloc.Status, error) {
	if len(words) == 0 {
		service, err := e.Service()
		if err != nil {
			return nil, err
		}
		return service.List(ctx, false)
	}
	status, err := e.status(ctx, words[0])
	if status.ID == "" {
		return nil, err
	}
	return []coalloc.Status{status}, err // the last known one with an error
}

// status returns an ensemble. If no process runs it, status starts one.
func (e *Environment) status(ctx context.Context, name string) (coalloc.Status, error) {
	service, id, err := e.find(ctx, name)
	if err != nil {
		return coalloc.Status{}, err
	}
	ensemble, err := service.show(ctx, id)
	if err != nil {
		return coalloc.Status{}, err
	}
	return ensemble.Status(ctx)
}

func (e *Environment) printStatuses(shown []coalloc.Status) error {
	for i := range shown {
		if e.IsJSON() {
			if err := terminal.JSON(e.Stdout, shown[i]); err != nil {
				return err
			}
			continue
		}
		if err := e.printStatus(&shown[i], i > 0); err != nil {
			return err
		}
	}
	if len(shown) == 0 && !e.IsJSON() && terminal.Is(e.Stdout) {
		e.say("no ensemble is active; rmctl coalloc list --all shows the others")
	}
	return nil
}

func (e *Environment) printStatus(s *coalloc.Status, isNext bool) error {
	whole := s.Waits()
	_, err := fmt.Fprintf(e.Stdout, "%s%s: %s\n", strings.Repeat("\n", btoi(isNext)), tui.OneLine(title(s)), tui.OneLine(string(s.State)+", "+whole))
	if err != nil {
		return err
	}
	rows := make([][]string, len(s.Parts))
	for i, p := range s.Parts {
		rows[i] = []string{
			terminal.OrDash(p.Label), terminal.OrDash(p.Target), terminal.OrDash(string(p.Kind)), terminal.OrDash(string(p.State)),
			arrivals(p), terminal.OrDash(p.JobID), exitText(p.ExitCode), terminal.OrDash(note(p)),
		}
	}
	err = terminal.Table(e.Stdout, []string{"PART", "TARGET", "KIND", "STATE", "CHECKED IN", "JOB", "EXIT", "NOTE"}, rows)
	return errors.Join(err, e.printSets(s, ""))
}

// printSets prints what sets of alternatives wait for, and how the user can continue.
func (e *Environment) printSets(s *coalloc.Status, indent string) error {
	var lines []string
	for i := range s.Sets {
		lines = append(lines, "set "+s.Sets[i].Name+": "+s.Sets[i].Waits())
	}
	for _, hint := range s.Hints() {
		lines = append(lines, "hint: "+hint)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(e.Stdout, indent+tui.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// arrivals returns how many processes of a part have checked in. Released ones need no connection any more.
func arrivals(p coalloc.PartStatus) string {
	switch {
	case p.Gate == coalloc.NoGate:
		return "-"
	case p.State == coalloc.PartReleased, p.State == coalloc.PartDone:
		return fmt.Sprintf("%d/%d", p.Count, p.Count)
	}
	return fmt.Sprintf("%d/%d", p.CheckedIn, p.Count)
}

func exitText(code *int) string {
	if code == nil {
		return "-"
	}
	return strconv.Itoa(*code)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// title returns the id and the name of an ensemble, and where it runs.
func title(s *coalloc.Status) string {
	text := s.ID
	if s.Name != "" {
		text += " " + s.Name
	}
	if s.At != "" {
		text += " at " + s.At
	}
	return text
}

// note returns the reason of a part, its expected start, and whether its job may still exist.
func note(p coalloc.PartStatus) string {
	text := p.Reason
	switch {
	case !p.ExpectedStart.IsZero():
		text += "; expected start " + terminal.Clock(p.ExpectedStart)
	case p.StartProblem != "":
		text += "; expected start unknown: " + p.StartProblem
	}
	if p.Unconfirmed {
		text += "; cancel not confirmed"
	}
	return strings.TrimPrefix(text, "; ")
}

func newList(e Environment) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List ensembles",
		Long:    "List ensembles that have not ended, newest first.",
		Example: "  rmctl coalloc list\n  rmctl coalloc list --all --json",
		RunE: func(c *cobra.Command, _ []string) error {
			service, err := e.Service()
			if err != nil {
				return err
			}
			shown, err := service.List(c.Context(), all)
			return errors.Join(e.printList(shown), err)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "include ensembles that have ended")
	return c
}

func (e *Environment) printList(shown []coalloc.Status) error {
	now := time.Now()
	rows := make([][]string, len(shown))
	for i, s := range shown {
		if e.IsJSON() {
			if err := terminal.JSON(e.Stdout, s); err != nil {
				return err
			}
		}
		rows[i] = []string{
			terminal.OrDash(s.ID), terminal.OrDash(string(s.State)), strconv.Itoa(len(s.Parts)), terminal.Age(s.Created, now) + " ago",
			terminal.OrDash(s.At), terminal.OrDash(s.Name), terminal.OrDash(s.Reason),
		}
	}
	switch {
	case e.IsJSON():
		return nil
	case len(shown) == 0 && terminal.Is(e.Stdout):
		e.say("no ensemble is active; --all shows the others")
	}
	return terminal.Table(e.Stdout, []string{"ENSEMBLE", "STATE", "PARTS", "CREATED", "AT", "NAME", "NOTE"}, rows)
}

func newExplain(e Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Explain what an ensemble and its parts wait for",
		Long: `Explain what an ensemble and each part wait for, and what has happened so far.

If the definitions support it, rmctl queries the expected start of queued jobs.`,
		Example:           "  rmctl coalloc explain last",
		Args:              arguments("ID"),
		ValidArgsFunction: e.completeIDs(true, 0),
		RunE: func(c *cobra.Command, words []string) error {
			status, err := e.status(c.Context(), words[0])
			if err != nil {
				return err
			}
			shown := []coalloc.Status{status}
			err = e.estimateStarts(c.Context(), shown)
			status = shown[0]
			if err := errors.Join(e.explain(&status), err); err != nil || e.IsJSON() {
				return err
			}
			if _, err := fmt.Fprintln(e.Stdout); err != nil {
				return err
			}
			return e.events(c.Context(), status.ID, 0, false)
		},
	}
}

// An explanation is what explain --json prints.
type explanation struct {
	ID    string            `json:"id"`
	State coalloc.State     `json:"state"`
	Waits string            `json:"waits"`
	Parts []partExplanation `json:"parts"`
	Sets  []setExplanation  `json:"sets,omitempty"`
	Hints []string          `json:"hints,omitempty"`
}

type setExplanation struct {
	Name  string `json:"name"`
	Waits string `json:"waits"`
}

type partExplanation struct {
	Label string            `json:"label"`
	State coalloc.PartState `json:"state"`
	Waits string            `json:"waits"`

	ExpectedStart time.Time `json:"expectedStart,omitzero"`
	StartProblem  string    `json:"startProblem,omitempty"`
}

func (e *Environment) explain(s *coalloc.Status) error {
	whole := s.Waits()
	if e.IsJSON() {
		document := explanation{ID: s.ID, State: s.State, Waits: whole, Parts: []partExplanation{}, Hints: s.Hints()}
		for _, p := range s.Parts {
			document.Parts = append(document.Parts, partExplanation{p.Label, p.State, p.Waits(), p.ExpectedStart, p.StartProblem})
		}
		for i := range s.Sets {
			document.Sets = append(document.Sets, setExplanation{s.Sets[i].Name, s.Sets[i].Waits()})
		}
		return terminal.JSON(e.Stdout, document)
	}
	_, err := fmt.Fprintf(e.Stdout, "%s: %s\n", tui.OneLine(title(s)), tui.OneLine(whole))
	for _, p := range s.Parts {
		if err == nil {
			_, err = fmt.Fprintf(e.Stdout, "  %s: %s\n", tui.OneLine(p.Label), tui.OneLine(p.Waits()))
		}
	}
	return errors.Join(err, e.printSets(s, "  "))
}
