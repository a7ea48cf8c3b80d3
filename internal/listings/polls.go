package listings

import (
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
)

// pollJSON is how a shared query is printed as JSON; the names are a contract.
type pollJSON struct {
	Target      string   `json:"target"` // the first target
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

// PollColumns are the titles of a table of shared queries.
func PollColumns() []string {
	return []string{"TARGET", "LAST", "TOOK", "JOBS", "HOUR", "DAY", "DAY'S TIME", "FAILED", ""}
}

// PollDocument is a shared query in JSON.
func PollDocument(poll polls.PollCount) any {
	targets := PollTargets(poll)
	return pollJSON{
		Target: targets[0], Targets: targets, Connection: poll.Key + suffixOf(poll), Last: job.Timestamp(poll.Begun), Seconds: poll.Took.Seconds(), Jobs: poll.Jobs,
		Hour: poll.Hour, Day: poll.Day, DaySeconds: poll.Spent.Seconds(), DayFailures: poll.Failed, Error: poll.Error, Paused: job.Timestamp(poll.Paused),
	}
}

// PollRow is a shared query in a table.
func PollRow(poll polls.PollCount, now time.Time) []string {
	state := tui.OneLine(poll.Error)
	if !poll.Paused.IsZero() {
		state = fmt.Sprintf("paused after %d failures: %s", poll.Failures, state)
	}
	return []string{
		terminal.OrDash(strings.Join(PollTargets(poll), ", ")), terminal.Age(poll.Begun, now), poll.Took.Round(time.Millisecond).String(), fmt.Sprint(poll.Jobs),
		fmt.Sprint(poll.Hour), fmt.Sprint(poll.Day), poll.Spent.Round(time.Millisecond).String(), fmt.Sprint(poll.Failed), terminal.AtMost(state, terminal.LongestCell),
	}
}

// PollTargets returns the targets that share a query, each with the command of a listing.
func PollTargets(poll polls.PollCount) []string {
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
