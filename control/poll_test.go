package control_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/job"
)

// cluster is a definition of a scheduler whose jobs are the lines of the file
// "jobs": an id, a state, the time of submission and a tag. It notes each query in
// the file "asked": "list", or the id.
func cluster(t testing.TB, attributes string) *config.Definition {
	t.Helper()
	return clusterWith(t, attributes, "")
}

// rowsOfCluster reads the rows of the listings of a cluster.
const rowsOfCluster = `<stdout-parser delim="\n"><target><match><expression>(\d+) ([A-Z_]+) (\S+) (\S+)</expression>
	<set field="name"><entry valueGroup="1"/></set>
	<put field="value"><entry key="state" valueGroup="2"/><entry key="submitted" valueGroup="3"/><entry key="identity" valueGroup="4"/></put></match></target></stdout-parser>`

// clusterWith is such a definition with more commands that monitor.
func clusterWith(t testing.TB, attributes, others string) *config.Definition {
	t.Helper()
	return define(t, `<attribute name="job.identity" visible="false"/>`+running("submit-batch", `number=$(cat number 2>/dev/null || echo 0); number=$((number+1)); echo $number >number; echo job $number`, `waitForId="true"`, jobIDParser)+
		running("get-job-status", `echo "$JOB" >>asked; test ! -e down || exit 1; test ! -e behind || exit 45; grep "^$JOB " jobs >row.$$ || exit 44; read id state at tag <row.$$; printf "state %s\ntag %s\n" "$state" "$tag"`, "",
			`<environment name="JOB" value="${ptp_rm:@jobId#name}"/>
			<stdout-parser delim="\n">
				<target ref="@jobId"><match><expression>state (.+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
				<target ref="job.identity"><match><expression>tag (.+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
			</stdout-parser>`)+
		`<x:outcome kind="not-found" exit="44"/><x:outcome kind="transient" exit="45"/>`,
		`<monitor-data schedulerType="test">`+running("x:list-jobs", `echo list >>asked; test ! -e down || { echo "controller is down" >&2; exit 1; }; test ! -e away || exit 45; cat jobs 2>/dev/null; test ! -e cut || exit 1`, attributes, rowsOfCluster)+
			others+`</monitor-data>`)
}

// Everybody's jobs may be thousands of times as many.
func TestAPollListsOnlyTheUsersJobs(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, ""), `<monitor-data schedulerType="TEST">`+
		running("x:list-jobs", `echo "$SCOPE" >scope`, "", `<environment name="SCOPE" value="${ptp_rm:job.scope#value}"/>`)+`</monitor-data>`))
	_, err := s.Rediscover(t.Context())
	require.NoError(t, err)
	require.Equal(t, "own\n", s.read(t, "scope"))
}

// crowd returns a site with jobs that were submitted a while ago.
func crowd(t testing.TB, count int, attributes string) (*site, []job.Job) {
	t.Helper()
	s := newSite(t, cluster(t, attributes), func(o *control.Options) { o.Jitter = func() float64 { return 0 } })
	s.stopClock()
	jobs := make([]job.Job, count)
	for i := range jobs {
		jobs[i] = s.submits(t, job.Submission{Executable: "x"})
	}
	s.ahead += time.Minute
	return s, jobs
}

// shows gives the scheduler jobs in states, each as "ID STATE".
func (s *site) shows(t testing.TB, jobs []job.Job, states ...job.Detail) {
	t.Helper()
	var text strings.Builder
	for i, detail := range states {
		if detail != "" {
			fmt.Fprintf(&text, "%s %s 10:00 %s\n", jobs[i].ID, detail, jobs[i].Tag)
		}
	}
	s.write(t, "jobs", text.String())
}

func (s *site) asked(t testing.TB) []string {
	t.Helper()
	if !s.exists("asked") {
		return nil
	}
	return strings.Fields(s.read(t, "asked"))
}

