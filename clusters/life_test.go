package clusters_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A livingScheduler is a real scheduler whose jobs go through all states.
type livingScheduler struct {
	target  string
	setting string // of the environment of rmctl
	asks    func(t testing.TB, program string, arguments ...string) string
	// says queries the scheduler with its own programs.
	says func(t *testing.T, id string) ownWords
}

// ownWords are the facts of a job as the scheduler's own programs print them; "" for what they
// do not show.
type ownWords struct {
	native, reason, exitCode, signal string
}

// A jobLife is a series of steps with a job.
type jobLife struct {
	submit []string // options of rmctl submit, and the program; JOB is the job of the life before
	steps  []lifeStep
}

// A lifeStep is a command, empty for waiting only, and the resulting state.
type lifeStep struct {
	do     []string // of rmctl; JOB is replaced by the id
	own    []string // of the scheduler
	of     string   // the suffix of the id that queries a part of the job
	detail string   // in rmctl status
	reason string   // an expression for the reason that it shows
	output string   // that is there by then
	write  string   // a file in the folder of the job that it waits for
}

// jobStatus is the output of rmctl status for a job.
type jobStatus struct {
	ID, Tag, Detail, Native, Reason string
	ExitCode, Signal                *int
	Stale, Missing                  bool
}

func (s jobStatus) words() ownWords {
	text := func(number *int) string {
		if number == nil {
			return ""
		}
		return strconv.Itoa(*number)
	}
	return ownWords{s.Native, s.Reason, text(s.ExitCode), text(s.Signal)}
}

// lives runs jobs one after the other through their lives. A job may refer to the previous
// one. After each step rmctl and the scheduler's own programs must agree.
func (l livingScheduler) lives(t *testing.T, lives ...jobLife) {
	d := rmctltest.NewDesk(t, "", l.setting)
	id := ""
	for _, life := range lives {
		id = d.Does(append([]string{"submit", "-t", l.target}, withJob(life.submit, id)...)...)
		require.NotEmpty(t, id)
		for _, step := range life.steps {
			l.takes(t, d, id, step)
		}
	}
}

func (l livingScheduler) takes(t *testing.T, d *rmctltest.Desk, id string, step lifeStep) {
	t.Helper()
	if step.write != "" {
		require.NoError(t, os.WriteFile(filepath.Join(d.Home, step.write), nil, 0o600))
	}
	if len(step.do) > 0 {
		d.Does(withJob(step.do, id)...)
	}
	if len(step.own) > 0 {
		own := withJob(step.own, id)
		l.asks(t, own[0], own[1:]...)
	}
	part := id + step.of
	seen, own := jobStatus{}, ownWords{}
	// The job may change between the two queries, and right after its submission Slurm has no
	// reason yet.
	reason := regexp.MustCompile(step.reason)
	require.Eventually(t, func() bool {
		seen = l.status(t, d, part)
		own = l.says(t, part)
		return seen.Detail == step.detail && own == seen.words() && reason.MatchString(seen.Reason)
	}, 5*time.Minute, 50*time.Millisecond, "%s of %s: rmctl shows %+v, the scheduler %+v", step.detail, part, &seen, &own)
	require.False(t, seen.Stale || seen.Missing, "%+v", seen)
	if step.output != "" {
		require.Eventually(t, func() bool { return strings.Contains(d.Does("output", id), step.output) }, 5*time.Minute, 50*time.Millisecond, "%s of %s", step.output, part)
	}
}

func (l livingScheduler) status(t *testing.T, d *rmctltest.Desk, id string) jobStatus {
	t.Helper()
	var seen jobStatus
	require.NoError(t, json.Unmarshal([]byte(d.Does("status", "--json", "--fresh", "-t", l.target, id)), &seen))
	return seen
}

func withJob(words []string, id string) []string {
	changed := make([]string, len(words))
	for i, word := range words {
		changed[i] = strings.ReplaceAll(word, "JOB", id)
	}
	return changed
}

// refusals tries submissions that a scheduler refuses, and unknown jobs.
func (l livingScheduler) refusals(t *testing.T, unknown string, refused map[string]string) {
	d := rmctltest.NewDesk(t, "", l.setting)
	for _, command := range []string{"status", "cancel", "hold", "release"} {
		d.Refused(exitNoJob, command, "-t", l.target, unknown)
	}
	for value, said := range refused {
		require.Regexp(t, regexp.MustCompile(said), d.Refused(exitScheduler, "submit", "-t", l.target, "-s", value, "--", "true"))
	}
	require.NotRegexp(t, `"id":"[^"]`, d.Does("jobs", "--all", "--json"), "no job came of it")
}
