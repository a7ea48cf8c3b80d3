// Package recovery decides how to search for the jobs of interrupted submissions.
package recovery

import (
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/job"
)

// A Finding is the result of a look-up for one submission.
type Finding struct {
	Job        job.Job  // its id is empty if no command found it
	IsAbsent   bool     // they prove that the job does not exist, except for candidates
	Candidates []string // ids of jobs without the tag of a submission
	Err        error    // why the look-up is inconclusive
}

// A LookUp looks up one submission.
type LookUp func(ctx context.Context, j job.Job) Finding

// A Search looks up many submissions.
type Search struct {
	Now   time.Time
	Width int // simultaneous look-ups, and failures after which the search ends
	// Begin returns the look-up for submissions of about the same age, from the time of the
	// oldest one.
	Begin    func(oldest time.Time) LookUp
	Progress func(done int) // called with how many are done; may be nil

	mutex sync.Mutex
	found map[int]Finding
}

// Run looks up the submissions with some numbers and returns the results by number.
func (s *Search) Run(ctx context.Context, jobs []job.Job, open []int) map[int]Finding {
	s.found = map[int]Finding{}
	for _, group := range s.byAge(jobs, open) {
		s.runGroup(ctx, jobs, group)
	}
	return s.found
}

// runGroup looks up submissions of about the same age.
func (s *Search) runGroup(ctx context.Context, jobs []job.Job, group []int) {
	lookUp := s.Begin(jobs[group[len(group)-1]].Created)
	var failures []error
	one := func(i int) {
		s.mutex.Lock()
		isGivenUp := len(failures) >= s.Width // the others would fail, too, and some take long to do so
		s.mutex.Unlock()
		var found Finding
		if !isGivenUp {
			found = lookUp(ctx, jobs[i])
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if isGivenUp {
			found.Err = failures[0]
		} else if found.Err != nil {
			failures = append(failures, found.Err)
		}
		s.found[i] = found
		if s.Progress != nil {
			s.Progress(len(s.found))
		}
	}
	one(group[0]) // separately: the output of its commands may name the others, too
	var others errgroup.Group
	others.SetLimit(s.Width)
	for _, i := range group[1:] {
		others.Go(func() error {
			one(i)
			return nil
		})
	}
	_ = others.Wait() // its functions return nil
}

// byAge returns numbers of submissions in groups of about the same age: within days that
// double from one group to the next. In each, the oldest is last.
func (s *Search) byAge(jobs []job.Job, numbers []int) [][]int {
	sorted := slices.Clone(numbers)
	slices.SortStableFunc(sorted, func(a, b int) int { return jobs[b].Created.Compare(jobs[a].Created) })
	var groups [][]int
	last := -1
	for _, i := range sorted {
		days := max(0, s.Now.Sub(jobs[i].Created)) / (24 * time.Hour)
		if size := bits.Len(uint(days / 2)); size != last {
			groups, last = append(groups, nil), size
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
	}
	return groups
}

// oneOf names jobs.
func oneOf(ids []string) string {
	const most = 10
	if len(ids) == 1 {
		return "job " + ids[0]
	}
	text := "one of the jobs " + strings.Join(ids[:min(len(ids), most)], " ")
	if len(ids) > most {
		text += " …"
	}
	return text
}
