package control

import (
	"cmp"
	"context"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/follow"
	"github.com/rmctl/rmctl/internal/poller"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/job"
)

// directLooks are those of a wait that queries its jobs itself, while they are few and the
// shared query would be late for them: soon after a change the next one may follow.
type directLooks struct {
	tracker *tracker
	pace    jobPace
	changed map[string]time.Time // when jobs were seen to change, by tag
	next    time.Time            // the next look; zero while the shared query does
}

func (c *tracker) directLooks() directLooks {
	return directLooks{tracker: c, pace: c.jobPace(), changed: map[string]time.Time{}}
}

// moved notes that a job was seen to change.
func (d *directLooks) moved(tag string) { d.changed[tag] = d.tracker.now() }

// look queries the jobs if that is due, and sets when to look again. It reports false if
// the shared query is to do so.
func (d *directLooks) look(ctx context.Context, followed *follow.Jobs) (isQueried bool, err error) {
	c := d.tracker
	d.next = time.Time{}
	if followed.Count() == 0 || followed.Count() > directWidth {
		return false, nil
	}
	known, err := c.store.ByTags(ctx, followed.Tags())
	if err != nil {
		return false, err
	}
	quiet, now := time.Duration(-1), c.now()
	var due []job.Job
	for tag, j := range known {
		since := now.Sub(cmp.Or(d.changed[tag], j.Created))
		if quiet < 0 || since < quiet {
			quiet = since
		}
		if isQueryable(&j) && !j.Missing && now.Sub(j.LastQueried()) >= d.pace.after(since)/2 {
			due = append(due, j)
		}
	}
	if d.pace.after(quiet) >= c.Interval() {
		return false, nil
	}
	isQueried, err = c.queryDirectly(ctx, due)
	quiet += c.now().Sub(now)
	d.next = c.now().Add(d.pace.after(quiet))
	return isQueried, err
}

// queryDirectly queries some jobs that somebody waits for, each by itself. It reports false
// if that would be too much for the scheduler.
func (c *tracker) queryDirectly(ctx context.Context, jobs []job.Job) (isQueried bool, err error) {
	if len(jobs) == 0 {
		return true, nil
	}
	return c.poller.Direct(ctx, poller.Request{
		Key: polls.PollKey{Kind: polls.NamedJobs, Key: c.pollKey()}, Target: c.target,
		Limit: limitOf(c.definition.Command(config.GetJobStatus)), FailureOf: pollFailureOf,
		Query: func(ctx context.Context, turn *poller.Turn) error {
			turn.Jobs = len(jobs)
			defer turn.AddBusy(len(jobs), c.now())
			_, err := c.queryEachOf(ctx, jobs)
			return err
		},
	})
}

// A pace is how long to wait between two looks at something: short while it moves,
// longer and longer while it does not.
type pace struct {
	shortest, longest time.Duration
	current           time.Duration
}

// next returns how long to wait now. The growth makes a wait about a sixth of
// the time that has passed since something moved.
func (p *pace) next(moved bool) time.Duration {
	if moved || p.current == 0 {
		p.current = p.shortest
	} else {
		p.current = min(p.current*6/5, p.longest)
	}
	return p.current
}

// earlyLooks are when somebody who waits looks for news of a job after it has changed, or
// was submitted.
var earlyLooks = []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}

const (
	// usualAge is how old an answer about a job may be for another process to use it.
	usualAge = time.Second
	// longestPause is the longest time between two looks at a job that no listing has.
	longestPause = 10 * time.Second
	// A wait looks again after this share of the time since the last change, so that it
	// ends late by as much at most.
	lateness = 0.05
)

// A jobPace says how long a wait pauses between two looks at a job.
type jobPace struct {
	least, longest time.Duration
	share          float64 // of the time since the last change
}

// jobPace returns the pace of waits for single jobs. Where queries may keep the scheduler busy
// for longer than usual, it is quicker by as much.
func (c *tracker) jobPace() jobPace {
	p := jobPace{least: c.sharedFor(), longest: longestPause, share: lateness}
	if list := c.definition.Command(config.ListJobs); list != nil && list.Busy > 0 {
		p.share *= usualBusy / list.Busy
	}
	p.longest = max(p.longest, p.least)
	return p
}

// sharedFor returns how old an answer about a job may be for another process to use it.
func (c *tracker) sharedFor() time.Duration {
	shared := usualAge
	if status := c.definition.Command(config.GetJobStatus); status != nil {
		shared = cmp.Or(status.Interval, usualAge)
	}
	return max(shared, c.sharedAnswers)
}

// usualBusy is the share of the time that queries may keep a scheduler busy.
const usualBusy = 0.05

// after returns how long to pause when there was no change for a time.
func (p jobPace) after(quiet time.Duration) time.Duration {
	for _, early := range earlyLooks {
		if ahead := early - quiet; ahead > 0 {
			return min(ahead, p.longest)
		}
	}
	return min(max(p.least, time.Duration(float64(quiet)*p.share)), p.longest)
}
