package usage

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

// A site is a target whose listings a test makes up.
type site struct {
	t     *testing.T
	model *model.Model
}

func newSite(t *testing.T) *site {
	m := model.New()
	webtest.DefineAttributes(t, m)
	require.Empty(t, m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes("rmState", "STARTING")})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes("rmState", "STARTED")})
	}))
	return &site{t, m}
}

// lists has exactly some jobs listed at a time, each written as id, state and when it
// began and ended.
func (s *site) lists(at time.Time, jobs ...string) {
	listed := map[string]bool{}
	require.Empty(s.t, s.model.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes(vocabulary.AttributeListedJobs, at.Format(time.RFC3339))})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		for _, job := range jobs {
			reported := append(strings.Fields(job), "", "")
			listed[reported[0]] = true
			u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: reported[0], Attributes: webtest.Attributes(vocabulary.AttributeName, "job <"+reported[0]+">",
				vocabulary.AttributeJobState, reported[1], vocabulary.AttributeJobStarted, reported[2], vocabulary.AttributeJobEnded, reported[3])})
		}
		manager, _ := s.model.Snapshot().Manager("rm")
		for job := range manager.All(model.Job) {
			if !listed[job.ID()] {
				u.Remove("rm", model.Job, job.ID())
			}
		}
	}))
}

func at(ago time.Duration) string { return webtest.Noon.Add(-ago).Format(time.RFC3339) }

// bars returns the titles of the bars of a timeline.
func bars(s *site, h *History, now time.Time) []string {
	titles := []string{}
	for _, line := range DrawTimeline(listing.NewLedger(""), s.model.Snapshot(), h, TimelineQuery{Hours: 24 * 7}, now).Queues {
		for _, bar := range line.Bars {
			title := bar.Title
			if bar.Address != "" {
				title += " (link)"
			}
			titles = append(titles, title)
		}
	}
	return titles
}

// readHistory returns the history in a file.
func readHistory(path string, now time.Time) *History {
	h := newHistory()
	h.path, h.log = path, slog.New(slog.DiscardHandler)
	h.load(now)
	return h
}

func TestJobsThatAreNotListedAnyMoreStayOnTheTimeline(t *testing.T) {
	h, l, s := newHistory(), listing.NewLedger(""), newSite(t)
	s.lists(webtest.Noon.Add(-time.Hour), "1 RUNNING "+at(5*time.Hour), "2 TERMINATED "+at(4*time.Hour)+" "+at(3*time.Hour), "3 PENDING", "4 RUNNING", "5 RUNNING "+at(2*time.Hour))
	h.sample(s.model.Snapshot(), l)
	s.lists(webtest.Noon, "5 RUNNING "+at(time.Hour))
	h.sample(s.model.Snapshot(), l)
	require.Equal(t, []string{"1 job <1>, : running, 4 h until last seen, no longer listed", "2 job <2>, : ended, 1 h, no longer listed",
		"5 job <5>, : running, 1 h until last seen, no longer listed", "5 job <5>, : running, 1 h so far (link)"}, bars(s, h, webtest.Noon), "the id 5 was given again")

	require.Empty(t, s.model.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes("rmState", "STOPPING")})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes("rmState", "STOPPED")})
	}))
	h.sample(s.model.Snapshot(), l)
	require.Len(t, bars(s, h, webtest.Noon), 4, "stopping the target removes nothing")
}

func TestANewServerShowsWhatWasInUseAndWhichJobsRan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	l, s := listing.NewLedger(""), newSite(t)
	h := readHistory(path, webtest.Noon)
	s.lists(webtest.Noon.Add(-time.Hour), "1 RUNNING "+at(5*time.Hour), "2 RUNNING "+at(4*time.Hour))
	h.sample(s.model.Snapshot(), l)
	s.lists(webtest.Noon, "2 RUNNING "+at(4*time.Hour))
	h.sample(s.model.Snapshot(), l)
	require.False(t, h.isSaveDue(webtest.Noon.Add(9*time.Minute)), "a file is written seldom")
	h.save(s.model.Snapshot(), l, webtest.Noon)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	later := webtest.Noon.Add(2 * time.Hour)
	h = readHistory(path, later)
	samples, _ := h.since("rm", webtest.Noon.Add(-2*time.Hour))
	require.Len(t, samples, 2)
	require.Equal(t, sample{At: time.Unix(webtest.Noon.Unix(), 0), HasJobs: true, Running: 1}, samples[1])
	is := newSite(t)
	is.lists(later, "2 RUNNING "+at(4*time.Hour), "3 RUNNING "+at(-time.Hour))
	require.Equal(t, []string{"1 job <1>, : running, 4 h until last seen, no longer listed", "2 job <2>, : running, 6 h so far (link)", "3 job <3>, : running, 1 h so far (link)"},
		bars(is, h, later), "2 is listed and shown as it is now")
	h.sample(is.model.Snapshot(), l)
	h.save(is.model.Snapshot(), l, later)
	h = readHistory(path, later)
	require.Len(t, h.past["rm"], 3)
	samples, _ = h.since("rm", webtest.Noon.Add(-2*time.Hour))
	require.Len(t, samples, 3)

	h = readHistory(path, webtest.Noon.Add(8*24*time.Hour))
	require.Empty(t, h.past, "a week is the most")
	samples, _ = h.since("rm", time.Time{})
	require.Empty(t, samples)
	h = readHistory(path, webtest.Noon.Add(-24*time.Hour))
	require.Empty(t, h.past, "what is to come is none that was: the clock was wrong")
}

func TestServersShareTheHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	l := listing.NewLedger("")
	one, another := newSite(t), newSite(t)
	historyOne := readHistory(path, webtest.Noon)
	historyAnother := readHistory(path, webtest.Noon)
	one.lists(webtest.Noon.Add(-time.Hour), "1 TERMINATED "+at(5*time.Hour)+" "+at(3*time.Hour))
	historyOne.sample(one.model.Snapshot(), l)
	another.lists(webtest.Noon.Add(-time.Minute), "2 TERMINATED "+at(2*time.Hour)+" "+at(time.Hour))
	historyAnother.sample(another.model.Snapshot(), l)
	historyOne.save(one.model.Snapshot(), l, webtest.Noon)
	historyAnother.save(another.model.Snapshot(), l, webtest.Noon)
	historyAnother.save(another.model.Snapshot(), l, webtest.Noon)
	h := readHistory(path, webtest.Noon)
	require.Len(t, h.past["rm"], 2)
	samples, _ := h.since("rm", time.Time{})
	require.Len(t, samples, 2)

	require.Empty(t, one.model.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes("rmState", "STOPPING")})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes("rmState", "STOPPED")})
		u.Remove("rm", model.ResourceManager, "rm")
	}))
	historyOne.sample(one.model.Snapshot(), l)
	historyOne.save(one.model.Snapshot(), l, webtest.Noon)
	h = readHistory(path, webtest.Noon)
	require.Empty(t, h.past, "a removed target leaves nothing behind")
	require.Empty(t, h.byManager)
}

func TestAHistoryThatCannotBeUsedKeepsNoServerFromItsWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	l, s := listing.NewLedger(""), newSite(t)
	s.lists(webtest.Noon, "1 RUNNING "+at(time.Hour))
	for text, isKept := range map[string]bool{
		"{": false, `{"version":0}`: false, `{"version":2,"managers":[]}`: true, `{"version":1,"managers":[{"id":"","tiers":[]},{"id":"rm","tiers":[[[1,2]],null],"jobs":[{"id":"x","from":5,"to":4}]}]}`: false,
		strings.Repeat(" ", mostHistoryBytes+1): false,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		h := readHistory(path, webtest.Noon)
		require.Empty(t, h.past)
		h.sample(s.model.Snapshot(), l)
		h.save(s.model.Snapshot(), l, webtest.Noon)
		require.Len(t, bars(s, h, webtest.Noon), 1)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, isKept, string(kept) == text, "only what a later version wrote is left as it is")
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	h := readHistory(path, webtest.Noon)
	h.sample(s.model.Snapshot(), l)
	h.save(s.model.Snapshot(), l, webtest.Noon)
	require.True(t, h.isFailing)
}

func TestTheFileOfAHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.json")
	h := readHistory(path, webtest.Noon)
	for i := range mostStored + 5 {
		for step := range 800 {
			h.add(fmt.Sprint("rm", i), sample{At: webtest.Noon.Add(time.Duration(step-800) * 15 * time.Minute), HasNodes: true, HasJobs: true, CPUs: 1 << 40, CPUsUsed: 1 << 40, Used: 1 << 40})
		}
	}
	var jobs []pastJob
	for i := range 3 * mostPast {
		jobs = append(jobs, pastJob{ID: fmt.Sprint(i), From: webtest.Noon.Unix() - int64(i), Name: strings.Repeat("\x01", longestPastID), Queue: "q", State: vocabulary.StateTerminated, To: webtest.Noon.Unix()})
	}
	h.addPast("rm", jobs)
	require.Len(t, h.past["rm"], mostPast)
	require.Contains(t, h.past["rm"], pastKey{"0", webtest.Noon.Unix()}, "the newest ones stay")
	h.save(model.New().Snapshot(), listing.NewLedger(""), webtest.Noon)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), mostHistoryBytes)
	var stored storedHistory
	require.NoError(t, json.Unmarshal(text, &stored))
	sampled, kept := 0, 0
	for _, each := range stored.Managers {
		kept += len(each.Jobs)
		if len(each.Tiers) > 0 {
			sampled++
		}
	}
	require.Equal(t, mostStored, sampled)
	require.Positive(t, kept)
}