func details(jobs []job.Job) []job.Detail {
	list := make([]job.Detail, len(jobs))
	for i, job := range jobs {
		list[i] = job.Detail
	}
	return list
}

func (s *site) updates(t testing.TB, jobs []job.Job, freshness bool) []job.Job {
	t.Helper()
	updated, err := s.Update(t.Context(), jobs, freshness)
	require.NoError(t, err)
	return updated
}

func TestOneListingHasAllJobs(t *testing.T) {
	s, jobs := crowd(t, 3, "")
	s.shows(t, jobs, job.Running, job.QueuedActive, job.Failed)
	updated := s.updates(t, jobs, false)
	require.Equal(t, []job.Detail{job.Running, job.QueuedActive, job.Failed}, details(updated))
	require.Equal(t, []string{"list"}, s.asked(t))
	require.Equal(t, "x:list-jobs", updated[0].Source)
	require.Equal(t, "stdout", updated[0].Origin.Stream)
	require.Contains(t, updated[0].Origin.Text, "RUNNING")
	require.NotEqual(t, updated[0].Origin.Line, updated[1].Origin.Line, "each job has a row of its own")
}

func TestJobsMissingFromAListingAreQueriedDirectly(t *testing.T) {
	s, jobs := crowd(t, 3, "")
	s.shows(t, jobs, job.Running, "", job.Running)
	updated := s.updates(t, jobs, false)
	require.Equal(t, []string{"list", jobs[1].ID}, s.asked(t))
	require.True(t, updated[1].Missing)
	require.False(t, updated[1].Detail.Ended(), "absence alone is no end")
	require.False(t, updated[0].Missing)
}

// Headings and closing lines are not rows.
func TestAnEmptyListingIsValid(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.write(t, "jobs", "ID STATE SUBMITTED TAG\n")
	updated := s.updates(t, jobs, false)
	require.True(t, updated[0].Missing && updated[1].Missing)
	require.ElementsMatch(t, []string{"list", "1", "2"}, s.asked(t))
}

func TestARowOfAnotherJobWithTheSameIDIsIgnored(t *testing.T) {
	for name, row := range map[string]string{
		"another tag":      "2 COMPLETED 10:00 11111111-2222-3333-4444-555555555555",
		"another identity": "2 COMPLETED 10:00 made-at-23:00",
		"an unknown state": "2 WEIRD 10:00 -",
	} {
		t.Run(name, func(t *testing.T) {
			s, jobs := crowd(t, 2, "")
			s.write(t, "jobs", fmt.Sprintf("1 RUNNING 10:00 %s\n2 RUNNING 10:00 made-at-10:00\n", jobs[0].Tag))
			s.updates(t, jobs, false)
			s.ahead += time.Minute
			s.write(t, "jobs", fmt.Sprintf("1 RUNNING 10:00 %s\n%s\n", jobs[0].Tag, row))
			updated := s.updates(t, jobs, false)
			require.False(t, updated[1].Detail.Ended())
			require.Contains(t, s.asked(t), "2")
		})
	}
}

