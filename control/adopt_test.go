package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/presence"
	"github.com/rmctl/rmctl/job"
)

// untagging is a scheduler whose file "jobs" has the ids, tags, owners and times of
// submission of jobs that ended. Those in "candidates" have lost their tags.
func untagging(t *testing.T) *site {
	t.Helper()
	rows := `<x:table columns="id tag owner submitted"/><x:id from="id"/>
		<x:fact name="identity" from="tag" as="tag"/><x:fact name="owner" from="owner"/><x:fact name="submitted" from="submitted" as="time"/>`
	s := newSite(t, define(t, running("submit-batch", "echo job 7", `waitForId="true" x:timeout="10s"`, jobIDParser)+
		running("get-job-status", "cat jobs", "", `<x:read none="-">`+rows+`<x:states of="'ended'"><x:state is="COMPLETED"/></x:states></x:read>`)+
		running("x:find-job", `cat jobs`, `x:timeout="1m"`, `<x:read none="-">`+rows+`</x:read>`+
			running("x:fallback", `echo since always`, `on="ok"`, `<x:read><x:lines expression="since (.*)" columns="since"/>
				<x:join name="left" by=""><arg>cat candidates</arg><x:lines expression="(\d+)" columns="id"/></x:join>
				<x:absent candidates="left/id"/></x:read>`))))
	s.write(t, "jobs", "")
	s.write(t, "candidates", "")
	s.stopClock()
	return s
}

// mine is a row of a job of this user without a tag, submitted at a time.
func (s *site) mine(id string, at time.Time) string {
	return id + " - " + s.Place.User + " " + at.Format("2006-01-02T15:04:05Z07:00") + "\n"
}

func (s *site) isInDoubt(t *testing.T, j job.Job) *control.UnconfirmedError {
	t.Helper()
	_, err := s.Recover(t.Context(), j)
	var unconfirmed *control.UnconfirmedError
	require.ErrorAs(t, err, &unconfirmed)
	return unconfirmed
}

func TestAJobWithoutATagIsACandidateForASubmission(t *testing.T) {
	s := untagging(t)
	cut := s.cutOff(t)
	s.ahead += time.Hour
	s.write(t, "candidates", "9\n")
	doubt := s.isInDoubt(t, cut)
	require.Equal(t, []string{"9"}, doubt.Candidates)
	require.ErrorContains(t, doubt, "it may be job 9\nrecord one with rmctl recover --adopt JOB --as the-tag")
	s.write(t, "candidates", "9\n11\n")
	require.ErrorContains(t, s.isInDoubt(t, cut), "one of the jobs 9 11")
	s.write(t, "candidates", "")
	j, err := s.Recover(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, j.Phase)
}

// So of many submissions that were cut off, one job leaves none in doubt but its own.
func TestARecordedJobIsNoCandidateForAnotherSubmission(t *testing.T) {
	s := untagging(t)
	cut, other := s.cutOff(t), s.submits(t, job.Submission{Executable: "x"})
	s.ahead += time.Hour
	s.write(t, "candidates", other.ID+"\n")
	j, err := s.Recover(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, j.Phase)
}

// A scheduler gives its ids again.
func TestAnIDReusedAfterAnEndedJobIsACandidate(t *testing.T) {
	s := untagging(t)
	earlier := s.submits(t, job.Submission{Executable: "x"})
	_, err := s.store.Observe(t.Context(), earlier.Tag, job.Observation{Detail: job.Completed, Observed: s.options.Now()})
	require.NoError(t, err)
	s.ahead += 24 * time.Hour
	cut := s.cutOff(t)
	s.ahead += time.Hour
	s.write(t, "candidates", earlier.ID+"\n")
	require.Equal(t, []string{earlier.ID}, s.isInDoubt(t, cut).Candidates)
}

// The tag shows only now that the job belongs to another submission.
func TestJobsFoundByTagAreNoCandidates(t *testing.T) {
	s := untagging(t)
	jobs := s.fifty(t)
	s.ahead += time.Hour
	s.write(t, "jobs", "9 "+jobs[49].Tag+" - -\n")
	s.write(t, "candidates", "9\n")
	recovered, problems := s.RecoverEach(t.Context(), jobs, nil)
	for i := range jobs {
		require.NoError(t, problems[i])
		require.Equal(t, i == 49, recovered[i].ID == "9")
	}
}

