package bothends_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// A day of a cluster: so many jobs are submitted, and a tenth of them is listed at any time.
const (
	jobsOfDay     = 10_000
	jobsOfListing = 1_000
	between       = 24 * time.Hour / jobsOfDay
	listedFor     = jobsOfListing * between
	waitsFor      = listedFor / 3
	forgotten     = 5 * time.Minute // after a job has ended
)

// A listedJob is a job in the cluster's listing.
type listedJob struct {
	id     string
	facts  facts // nil once it is no longer listed
	length int   // of its line
	until  time.Duration
}

// at returns the listed form of a job at a time of the day.
func (j listedJob) at(day time.Time, number int, passed time.Duration) listedJob {
	if j.facts != nil && passed < j.until {
		return j
	}
	submitted := time.Duration(number) * between
	started, ended, gone := submitted+waitsFor, submitted+listedFor-forgotten, submitted+listedFor
	clock := func(at time.Duration) string { return day.Add(at).Format("2006-01-02T15:04:05") }
	f := facts{
		"state": "QUEUED_ACTIVE", "native": "PENDING", "reason": "Priority", "queue": fmt.Sprint("batch", number%20), "submitted": clock(submitted), "owner": fmt.Sprint("user", number%500),
		"cpus": fmt.Sprint(1 << (number % 8)), "identity": fmt.Sprintf("f1dc87c0-af2a-4f4c-8d9f-%012d", number), "name": fmt.Sprintf("train-%d-of-%d", number%977, number),
	}
	until := started
	if passed >= started {
		until = ended
		f["state"], f["native"], f["reason"], f["nodes"], f["started"] = "RUNNING", "RUNNING", "", fmt.Sprintf("node[%05d-%05d]", number, number+number%4), clock(started)
	}
	if passed >= ended {
		until = gone
		f["state"], f["native"], f["ended"], f["exitCode"] = "COMPLETED", "COMPLETED", clock(ended), "0"
	}
	if passed >= gone {
		return listedJob{}
	}
	id := fmt.Sprint(4_000_000 + number)
	return listedJob{id, f, len(line(id, f)), until}
}

// line returns the line of a job in a listing of the definition slurm.
func line(id string, f facts) string {
	const mark = "@A2B3C4D5E6F7G2H3"
	none := func(text string) string {
		if text == "" {
			return "N/A"
		}
		return text
	}
	reason := f["reason"]
	if reason == "" {
		reason = "None"
	}
	return strings.Join([]string{id, f["native"], reason, f["queue"], f["nodes"], f["submitted"], none(f["started"]), none(f["ended"]), f["owner"], f["cpus"], "0",
		"/home/" + f["owner"] + "/.eclipsesettings/" + f["identity"] + "managed_file_for_script", f["name"]}, mark) + mark + "\n"
}

// An agent sends a hundredth of the bytes of listings. RMCTL_HOURS sets the simulated hours (default 1).
func TestADayThroughAnAgentCostsFewBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, listings, bytes := time.Now(), 0, 0
		day := begun.Add(-listedFor) // start with a full listing
		first, known := 0, map[int]listedJob{}
		var listening atomic.Pointer[pair]
		p := newPair(t, map[model.Kind]func() map[string]facts{model.Job: func() map[string]facts {
			passed, rows := time.Since(day), map[string]facts{}
			for number := first; time.Duration(number)*between <= passed; number++ {
				j := known[number].at(day, number, passed)
				if known[number] = j; j.facts == nil {
					delete(known, number)
					first = number + 1
					continue
				}
				rows[j.id] = j.facts
				bytes += j.length
			}
			listings++
			if p := listening.Load(); p != nil {
				p.events.Add(1)
			}
			return rows
		}})
		listening.Store(p)
		defer p.stop()
		for range hours(t) {
			time.Sleep(time.Hour)
			p.requireSame(fmt.Sprint("after ", time.Since(begun)))
		}
		_, clients := p.both()
		sent := p.written.Load() + p.read.Load()
		t.Logf("%d listings of %d bytes in all, now of %d jobs; %d bytes between the ends: %.2f %%", listings, bytes, clients.Len(model.Job), sent, 100*float64(sent)/float64(bytes))
		require.Less(t, 100*sent, int64(bytes))
	})
}

// hours returns the simulated hours.
func hours(t *testing.T) int {
	text := os.Getenv("RMCTL_HOURS")
	if text == "" {
		return 1
	}
	number, err := strconv.Atoi(text)
	require.NoError(t, err)
	return number
}