func TestARecentAnswerIsShared(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="10s"`)
	s.shows(t, jobs, job.Running, job.Running)
	s.updates(t, jobs, false)
	s.shows(t, jobs, job.Completed, job.Completed)
	s.ahead += 9 * time.Second
	require.Equal(t, []job.Detail{job.Running, job.Running}, details(s.updates(t, jobs, false)))
	require.Equal(t, []string{"list"}, s.asked(t))
	require.Empty(t, s.pauses)
}

func TestAFreshQueryOfAFewJobsRunsAtOnce(t *testing.T) {
	s, jobs := crowd(t, 3, `x:interval="1h"`)
	s.shows(t, jobs, job.Running, job.Running, job.Running)
	s.updates(t, jobs, false)
	s.shows(t, jobs, job.Completed, job.Failed, job.Running)
	s.ahead += 2 * time.Second
	require.Equal(t, []job.Detail{job.Completed, job.Failed}, details(s.updates(t, jobs[:2], true)))
	require.Empty(t, s.pauses, "the interval is that of listings")
	require.Equal(t, "list", s.asked(t)[0])
	require.ElementsMatch(t, []string{"1", "2"}, s.asked(t)[1:])
}

func TestAnAnswerYoungerThanASecondIsFresh(t *testing.T) {
	s, jobs := crowd(t, 1, "")
	s.shows(t, jobs, job.Running)
	s.updates(t, jobs, true)
	s.shows(t, jobs, job.Completed)
	s.ahead += 900 * time.Millisecond
	require.Equal(t, job.Running, s.updates(t, jobs, true)[0].Detail)
	s.ahead += 200 * time.Millisecond
	require.Equal(t, job.Completed, s.updates(t, jobs, true)[0].Detail)
	require.Equal(t, []string{"1", "1"}, s.asked(t))
}

// Some hundred of a thousand jobs have left the listing.
func TestAFreshQueryAnswersForEachOfManyJobs(t *testing.T) {
	s, jobs := crowd(t, 90, `x:interval="10s"`)
	states := make([]job.Detail, len(jobs))
	states[0] = job.Running
	s.shows(t, jobs, states...)
	updated := s.updates(t, jobs, true)
	require.Equal(t, job.Running, updated[0].Detail)
	for _, j := range updated[1:] {
		require.True(t, j.Missing)
	}
	require.Len(t, s.asked(t), len(jobs), "one listing, and each that it lacks once")
	s.ahead += 4 * time.Second
	begun := s.ahead
	s.updates(t, jobs, true)
	require.InDelta(t, 6, (s.ahead - begun).Seconds(), 2, "many jobs wait for the interval of the listing")
}

func TestAJobWithoutAFreshAnswerIsStale(t *testing.T) {
	s, jobs := crowd(t, 30, `x:interval="1h"`)
	states := make([]job.Detail, len(jobs))
	for i := range states {
		states[i] = job.Running
	}
	s.shows(t, jobs, states...)
	s.updates(t, jobs, false)
	s.ahead += time.Minute
	updated, err := s.Update(t.Context(), jobs, true)
	require.ErrorAs(t, err, new(*control.TooSoonError))
	for _, j := range updated {
		require.True(t, j.Stale)
		require.Contains(t, j.StaleReason, "the jobs are listed again at")
	}
	require.False(t, s.updates(t, jobs, false)[0].Stale, "nothing of it is on record")
}

func TestAJobThatWasNeverQueriedJustifiesAShortWait(t *testing.T) {
	for wait, expected := range map[time.Duration]job.Detail{9500 * time.Millisecond: job.Running, 5 * time.Second: job.Submitted} {
		s, jobs := crowd(t, 1, `x:interval="10s"`)
		s.shows(t, jobs, job.Running)
		s.updates(t, jobs, false)
		jobs = append(jobs, s.submits(t, job.Submission{Executable: "x"}))
		s.shows(t, jobs, job.Running, job.Running)
		s.ahead += wait
		require.Equal(t, expected, s.updates(t, jobs, false)[1].Detail, wait)
	}
}

func TestASlowSchedulerIsQueriedLess(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, job.Running)
	slow := s.options
	slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(20 * time.Second) })}
	s.Controller = control.New(slow)
	s.updates(t, jobs, false)
	s.ahead += 370 * time.Second
	s.updates(t, jobs, false)
	require.Len(t, s.asked(t), 1, "a second query would make 40 s of ten minutes, more than a twentieth")
	s.ahead += 20 * time.Second
	s.updates(t, jobs, false)
	require.Len(t, s.asked(t), 2)
}

func TestAFailedListingOnlyMarksJobsStale(t *testing.T) {
	for name, fault := range map[string]string{"down": "controller is down", "cut": "exited with code 1"} {
		t.Run(name, func(t *testing.T) {
			s, jobs := crowd(t, 2, "")
			s.shows(t, jobs, job.Running, job.Running)
			s.updates(t, jobs, false)
			s.ahead += time.Minute
			s.shows(t, jobs, job.Completed, "")
			s.write(t, name, "")
			updated, err := s.Update(t.Context(), jobs, false)
			var failed *control.QueryError
			require.ErrorAs(t, err, &failed)
			require.ErrorContains(t, err, fault)
			for _, j := range updated {
				require.Equal(t, job.Running, j.Detail)
				require.True(t, j.Stale)
				require.Contains(t, j.StaleReason, fault)
			}
		})
	}
}

func TestManyControllersShareOneQuery(t *testing.T) {
	s, jobs := crowd(t, 20, `x:interval="30s"`)
	states := make([]job.Detail, len(jobs))
	for i := range states {
		states[i] = job.Running
	}
	s.shows(t, jobs, states...)
	options := s.options
	options.Pause = nil
	var asking sync.WaitGroup
	for range 10 {
		options.Store = openStore(t, s.state)
		another := control.New(options)
		asking.Go(func() {
			updated, err := another.Update(t.Context(), jobs, false)
			if err != nil {
				t.Error(err)
				return
			}
			for _, j := range updated {
				if j.Detail != job.Running {
					t.Errorf("job %s is %s", j.ID, j.Detail)
				}
			}
		})
	}
	asking.Wait()
	require.Equal(t, []string{"list"}, s.asked(t))
}

func TestWaitingForManyJobsReportsEachStateOnce(t *testing.T) {
	s, jobs := crowd(t, 3, `x:interval="1s"`)
	s.shows(t, jobs, job.QueuedActive, job.QueuedActive, job.QueuedActive)
	looks := 0
	s.whilePausing = func() error {
		looks++
		switch looks {
		case 40:
			s.shows(t, jobs, job.Running, job.Running, job.QueuedActive)
		case 80:
			s.shows(t, jobs, job.Completed, job.Running, job.Canceled)
		case 120:
			s.shows(t, jobs, job.Completed, job.Failed, job.Canceled)
		}
		return nil
	}
	reported := map[string][]job.Detail{}
	ended, err := s.WaitAll(t.Context(), jobs, "", func(job job.Job) { reported[job.ID] = append(reported[job.ID], job.Detail) })
	require.NoError(t, err)
	require.Equal(t, []job.Detail{job.Completed, job.Failed, job.Canceled}, details(ended))
	require.Equal(t, map[string][]job.Detail{
		"1": {job.QueuedActive, job.Running, job.Completed},
		"2": {job.QueuedActive, job.Running, job.Failed},
		"3": {job.QueuedActive, job.Canceled},
	}, reported)
}

func TestAForgottenJobEndsItsWait(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1s"`)
	s.shows(t, jobs, job.Running, "")
	s.whilePausing = func() error {
		if len(s.asked(t)) > 8 {
			s.shows(t, jobs, job.Completed, "")
		}
		return nil
	}
	ended, err := s.WaitAll(t.Context(), jobs, "", nil)
	var missing *control.MissingError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, jobs[1].ID, missing.Job.ID)
	require.Equal(t, job.Completed, ended[0].Detail)
}

