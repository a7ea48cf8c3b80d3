package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// fifty records submissions that were cut off, each a second after the one before.
func (s *site) fifty(t *testing.T) []job.Job {
	t.Helper()
	jobs := make([]job.Job, 50)
	begun := s.options.Now()
	for i := range jobs {
		jobs[i] = job.Job{
			Tag: fmt.Sprintf("%08d-2222-4333-8444-555555555555", i), Target: "here", Submitter: "0 gone nowhere",
			Created: begun.Add(time.Duration(i) * time.Second),
		}
		require.NoError(t, s.store.Intend(t.Context(), jobs[i]))
	}
	return jobs
}

// lists returns the rows of a queue with some of the jobs.
func lists(jobs []job.Job) string {
	var queue strings.Builder
	for i, j := range jobs {
		fmt.Fprintf(&queue, "%d %s\n", i+1, j.Tag)
	}
	return queue.String()
}

// ran returns how often a command noted that it ran.
func (s *site) ran(t *testing.T, name string) int {
	t.Helper()
	if !s.exists(name) {
		return 0
	}
	return strings.Count(s.read(t, name), "\n")
}

// countedQueue is a scheduler whose commands note each run: one lists the queue for all
// tags, another one accounting since the oldest submission in question.
func countedQueue(t *testing.T) *site {
	t.Helper()
	table := `<x:read><x:table columns="id tag"/>` + tagged
	return newSite(t, define(t, running("submit-batch", "echo job 7", `waitForId="true" x:timeout="10s"`, jobIDParser)+
		running("x:find-job", `echo >>queried; cat queue`, `x:timeout="1m"`, table+`</x:read>`+
			running("x:fallback", `echo since ${RMCTL_AGE} >>accounted; cat accounting`, `on="ok"`,
				`<environment name="RMCTL_AGE" value="${ptp_rm:job.age#value}"/>`+table+`<x:absent within="30d"/></x:read>`))))
}

func TestManySubmissionsAreLookedUpByOneCommand(t *testing.T) {
	s := countedQueue(t)
	s.stopClock()
	jobs := s.fifty(t)
	s.write(t, "queue", lists(jobs[:20]))
	s.write(t, "accounting", lists(jobs[:40]))
	s.ahead += time.Hour
	var done []int
	recovered, problems := s.RecoverEach(t.Context(), jobs, func(count int) { done = append(done, count) })
	for i, now := range recovered {
		require.NoError(t, problems[i])
		want := fmt.Sprint(i + 1)
		if i >= 40 {
			want = ""
			require.Equal(t, job.PhaseRejected, now.Phase)
		}
		require.Equal(t, want, now.ID)
	}
	require.Equal(t, 1, s.ran(t, "queried"), "one command looks up all submissions")
	require.Equal(t, "since 3600\n", s.read(t, "accounted"), "it covers the oldest of them")
	require.Len(t, done, 50)
	require.Equal(t, 50, done[49])
}

// An old submission must not extend the queries for all others.
func TestSubmissionsOfVeryDifferentAgeAreLookedUpSeparately(t *testing.T) {
	s := countedQueue(t)
	s.stopClock()
	old := s.cutOff(t)
	s.write(t, "queue", "")
	s.write(t, "accounting", "")
	s.ahead += 20 * 24 * time.Hour
	jobs := append(s.fifty(t), old)
	s.ahead += time.Hour
	_, problems := s.RecoverEach(t.Context(), jobs, nil)
	for _, problem := range problems {
		require.NoError(t, problem)
	}
	require.Equal(t, 2, s.ran(t, "accounted"))
}

// Each of its look-ups is a different command, so jobs in one listing are not looked up.
func TestAListingSavesLookUpsThatNameTheTag(t *testing.T) {
	s, _ := overlooked(t, "")
	jobs := s.fifty(t)
	queue := ""
	for i, j := range jobs[:45] {
		queue += fmt.Sprintf("%s %d RUNNING\n", j.Tag, i+1)
	}
	s.write(t, "jobs", queue)
	s.ahead += time.Hour
	before := s.looks(t)
	_, err := s.Rediscover(t.Context())
	require.NoError(t, err)
	recovered, problems := s.RecoverEach(t.Context(), jobs, nil)
	for i := range recovered {
		require.NoError(t, problems[i])
		require.Equal(t, i < 45, recovered[i].ID != "")
	}
	require.Equal(t, 5, s.looks(t)-before)
}

func TestALookUpStopsWhenTheSchedulerDoesNotAnswer(t *testing.T) {
	s := forgetful(t, `echo job 7`, "")
	jobs := s.fifty(t)
	s.write(t, "broken", "")
	s.ahead += time.Hour
	_, problems := s.RecoverEach(t.Context(), jobs, nil)
	for _, problem := range problems {
		var unconfirmed *control.UnconfirmedError
		require.ErrorAs(t, problem, &unconfirmed)
		require.ErrorContains(t, problem, "the query failed")
	}
	require.Less(t, s.looks(t), 10)
}