func TestAUserAssignsAJobToASubmission(t *testing.T) {
	s := untagging(t)
	cut := s.cutOff(t)
	s.write(t, "jobs", s.mine("9", cut.Created))
	adopted, err := s.Adopt(t.Context(), cut.Tag, "9")
	require.NoError(t, err)
	require.Equal(t, "9", adopted.ID)
	require.Equal(t, job.PhaseSubmitted, adopted.Phase)
	require.Equal(t, job.Completed, adopted.Detail)
	_, err = s.Adopt(t.Context(), cut.Tag, "9")
	require.ErrorContains(t, err, "is on record as job 9")
}

func TestAContradictingJobIsNotAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		row  func(*site, job.Job) string
		want string
	}{
		"unknown to the scheduler": {func(*site, job.Job) string { return "" }, `unknown job "9"`},
		"of another user":          {func(*site, job.Job) string { return "9 - somebody-else@host -\n" }, "belongs to user somebody-else"},
		"of another submission": {func(*site, job.Job) string {
			return "9 2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2 - -\n"
		}, "belongs to submission 2f4bb9f2"},
		"too old": {func(s *site, cut job.Job) string { return s.mine("9", cut.Created.Add(-time.Hour)) }, "before submission the-tag"},
	} {
		t.Run(name, func(t *testing.T) {
			s := untagging(t)
			cut := s.cutOff(t)
			s.write(t, "jobs", c.row(s, cut))
			_, err := s.Adopt(t.Context(), cut.Tag, "9")
			require.ErrorContains(t, err, c.want)
			now, err := s.store.ByTag(t.Context(), cut.Tag)
			require.NoError(t, err)
			require.Empty(t, now.ID)
		})
	}
}

func TestARecordedJobIsNotAdoptedAgain(t *testing.T) {
	s := untagging(t)
	cut, other := s.cutOff(t), s.submits(t, job.Submission{Executable: "x"})
	s.write(t, "jobs", s.mine(other.ID, cut.Created))
	_, err := s.Adopt(t.Context(), cut.Tag, other.ID)
	require.ErrorContains(t, err, "is on record for submission "+other.Tag)
}

func TestASubmissionInProgressIsNotAdopted(t *testing.T) {
	s := untagging(t)
	require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: "mine", Target: "here", Submitter: presence.ThisProcess()}))
	_, err := s.Adopt(t.Context(), "mine", "9")
	require.ErrorContains(t, err, "being submitted right now")
}

// Its name is by default that of the program; a script of the user's own may give any.
func TestALookUpGetsTheNameOfTheJob(t *testing.T) {
	for name, c := range map[string]struct {
		submission job.Submission
		want       string
	}{
		"by default":      {job.Submission{Executable: "/opt/bin/sim"}, "it may be job 9"},
		"as the user did": {job.Submission{Executable: "/opt/bin/sim", Values: []job.Assignment{{Name: "job-name", Value: "other"}}}, "it may be job 11"},
		"in a script":     {job.Submission{Script: "own.sh"}, "it may be one of the jobs 9 11"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, define(t, `<attribute name="job-name" type="string"><default>${ptp_rm:executableName#value}</default></attribute><script><line><arg>true</arg></line></script>`+
				running("submit-batch", "echo nothing", `waitForId="true" x:timeout="10s"`, jobIDParser)+
				running("x:find-job", "true", `x:timeout="1m"`, `<x:read><x:table columns="id tag"/>`+tagged+`</x:read>`+
					running("x:fallback", `echo since always`, `on="ok"`, `<x:read><x:lines expression="since (.*)" columns="since"/>
						<x:join name="left" by=""><arg>cat left</arg><x:lines expression="(\d+) (\S+)" columns="id name"/></x:join>
						<x:absent candidates="left[name=@job-name or @script_path!='']/id"/></x:read>`))))
			s.write(t, "own.sh", "true\n")
			s.write(t, "left", "9 sim\n11 other\n")
			if c.submission.Script != "" {
				c.submission.Script = s.path(c.submission.Script)
			}
			_, err := s.Submit(t.Context(), c.submission)
			require.Error(t, err)
			s.ahead += time.Hour
			require.ErrorContains(t, s.isInDoubt(t, s.unresolved(t)[0]), c.want)
		})
	}
}