func TestACanceledPollIsLeftToOthers(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.shows(t, jobs, job.Running, job.Running)
	ctx, cancel := context.WithCancel(t.Context())
	hasty := s.options
	hasty.Connection = &faultyConnection{Connection: hasty.Connection, start: startHook(cancel)}
	_, err := control.New(hasty).Update(ctx, jobs, false)
	require.ErrorIs(t, err, context.Canceled)
	s.ahead += time.Minute
	require.Equal(t, []job.Detail{job.Running, job.Running}, details(s.updates(t, jobs, false)))
}

// holds lets another process be at work on the query that all share.
func (s *site) holds(t testing.TB, holder string) {
	t.Helper()
	counts, err := s.store.Polls().All(t.Context(), s.options.Now())
	require.NoError(t, err)
	require.Len(t, counts, 1)
	_, granted, err := s.store.Polls().Claim(t.Context(), polls.Claim{
		PollKey: counts[0].PollKey, Target: counts[0].Targets[0], Holder: holder, Lease: time.Hour, Now: s.options.Now(), Due: func(polls.Poll) bool { return true },
	})
	require.NoError(t, err)
	require.True(t, granted)
}

func TestTheQueryOfAKilledProcessIsRepeatedAtOnce(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.shows(t, jobs, job.Running, job.Running)
	s.updates(t, jobs, false)
	s.ahead += time.Minute
	host, err := os.Hostname()
	require.NoError(t, err)
	const beyondAllProcesses = 1 << 30
	s.holds(t, fmt.Sprintf("some-controller %d 1 %s", beyondAllProcesses, host))
	s.shows(t, jobs, job.Failed, job.Running)
	begun := s.ahead
	require.Equal(t, job.Failed, s.updates(t, jobs, false)[0].Detail)
	require.Less(t, s.ahead-begun, time.Second, "nobody waits for the end of its claim")
}

