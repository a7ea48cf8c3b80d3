package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/describe"
	"github.com/rmctl/rmctl/internal/listings"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/rms"
)

func newTargets(a *app) *cobra.Command {
	definitions := false
	choices := &listings.Choices{}
	c := &cobra.Command{
		Use:   "targets",
		Short: "List the targets",
		Long: `targets lists where jobs can run: each shipped definition on this machine, the targets
of ` + settings.SiteFolder + "/" + settings.TargetsFile + ` for all users, and those of your targets.toml. The default is
marked. If there is a file for all users, the columns FROM, INTERVAL and LOCKED show which
file a target comes from, how often its jobs can be listed, and which settings yours cannot
change. With --definitions it lists the shipped definitions instead, with what each was
tested against.`,
		Example: "  rmctl targets\n  rmctl targets --json\n  rmctl targets --definitions",
		RunE: func(_ *cobra.Command, _ []string) error {
			if definitions {
				return a.printShippedDefinitions()
			}
			targets, err := a.client().Targets()
			if err != nil {
				return err
			}
			output, err := a.chosen(choices)
			if err != nil {
				return err
			}
			return listings.Targets(settings.HaveSite(targets)).PrintAll(output, targets.Documents(), "")
		},
	}
	addListing(c, choices)
	c.Flags().BoolVar(&definitions, "definitions", false, "list the shipped definitions and what each was tested against")
	return c
}

// shippedJSON is how a shipped definition is printed as JSON; the names are a contract.
type shippedJSON struct {
	Name          string           `json:"name"`
	Mode          string           `json:"mode"` // batch, interactive or none
	SchedulerType string           `json:"schedulerType,omitempty"`
	Proven        []describe.Proof `json:"proven"`
}

func (a *app) printShippedDefinitions() error {
	var rows [][]string
	for _, name := range rms.Names() {
		definition, _, err := check.UsableDefinition(name)
		if err != nil {
			return err
		}
		described := describe.Of(definition)
		shown := shippedJSON{name, described.Mode, described.SchedulerType, described.Proven}
		if a.json {
			if err := terminal.JSON(a.stdout, shown); err != nil {
				return err
			}
			continue
		}
		first := []string{name, shown.Mode}
		for _, proof := range shown.Proven {
			rows = append(rows, append(first, proof.By, oneLine(proof.Of)))
			first = []string{"", ""}
		}
		if len(shown.Proven) == 0 {
			rows = append(rows, append(first, "nothing", ""))
		}
	}
	if a.json {
		return nil
	}
	return terminal.Table(a.stdout, []string{"DEFINITION", "JOBS", "PROVEN BY", "OF"}, rows)
}

// pollJSON is how a shared query is printed as JSON; the names are a contract.
type pollJSON struct {
	Target      string   `json:"target"` // the first of them
	Targets     []string `json:"targets"`
	Connection  string   `json:"connection"`
	Last        string   `json:"last,omitempty"`
	Seconds     float64  `json:"seconds"` // the last one took
	Jobs        int      `json:"jobs"`
	Hour        int      `json:"lastHour"`
	Day         int      `json:"lastDay"`
	DaySeconds  float64  `json:"lastDaySeconds"`
	DayFailures int      `json:"lastDayFailures"`
	Error       string   `json:"error,omitempty"`
	Paused      string   `json:"paused,omitempty"`
}

func newPolls(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "polls",
		Short: "Show how often schedulers are queried, and for how long",
		Long: `polls shows the queries that all processes of rmctl share: a line for each connection
and definition, with their targets. It does not query a scheduler.`,
		Example: `  rmctl polls
  rmctl polls -t slurm --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			store, err := a.client().Store(c.Context())
			if err != nil {
				return err
			}
			if err := a.finder().KnowsTarget(c.Context(), store); err != nil {
				return err
			}
			now := time.Now()
			all, err := store.Polls().All(c.Context(), now)
			if err != nil {
				return err
			}
			all = slices.DeleteFunc(all, func(poll polls.PollCount) bool {
				return len(poll.Targets) == 0 || a.target != "" && !slices.Contains(namesOf(poll), a.target)
			})
			if len(all) == 0 {
				a.sayNone("no scheduler was asked for jobs yet")
			}
			return printAll(a, all, pollDocument, []string{"TARGET", "LAST", "TOOK", "JOBS", "HOUR", "DAY", "DAY'S TIME", "FAILED", ""}, func(poll polls.PollCount) []string {
				return pollRow(poll, now)
			})
		},
	}
}

func pollDocument(poll polls.PollCount) any {
	targets := namesOf(poll)
	return pollJSON{
		Target: targets[0], Targets: targets, Connection: poll.Key + suffixOf(poll), Last: job.Timestamp(poll.Begun), Seconds: poll.Took.Seconds(), Jobs: poll.Jobs,
		Hour: poll.Hour, Day: poll.Day, DaySeconds: poll.Spent.Seconds(), DayFailures: poll.Failed, Error: poll.Error, Paused: job.Timestamp(poll.Paused),
	}
}

func pollRow(poll polls.PollCount, now time.Time) []string {
	state := oneLine(poll.Error)
	if !poll.Paused.IsZero() {
		state = fmt.Sprintf("paused after %d failures: %s", poll.Failures, state)
	}
	return []string{
		terminal.OrDash(strings.Join(namesOf(poll), ", ")), terminal.Age(poll.Begun, now), poll.Took.Round(time.Millisecond).String(), fmt.Sprint(poll.Jobs),
		fmt.Sprint(poll.Hour), fmt.Sprint(poll.Day), poll.Spent.Round(time.Millisecond).String(), fmt.Sprint(poll.Failed), terminal.AtMost(state, terminal.LongestCell),
	}
}

// namesOf returns the targets that share a query, each with the command of a listing.
func namesOf(poll polls.PollCount) []string {
	names := make([]string, len(poll.Targets))
	for i, target := range poll.Targets {
		names[i] = target + suffixOf(poll)
	}
	return names
}

// suffixOf returns the command of a listing; empty for the query of the user's jobs.
func suffixOf(poll polls.PollCount) string {
	if poll.Kind == polls.OwnJobs {
		return ""
	}
	return " x:" + string(poll.Kind)
}
