package coalloc_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// marks runs a part whose processes leave marks once they are released.
const marks = `echo "$COALLOC_SUBJOB $COALLOC_RANK" >>"$HOME/ran-$COALLOC_LABEL"`

// part returns a part that runs a script of the shell.
func part(label, script string, change ...func(*coalloc.Part)) coalloc.Part {
	p := coalloc.Part{
		Label: label, Target: "here", Kind: coalloc.Required, Gate: coalloc.Held, Count: 1,
		Submission: job.Submission{Executable: "/bin/sh", Arguments: []string{"-c", script}},
	}
	for _, each := range change {
		each(&p)
	}
	return p
}

func kind(k coalloc.Kind) func(*coalloc.Part) { return func(p *coalloc.Part) { p.Kind = k } }

func on(target string) func(*coalloc.Part) { return func(p *coalloc.Part) { p.Target = target } }

func count(n int) func(*coalloc.Part) { return func(p *coalloc.Part) { p.Count = n } }

// An ensemble is one that a test runs.
type ensemble struct {
	*coalloc.Ensemble
	site *site
}

// starts runs an ensemble of parts.
func (s *site) starts(parts ...coalloc.Part) *ensemble {
	s.t.Helper()
	return s.startsRequest(&coalloc.Request{Parts: parts})
}

func (s *site) startsRequest(r *coalloc.Request) *ensemble {
	s.t.Helper()
	id, err := coalloc.Record(s.t.Context(), s.client, r)
	require.NoError(s.t, err)
	return s.resumes(id)
}

func (s *site) resumes(id string) *ensemble {
	s.t.Helper()
	e, err := coalloc.Resume(s.t.Context(), s.client, id, coalloc.Options{Log: s.log()})
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		_ = e.Cancel(context.Background()) // it may have ended
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, _ = e.Wait(ctx) // it may be closed
		require.NoError(s.t, e.Close())
	})
	return &ensemble{e, s}
}

// status returns the ensemble as it is now.
func (e *ensemble) status() coalloc.Status {
	e.site.t.Helper()
	s, err := e.Status(e.site.t.Context())
	require.NoError(e.site.t, err)
	return s
}

// part returns the newest part with a label.
func (e *ensemble) part(label string) coalloc.PartStatus {
	e.site.t.Helper()
	parts := e.status().Parts
	slices.Reverse(parts)
	i := slices.IndexFunc(parts, func(p coalloc.PartStatus) bool { return p.Label == label })
	require.GreaterOrEqual(e.site.t, i, 0, "part %s", label)
	return parts[i]
}

// reaches waits until a part is in a state.
func (e *ensemble) reaches(label string, state coalloc.PartState) {
	e.site.t.Helper()
	require.Eventually(e.site.t, func() bool { return e.part(label).State == state }, patience, 10*time.Millisecond, "part %s: %v", label, lazily(e.status))
}

// becomes waits until the ensemble is in a state.
func (e *ensemble) becomes(state coalloc.State) {
	e.site.t.Helper()
	require.Eventually(e.site.t, func() bool { return e.status().State == state }, patience, 10*time.Millisecond, "%v", lazily(e.status))
}

// ends waits for the end of the ensemble in a state.
func (e *ensemble) ends(state coalloc.State) coalloc.Status {
	e.site.t.Helper()
	ctx, cancel := context.WithTimeout(e.site.t.Context(), patience)
	defer cancel()
	s, err := e.Wait(ctx)
	require.NoError(e.site.t, err, "%+v", s)
	require.Equal(e.site.t, state, s.State, "%+v", s)
	return s
}

// commits arms the release.
func (e *ensemble) commits() {
	e.site.t.Helper()
	require.NoError(e.site.t, e.Commit(e.site.t.Context(), false))
}

// events returns the events up to now, as lines.
func (e *ensemble) events() []string {
	e.site.t.Helper()
	ctx, cancel := context.WithCancel(e.site.t.Context())
	defer cancel()
	control, err := coalloc.Open(ctx, e.site.client, e.ID())
	require.NoError(e.site.t, err)
	var lines []string
	last := time.AfterFunc(time.Second, cancel)
	defer last.Stop()
	_ = control.Events(ctx, 0, func(event coalloc.EnsembleEvent) error {
		lines = append(lines, strings.Join([]string{string(event.Kind), event.Label, event.State, event.Text}, " "))
		return nil
	})
	return lines
}

// has waits for an event with words.
func (e *ensemble) has(words string) {
	e.site.t.Helper()
	ctx, cancel := context.WithTimeout(e.site.t.Context(), patience)
	defer cancel()
	var seen []string
	err := e.Events(ctx, 0, func(event coalloc.EnsembleEvent) error {
		line := strings.Join([]string{string(event.Kind), event.Label, event.State, event.Text}, " ")
		seen = append(seen, line)
		if strings.Contains(line, words) {
			return os.ErrExist
		}
		return nil
	})
	require.ErrorIs(e.site.t, err, os.ErrExist, "%q is missing in\n%s", words, strings.Join(seen, "\n"))
}

// lazily prints a value when it is printed.
type lazily func() coalloc.Status

func (l lazily) String() string { return strings.ReplaceAll(strings.TrimSpace(sprint(l())), "\n", " ") }

// marksOf returns the lines that processes of a part left.
func (s *site) marksOf(label string) []string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, "ran-"+label))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(s.t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// isEmpty checks that no job is left in a queue.
func (s *site) isEmpty() {
	s.t.Helper()
	store, err := s.client.Store(s.t.Context())
	require.NoError(s.t, err)
	jobs, err := store.List(s.t.Context(), jobstore.Filter{})
	require.NoError(s.t, err)
	require.Empty(s.t, jobs)
}

func TestProcessesRunOnceAllPartsHaveCheckedInAndTheUserCommits(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "there")
	e := s.starts(part("a", marks), part("b", marks, on("there")))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	require.Empty(t, s.marksOf("a"))
	require.Empty(t, s.marksOf("b"))
	require.Equal(t, coalloc.Waiting, e.status().State)
	e.commits()
	status := e.ends(coalloc.Done)
	require.Equal(t, []string{"1 0"}, s.marksOf("a"))
	require.Equal(t, []string{"2 0"}, s.marksOf("b"))
	require.Equal(t, coalloc.PartDone, status.Parts[0].State)
	require.Equal(t, 0, *status.Parts[1].ExitCode)
	s.isEmpty()
}

// heldBack has the scheduler hold the job.
func heldBack(p *coalloc.Part) {
	p.Submission.Values = append(p.Submission.Values, job.Assignment{Name: "hold", Value: "true"})
}

// releasesHold lets the scheduler start the job of a part.
func (e *ensemble) releasesHold(label string) {
	e.site.t.Helper()
	require.Eventually(e.site.t, func() bool { return e.part(label).JobID != "" }, patience, 10*time.Millisecond)
	store, err := e.site.client.Store(e.site.t.Context())
	require.NoError(e.site.t, err)
	j, err := store.ByTag(e.site.t.Context(), e.part(label).Tag)
	require.NoError(e.site.t, err)
	controller, err := e.site.client.Controller(e.site.t.Context(), j.Target)
	require.NoError(e.site.t, err)
	require.NoError(e.site.t, controller.Operate(e.site.t.Context(), control.Release, j))
}