func TestAnOldAnswerIsReturnedWhileAnotherProcessQueries(t *testing.T) {
	s, jobs := crowd(t, 2, `x:interval="1m"`)
	s.shows(t, jobs, job.Running, job.Running)
	jobs = s.updates(t, jobs, false)
	s.holds(t, "some-controller 1 1 another-host")
	begun := s.ahead
	require.Equal(t, job.Running, s.updates(t, jobs, false)[0].Detail)
	require.Equal(t, begun, s.ahead)
	require.Len(t, s.asked(t), 1)
}

// Commands of Slurm try for nine seconds to reach an absent controller. That keeps no
// scheduler busy, so rmctl retries soon.
func TestAnUnreachableSchedulerIsRetriedSoon(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.shows(t, jobs, job.Running, job.Running)
	away := s.options
	away.Connection = &faultyConnection{Connection: away.Connection, start: startHook(func() { s.passes(9 * time.Second) })}
	s.Controller = control.New(away)
	for name, outage := range map[string]struct {
		file    string
		at      time.Duration // after the third failure
		isAsked bool
	}{
		"not reached":        {"away", 20 * time.Second, true},
		"failed, and slowly": {"down", 20 * time.Second, false},
		"failed, long ago":   {"down", 3 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			s.write(t, outage.file, "")
			for range 3 {
				s.ahead += 6 * time.Minute
				_, err := s.Update(t.Context(), jobs, false)
				require.Error(t, err)
			}
			require.NoError(t, os.Remove(s.path(outage.file)))
			tried := len(s.asked(t))
			s.ahead += outage.at
			_, err := s.Update(t.Context(), jobs, false)
			require.Equal(t, outage.isAsked, err == nil)
			require.Equal(t, outage.isAsked, len(s.asked(t)) > tried)
			s.ahead += 6 * time.Minute
			s.updates(t, jobs, false)
		})
	}
}

// A command may wait until the scheduler is back and then be answered: that was no work for
// the scheduler either.
func TestARecoveredSchedulerIsQueriedSoon(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.shows(t, jobs, job.Running, job.Running)
	slow := s.options
	slow.Connection = &faultyConnection{Connection: slow.Connection, start: startHook(func() { s.passes(16 * time.Second) })}
	isAskedSoon := func() bool {
		before := len(s.asked(t))
		s.ahead += 20 * time.Second
		s.updates(t, jobs, false)
		return len(s.asked(t)) > before
	}
	s.write(t, "away", "")
	_, err := control.New(slow).Update(t.Context(), jobs, false)
	require.Error(t, err)
	require.NoError(t, os.Remove(s.path("away")))
	_, err = control.New(slow).Update(t.Context(), jobs, true)
	require.NoError(t, err)
	require.True(t, isAskedSoon())

	s.ahead += 6 * time.Minute
	_, err = control.New(slow).Update(t.Context(), jobs, false)
	require.NoError(t, err)
	require.False(t, isAskedSoon(), "it is slow although it was there")
}

