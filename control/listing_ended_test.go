package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// endedBy is a definition whose listing of ended jobs gets words, and prints for each id
// after the first word a job that failed. Its fourth run fails.
func endedBy(t testing.TB, words string) *config.Definition {
	t.Helper()
	return define(t, running("submit-batch", "echo job 7", `waitForId="true"`, jobIDParser)+
		`<x:ids form="([\d.a-z\[\]]+)" columns="job"/><x:reader name="ended"><x:table columns="id state code"/>
			<x:states of="state"><x:state is="FAILED" words="FAILED"/></x:states><x:fact name="exitCode" from="code" as="integer"/></x:reader>`,
		`<monitor-data schedulerType="test"><x:list-ended name="ended"><arg>sh -c</arg>
			<arg resolve="false">'echo "$@" >>asked; test "$(wc -l &lt;asked)" != 4 || exit 1; shift; for id; do echo "$id FAILED 3"; done' sh</arg>
			<arg>`+words+`</arg><x:read reader="ended"/></x:list-ended></monitor-data>`)
}

func TestAListingOfEndedJobsGetsTheirIDsAsWordsInBatches(t *testing.T) {
	s := newSite(t, endedBy(t, "ids ${ptp_rm:query.ids#value}"))
	ids := longIDs(300)
	odd := []string{"-x", "1 2", "3,4", "7`id`", "8\n9", "1$HOME", "1)or(1=1"}
	ended, err := s.ListEnded(t.Context(), s.recorded(t, append(odd, ids...)...))
	require.NoError(t, err)
	require.Len(t, ended, len(ids))
	require.Equal(t, job.Failed, ended[ids[7]].Detail)
	require.Equal(t, 3, *ended[ids[7]].ExitCode)
	require.Equal(t, "ended", ended[ids[7]].Source)
	var given []string
	for line := range strings.Lines(s.read(t, "asked")) {
		words := strings.Fields(line)
		require.Equal(t, "ids", words[0])
		require.LessOrEqual(t, len(line)-len("ids \n"), 16<<10)
		given = append(given, words[1:]...)
	}
	require.ElementsMatch(t, ids, given)
	require.Equal(t, 3, strings.Count(s.read(t, "asked"), "\n"))
}

func TestRowsOfEndedJobsBeforeAFailureCount(t *testing.T) {
	s := newSite(t, endedBy(t, "ids ${ptp_rm:query.ids#value}"))
	ended, err := s.ListEnded(t.Context(), s.recorded(t, longIDs(450)...))
	require.Error(t, err)
	require.Greater(t, len(ended), 300)
	require.Less(t, len(ended), 450)
}

func TestAListingOfEndedJobsGetsTheirIDsWithCommas(t *testing.T) {
	s := newSite(t, endedBy(t, "${ptp_rm:job.ids#value}"))
	_, err := s.ListEnded(t.Context(), s.recorded(t, "17", "18[].server", "-9"))
	require.NoError(t, err)
	require.Equal(t, "17,18[].server\n", s.read(t, "asked"))
}

// Its rows are about whole jobs, and less precise than the known tasks.
func TestAListingOfEndedJobsGetsNoIDsOfTasks(t *testing.T) {
	definition := endedBy(t, "${ptp_rm:job.ids#value}")
	definition.IDs.Form, definition.IDs.Columns = config.Pattern{Text: `(\d+)(?:\.(\d+))?`}, []string{"job", "task"}
	s := newSite(t, definition)
	_, err := s.ListEnded(t.Context(), s.recorded(t, "17", "17.3", "18"))
	require.NoError(t, err)
	require.Equal(t, "17,18\n", s.read(t, "asked"))
}

func TestAListingOfEndedJobsWithoutIDsRunsOnceSinceTheEarliestSubmission(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	definition := endedBy(t, "${ptp_rm:job.since#value} ${ptp_rm:job.days#value} ${ptp_rm:job.age#value}")
	definition.Command(config.ListEnded).Environment = []*config.EnvironmentEntry{{Name: "TZ", Value: config.Optional{Text: "Europe/Berlin", Set: true}}}
	noon := time.Date(2027, time.January, 10, 12, 0, 0, 0, time.UTC)
	s := newSite(t, definition, func(o *control.Options) { o.Now = func() time.Time { return noon } })
	jobs := s.recorded(t, "17", "-18", "19")
	jobs[1].Created = noon.Add(-50 * time.Hour)
	_, err = s.ListEnded(t.Context(), jobs)
	require.NoError(t, err)
	require.Equal(t, noon.Add(-50*time.Hour-10*time.Minute).In(berlin).Format("200601021504")+" 4 180000\n", s.read(t, "asked"))
}

func TestAListingOfEndedJobsByIDsDoesNotRunWithoutSafeIDs(t *testing.T) {
	s := newSite(t, endedBy(t, "${ptp_rm:job.ids#value}"))
	ended, err := s.ListEnded(t.Context(), s.recorded(t, "-x"))
	require.NoError(t, err)
	require.Empty(t, ended)
	require.False(t, s.exists("asked"))
}
