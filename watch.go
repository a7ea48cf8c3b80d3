package rmctl

import (
	"context"
	"iter"
	"sync"

	"github.com/rmctl/rmctl/job"
)

// Watch yields a job whenever its state changes, until all jobs have ended. Without jobs it
// watches those of [Client.Jobs]. If the jobs of a target can no longer be watched, it
// yields the error with a job that has only the target, and continues with other targets.
func (c *Client) Watch(ctx context.Context, jobs ...job.Job) iter.Seq2[job.Job, error] {
	return func(yield func(job.Job, error) bool) {
		if len(jobs) == 0 {
			var err error
			if jobs, err = c.Jobs(ctx); err != nil {
				yield(job.Job{}, err)
				return
			}
		}
		watching, stop := context.WithCancel(ctx)
		defer stop()
		for change := range c.changes(watching, jobs) {
			if !yield(change.job, change.err) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(job.Job{}, err)
		}
	}
}

type change struct {
	job job.Job
	err error
}

// changes sends the changes of jobs until they have ended or ctx is done, and then closes
// the channel.
func (c *Client) changes(ctx context.Context, jobs []job.Job) <-chan change {
	byTarget := map[string][]job.Job{}
	for _, each := range jobs {
		byTarget[each.Target] = append(byTarget[each.Target], each)
	}
	changes := make(chan change)
	send := func(one change) {
		select {
		case changes <- one:
		case <-ctx.Done():
		}
	}
	var waits sync.WaitGroup
	for target, jobs := range byTarget {
		waits.Go(func() {
			controller, err := c.Controller(ctx, target)
			if err == nil {
				_, err = controller.WaitAll(ctx, jobs, "", func(j job.Job) { send(change{job: j}) })
			}
			if err != nil {
				send(change{job.Job{Target: target}, err})
			}
		})
	}
	go func() {
		waits.Wait()
		close(changes)
	}()
	return changes
}
