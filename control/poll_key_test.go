package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// partitioned is a definition whose listing depends on the attribute "partition",
// and on nothing else that a target may set.
func partitioned(t testing.TB) *config.Definition {
	t.Helper()
	return define(t, `<attribute name="partition"/><attribute name="account"/>`+
		running("submit-batch", `number=$(cat number 2>/dev/null || echo 0); number=$((number+1)); echo $number >number; echo job $number`, `waitForId="true"`, jobIDParser)+
		running("get-job-status", `echo status >>asked; echo RUNNING`, "", asStatus),
		`<monitor-data schedulerType="test">`+running("x:list-jobs", `echo list$PARTITION >>asked; cat jobs`, `x:interval="10s"`,
			`<environment name="PARTITION" value="${ptp_rm:partition#value}"/>
			<stdout-parser delim="\n"><target><match><expression>(\d+) ([A-Z_]+) (\S+) (\S+)</expression>
				<set field="name"><entry valueGroup="1"/></set>
				<put field="value"><entry key="state" valueGroup="2"/><entry key="identity" valueGroup="4"/></put></match></target></stdout-parser>`)+`</monitor-data>`)
}

// twoTargets returns two targets of one site, "here" and "there", and three jobs: the
// last two are those of "there".
func twoTargets(t testing.TB, there ...func(*control.Options)) (s *site, other *control.Controller, jobs []job.Job) {
	t.Helper()
	s = newSite(t, partitioned(t), func(o *control.Options) { o.Jitter = func() float64 { return 0 } })
	s.stopClock()
	options := s.options
	options.Target = "there"
	for _, change := range there {
		change(&options)
	}
	other = control.New(options)
	jobs = []job.Job{s.submits(t, job.Submission{Executable: "x"})}
	for range 2 {
		job, err := other.Submit(t.Context(), job.Submission{Executable: "x"})
		require.NoError(t, err)
		jobs = append(jobs, job)
	}
	s.ahead += time.Minute
	s.shows(t, jobs, job.Running, job.QueuedActive, job.Failed)
	return s, other, jobs
}

func TestTargetsOfOneSchedulerShareTheirQueries(t *testing.T) {
	s, there, jobs := twoTargets(t, func(o *control.Options) { o.Defaults = []job.Assignment{{Name: "account", Value: "proj7"}} })
	updated, err := there.Update(t.Context(), jobs[1:], false)
	require.NoError(t, err)
	require.Equal(t, []job.Detail{job.QueuedActive, job.Failed}, details(updated))
	require.Equal(t, job.Submitted, s.updates(t, jobs[:1], false)[0].Detail, "it was asked for without the jobs of here")

	s.ahead += 10 * time.Second
	require.Equal(t, job.Running, s.updates(t, jobs[:1], false)[0].Detail)
	s.shows(t, jobs, job.Completed, job.Running, job.Failed)
	s.ahead += time.Minute
	s.updates(t, jobs[:1], false)
	updated, err = there.Update(t.Context(), jobs[1:], false)
	require.NoError(t, err)
	require.Equal(t, []job.Detail{job.Running, job.Failed}, details(updated), "what one asks for counts for the other")
	require.Equal(t, "list\nlist\nlist\n", s.read(t, "asked"))
	polls, err := s.store.Polls().All(t.Context(), s.options.Now())
	require.NoError(t, err)
	require.Len(t, polls, 1)
	require.Equal(t, []string{"here", "there"}, polls[0].Targets)
}

func TestTargetsWithDifferentCommandsDoNotShareQueries(t *testing.T) {
	another := config.Definition{}
	for name, change := range map[string]func(*control.Options){
		"a value that the listing uses": func(o *control.Options) { o.Defaults = []job.Assignment{{Name: "partition", Value: "big"}} },
		"another definition": func(o *control.Options) {
			definition, problems := check.Load("test.xml", append(o.Definition.Sources[0], "<!-- changed -->"...), nil)
			require.NoError(t, problems.Err())
			another = *definition
			o.Definition = &another
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, there, jobs := twoTargets(t, change)
			s.updates(t, jobs[:1], false)
			_, err := there.Update(t.Context(), jobs[1:], false)
			require.NoError(t, err)
			polls, err := s.store.Polls().All(t.Context(), s.options.Now())
			require.NoError(t, err)
			require.Len(t, polls, 2)
		})
	}
}

// A target with a changed definition has jobs that this one must no longer query.
func TestATargetSharesOnlyOneQuery(t *testing.T) {
	s, there, jobs := twoTargets(t)
	s.updates(t, jobs[:1], false)
	_, err := there.Update(t.Context(), jobs[1:], false)
	require.NoError(t, err)
	changed := s.options
	changed.Target, changed.Defaults = "there", []job.Assignment{{Name: "partition", Value: "big"}}
	s.ahead += time.Minute
	_, err = control.New(changed).Update(t.Context(), jobs[1:], false)
	require.NoError(t, err)
	polls, err := s.store.Polls().All(t.Context(), s.options.Now())
	require.NoError(t, err)
	var targets []string
	for _, poll := range polls {
		targets = append(targets, fmt.Sprint(poll.Targets))
	}
	require.ElementsMatch(t, []string{"[here]", "[there]"}, targets)
}

func TestTheJobsOfAnotherConnectionAreNotQueried(t *testing.T) {
	s, there, jobs := twoTargets(t)
	moved := job.Job{Tag: "22222222-2222-3333-4444-555555555555", Target: "there", Connection: "there@ssh:me@before", Created: s.options.Now()}
	require.NoError(t, s.store.Intend(t.Context(), moved))
	_, err := s.store.Accept(t.Context(), moved.Tag, job.Job{ID: "77"})
	require.NoError(t, err)
	_, err = there.Update(t.Context(), jobs[1:2], false)
	require.NoError(t, err)
	require.Contains(t, s.read(t, "asked"), "status", "of its own jobs it asks for all")
	s.ahead += 10 * time.Minute
	s.write(t, "asked", "")
	s.updates(t, jobs[:1], false)
	require.Equal(t, "list\n", s.read(t, "asked"))
}
