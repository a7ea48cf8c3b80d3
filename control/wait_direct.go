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
	pace    follow.JobPace
	changed map[string]time.Time // when jobs were seen to change, by tag
	next    time.Time            // the next look; zero while the shared query does
}

func (c *tracker) directLooks() directLooks {
	return directLooks{tracker: c, pace: c.jobPace(), changed: map[string]time.Time{}}
}

// moved notes that a job was seen to change.
func (d *directLooks) moved(tag string) { d.changed[tag] = d.tracker.now() }

// look queries the jobs if that is due, and sets the time of the next query. It reports false
// if the shared query is to be used.
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
	now := c.now()
	schedule := follow.Schedule{Pace: d.pace, Now: now}
	var due []job.Job
	for tag, j := range known {
		changed := cmp.Or(d.changed[tag], j.Created)
		if schedule.IsDue(changed, j.LastQueried()) && isQueryable(&j) && !j.Missing {
			due = append(due, j)
		}
	}
	if schedule.Pause() >= c.Interval() {
		return false, nil
	}
	isQueried, err = c.queryDirectly(ctx, due)
	d.next = schedule.Next(c.now())
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

// jobPace returns the pace of waits for single jobs.
func (c *tracker) jobPace() follow.JobPace {
	pace := follow.JobPace{Least: c.sharedFor() * 3 / 4} // the rest is for the query itself
	if list := c.definition.Command(config.ListJobs); list != nil {
		pace.Busy = list.Busy
	}
	return pace
}

// usualAge is how old an answer about a job may be for another process to use it.
const usualAge = time.Second

// sharedFor returns how old an answer about a job may be for another process to use it.
func (c *tracker) sharedFor() time.Duration {
	shared := usualAge
	if status := c.definition.Command(config.GetJobStatus); status != nil {
		shared = cmp.Or(status.Interval, usualAge)
	}
	return max(shared, c.sharedAnswers)
}