// A query that hangs until its time limit takes long. That must not delay the next query by
// twenty times as long once the scheduler is back.
func TestAHungQueryIsRetriedSoon(t *testing.T) {
	s, jobs := crowd(t, 2, "")
	s.shows(t, jobs, job.Running, job.Running)
	s.write(t, "down", "")
	hanging := s.options
	hanging.Connection = &faultyConnection{Connection: hanging.Connection, start: startHook(func() { s.passes(2 * time.Minute) })}
	_, err := control.New(hanging).Update(t.Context(), jobs, false)
	require.Error(t, err)
	require.NoError(t, os.Remove(s.path("down")))
	s.ahead += 4 * time.Minute
	require.Equal(t, job.Running, s.updates(t, jobs, false)[0].Detail)
}

// busy returns a site with a fake clock. Each command takes some time of it, and the site
// counts the total.
func busy(t *testing.T, count int, attributes string, each time.Duration) (s *site, jobs []job.Job, total *time.Duration) {
	t.Helper()
	s, jobs = crowd(t, count, attributes)
	options, total := s.options, new(time.Duration)
	var lock sync.Mutex
	options.Connection = &faultyConnection{Connection: options.Connection, start: startHook(func() {
		lock.Lock()
		defer lock.Unlock()
		s.ahead += each
		*total += each
	})}
	start := time.Now()
	options.Now = func() time.Time {
		lock.Lock()
		defer lock.Unlock()
		return start.Add(s.ahead)
	}
	s.Controller = control.New(options)
	return s, jobs, total
}

func TestQueriesUseLittleTimeOfTheScheduler(t *testing.T) {
	for name, shown := range map[string][]job.Detail{
		"listings":         {job.Running, job.QueuedActive},
		"one job":          {job.Running},
		"single questions": {"", "", job.Running},
	} {
		t.Run(name, func(t *testing.T) {
			s, jobs, total := busy(t, len(shown), `x:interval="1s"`, 700*time.Millisecond)
			s.shows(t, jobs, shown...)
			s.updates(t, jobs, false)
			begun := s.ahead
			for s.ahead < begun+20*time.Minute {
				s.ahead += 5 * time.Second
				shown[len(shown)-1] = map[bool]job.Detail{true: job.Running, false: job.Suspended}[shown[len(shown)-1] != job.Running]
				s.shows(t, jobs, shown...) // something moves all the time
				s.updates(t, jobs, false)
			}
			require.LessOrEqual(t, float64(*total)/float64(s.ahead-begun), 0.08, "a twentieth, and once as much as in ten minutes")
			require.Greater(t, *total, 10*time.Second)
		})
	}
}

func TestQueriesSlowDownUntilAChange(t *testing.T) {
	s, jobs, _ := busy(t, 2, `x:interval="2s"`, 0)
	// next is the time until the next query.
	next := func() time.Duration {
		asked := len(s.asked(t))
		for begun := s.ahead; ; s.ahead += 250 * time.Millisecond {
			if s.updates(t, jobs, false); len(s.asked(t)) > asked {
				return s.ahead - begun
			}
			require.Less(t, s.ahead-begun, 2*time.Minute)
		}
	}
	s.shows(t, jobs, job.Running, job.Running)
	next()
	require.InDelta(t, 2, next().Seconds(), 0.3, "the interval of the definition, after a change")
	s.ahead += 2 * time.Minute
	next()
	require.InDelta(t, 6, next().Seconds(), 1, "a twentieth of the time that has passed without any change")
	s.ahead += time.Hour
	next()
	require.InDelta(t, 60, next().Seconds(), 1, "a minute at most")
	s.shows(t, jobs, job.Suspended, job.Running)
	next()
	require.InDelta(t, 2, next().Seconds(), 0.3)
}
