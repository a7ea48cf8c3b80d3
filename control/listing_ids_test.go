package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// listingByID is a definition whose listing prints each of its ids as a running job, and fails
// at the batch whose number is in the file "fails".
func listingByID(t testing.TB) *config.Definition {
	t.Helper()
	return define(t, `<attribute name="wanted" visible="false"><default>jobs ${ptp_rm:job.ids#value}</default></attribute>`+
		running("submit-batch", "echo job 7", `waitForId="true"`, jobIDParser)+
		running("get-job-status", `echo "$JOB" >>single; echo RUNNING`, "", `<environment name="JOB" value="${ptp_rm:@jobId#name}"/>`+asStatus),
		`<monitor-data schedulerType="test">`+running("x:list-jobs",
			`printf "%s\n" "$IDS" >>asked; test "$(wc -l <asked)" != "$(cat fails 2>/dev/null)" || exit 1; printf "%s\n" "${IDS#jobs }" | tr , "\n"`, "",
			`<environment name="IDS" value="${ptp_rm:wanted#default}"/>
			<stdout-parser delim="\n"><target><match><expression>(\d\S*)</expression>
				<set field="name"><entry valueGroup="1"/></set>
				<put field="value"><entry key="state" value="RUNNING"/></put></match></target></stdout-parser>`)+`</monitor-data>`)
}

// recorded puts jobs with ids on record.
func (s *site) recorded(t testing.TB, ids ...string) []job.Job {
	t.Helper()
	jobs := make([]job.Job, len(ids))
	for i, id := range ids {
		tag := fmt.Sprintf("%08d-2222-3333-4444-555555555555", i)
		require.NoError(t, s.store.Intend(t.Context(), job.Job{Tag: tag, Target: "here", Created: s.options.Now()}))
		job, err := s.store.Accept(t.Context(), tag, job.Job{ID: id, Observation: job.Observation{Source: "submit-batch"}})
		require.NoError(t, err)
		jobs[i] = job
	}
	s.ahead += time.Minute
	return jobs
}

// longIDs returns different ids of 125 bytes.
func longIDs(count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("%07d.%s", i, strings.Repeat("server", 19)+"abc")
	}
	return ids
}

func TestIDsAreHandedToAListingInBatchesOfBoundedLength(t *testing.T) {
	s := newSite(t, listingByID(t))
	ids := longIDs(400)
	jobs := s.recorded(t, ids...)
	for _, j := range s.updates(t, jobs, false) {
		require.Equal(t, job.Running, j.Detail)
		require.Equal(t, "x:list-jobs", j.Source)
	}
	var listed []string
	for line := range strings.Lines(s.read(t, "asked")) {
		text := strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "jobs ")
		require.LessOrEqual(t, len(text), 16<<10)
		listed = append(listed, strings.Split(text, ",")...)
	}
	require.ElementsMatch(t, ids, listed)
	require.False(t, s.exists("single"))
	require.Equal(t, 4, strings.Count(s.read(t, "asked"), "\n"), "400 ids of 125 bytes and a comma need 50400 bytes")
}

func TestBatchesBeforeAFailureCount(t *testing.T) {
	s := newSite(t, listingByID(t))
	s.write(t, "fails", "2")
	ids := longIDs(200)
	updated, err := s.Update(t.Context(), s.recorded(t, ids...), false)
	var failed *control.QueryError
	require.ErrorAs(t, err, &failed)
	running, stale := 0, 0
	for _, j := range updated {
		switch {
		case j.Detail == job.Running && !j.Stale:
			running++
		case j.Stale && j.Detail != job.Running:
			stale++
		}
	}
	require.Greater(t, running, 100)
	require.Equal(t, len(ids)-running, stale)
}

// What schedulers give as ids never becomes words of a command line.
func TestIDsThatAShellCouldSplitAreQueriedOneByOne(t *testing.T) {
	s := newSite(t, listingByID(t))
	odd := []string{"-x", "1 2", "3,4", `5"6`, "7`id`", "8\n9", "1$HOME"}
	jobs := s.recorded(t, append(odd, "17", "18[].server")...)
	for _, j := range s.updates(t, jobs, false) {
		require.Equal(t, job.Running, j.Detail)
	}
	require.Equal(t, "jobs 17,18[].server\n", s.read(t, "asked"))
	for _, id := range odd {
		require.Contains(t, s.read(t, "single"), id+"\n")
	}
}

func TestRediscoverListsWithoutIDs(t *testing.T) {
	s := newSite(t, listingByID(t))
	s.recorded(t, "17", "18")
	_, err := s.Rediscover(t.Context())
	require.NoError(t, err)
	require.Equal(t, "jobs \n", s.read(t, "asked"))
}

func TestAListingWithoutIDsIsMadeOnceForAll(t *testing.T) {
	s := newSite(t, cluster(t, ""))
	jobs := s.recorded(t, "1", "2", "3")
	s.shows(t, jobs, job.Running, job.Running, job.Running)
	s.updates(t, jobs, false)
	require.Equal(t, []string{"list"}, s.asked(t))
}
