package usage

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestABarOfATimelineEndsWhereTheJobWasLastSeen(t *testing.T) {
	m := model.New()
	webtest.DefineAttributes(t, m)
	at := func(ago time.Duration) string { return webtest.Noon.Add(-ago).Format(time.RFC3339) }
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm", Attributes: webtest.Attributes(vocabulary.AttributeListedJobs, at(time.Hour))})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		put := func(id string, pairs ...string) {
			u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: id, Attributes: webtest.Attributes(pairs...)})
		}
		put("1", "jobState", "RUNNING", vocabulary.AttributeJobStarted, at(3*time.Hour))
		put("2", "jobState", "TERMINATED", vocabulary.AttributeJobStarted, at(5*time.Hour), vocabulary.AttributeJobEnded, at(4*time.Hour))
		put("3", "jobState", "PENDING")
		put("4", "jobState", "RUNNING")
		put("5", "jobState", "TERMINATED", vocabulary.AttributeJobStarted, at(5*time.Hour))
		put("6", "jobState", "TERMINATED", vocabulary.AttributeJobStarted, at(50*time.Hour), vocabulary.AttributeJobEnded, at(40*time.Hour))
	})
	drawn := DrawTimeline(listing.NewLedger(""), m.Snapshot(), newHistory(), TimelineQuery{}, webtest.Noon)
	require.Len(t, drawn.Queues, 1)
	line := drawn.Queues[0]
	require.Len(t, line.Bars, 2, "the end of 5 is unknown, 6 was before")
	require.Equal(t, 1, line.Waiting)
	require.Equal(t, 2, line.Untold, "4 and 5")
	ended, running := line.Bars[0], line.Bars[1]
	require.Equal(t, "16.67%", ended.X)
	require.Equal(t, "16.67%", ended.Width)
	require.False(t, ended.IsOpen)
	require.Equal(t, "50.00%", running.X)
	require.Equal(t, "33.33%", running.Width, "not up to now: it was seen an hour ago")
	require.True(t, running.IsOpen)
	require.Equal(t, ended.Y, running.Y, "jobs one after the other share a lane")
}

func TestATimelineWithManyJobsStaysSmall(t *testing.T) {
	m := webtest.Demonstration(t, 5000, 10, webtest.Noon)
	drawn := DrawTimeline(listing.NewLedger(""), m.Snapshot(), newHistory(), TimelineQuery{Hours: 24}, webtest.Noon)
	for _, line := range drawn.Queues {
		lanes := map[int]bool{}
		for _, bar := range line.Bars {
			lanes[bar.Y] = true
		}
		require.LessOrEqual(t, len(lanes), mostLanes)
		require.Positive(t, line.Left)
		require.NotEmpty(t, line.Load, "what has no bar is in the outline")
	}
}

func TestATimelineOfManyShortJobsHasFewBars(t *testing.T) {
	var short []stretch
	for i := range 10 * mostBars {
		from := webtest.Noon.Add(time.Duration(i) * time.Second)
		short = append(short, stretch{from: from, to: from.Add(time.Second / 2)})
	}
	placed, lanes := packed(short, mostLanes)
	require.Len(t, placed, mostBars)
	require.Equal(t, 1, lanes)
}

func TestTheHistoryIsBoundedAndReachesBack(t *testing.T) {
	h := newHistory()
	const days = 10
	for i := range days * 24 * 360 {
		h.add("rm", sample{At: webtest.Noon.Add(time.Duration(i) * 10 * time.Second), Used: i})
	}
	end := webtest.Noon.Add(days * 24 * time.Hour)
	for i, samples := range h.byManager["rm"] {
		require.LessOrEqual(t, len(samples), tiers[i].most)
	}
	for hours, least := range map[int]int{1: 300, 24: 600, 24 * 7: 600} {
		from := end.Add(-time.Duration(hours) * time.Hour)
		samples, step := h.since("rm", from)
		require.GreaterOrEqual(t, len(samples), least, "%d hours", hours)
		require.False(t, samples[0].At.Before(from))
		require.WithinDuration(t, from, samples[0].At, step+time.Second)
	}
	for i := range 2 * mostHistories {
		if name := fmt.Sprint(i); h.isSampleDue(name, webtest.Noon) {
			h.add(name, sample{At: webtest.Noon})
		}
	}
	require.LessOrEqual(t, len(h.byManager), mostHistories)
}

func TestAPlotHasGapsWhereNothingWasSeen(t *testing.T) {
	var samples []sample
	for _, minute := range []int{10, 11, 12, 40, 41} {
		samples = append(samples, sample{At: webtest.Noon.Add(time.Duration(minute) * time.Minute), HasNodes: true, Used: 3, Free: 5})
	}
	plots := plotsOf(samples, 10*time.Second, webtest.Noon, webtest.Noon.Add(time.Hour))
	require.Len(t, plots, 1, "CPUs and jobs are unknown")
	require.Len(t, plots[0].Gaps, 3, "before, between and after")
	require.Equal(t, 2, strings.Count(plots[0].Layers[0].Path, "M"), "an area does not reach over a gap")
	require.Equal(t, []string{"8", "4", "0"}, plots[0].Scale)
	require.Equal(t, "3 in use, 5 free, 0 unusable", plots[0].Words)
}

func TestTheHistoryTakesWhatWasListedAndNothingElse(t *testing.T) {
	m := webtest.Demonstration(t, 100, 100, webtest.Noon)
	h, l := newHistory(), listing.NewLedger("")
	h.sample(m.Snapshot(), l)
	h.sample(m.Snapshot(), l)
	require.Len(t, h.byManager["cluster"][0], 1, "the same listing counts once")
	require.NotContains(t, h.byManager, "workshop", "what is old is no news")
	taken := h.byManager["cluster"][0][0]
	require.Equal(t, 100, taken.Used+taken.Free+taken.Unusable)
	require.Equal(t, 20, taken.Running)

	h.sample(model.New().Snapshot(), l)
	require.Empty(t, h.byManager, "one that was removed leaves its room to others")
}

func TestPlotsHaveRoundScales(t *testing.T) {
	for number, top := range map[int]int{0: 2, 3: 4, 6: 8, 9: 10, 100_000: 100_000, 100_001: 200_000} {
		require.Equal(t, top, roundUp(number))
	}
	require.True(t, slices.IsSorted(listing.PageSizes))
}

func TestNumbersBeyondReasonEndNoPlot(t *testing.T) {
	require.Equal(t, 2, roundUp(0))
	require.Equal(t, 50, roundUp(41))
	require.Equal(t, math.MaxInt, roundUp(math.MaxInt), "a scheduler may say that its nodes have so many CPUs")
	require.Equal(t, "M0 200L0 0h2L0 200z", areas([][]sample{{{}}}, func(time.Time) int { return 0 }, math.MaxInt,
		func(sample) int { return 0 }, func(sample) int { return math.MaxInt }))
}
