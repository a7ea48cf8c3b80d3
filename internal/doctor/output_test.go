package doctor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/doctor"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// misunderstood returns a site with a record, whose scheduler once printed what the
// definition does not understand.
func misunderstood(t *testing.T, target string) *site {
	t.Helper()
	s := newSite(t, define(t, `<submit-batch name="submit"><arg>true</arg></submit-batch>
		<get-job-status name="status"><arg>echo NOVEL</arg></get-job-status>`))
	store, err := jobstore.Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	s.options.Target, s.options.Store = target, store
	require.Equal(t, doctor.Fine, examined(t, s, "output").Verdict)
	controller := control.New(s.options)
	submitted, err := controller.Submit(t.Context(), job.Submission{Executable: "true"})
	require.NoError(t, err)
	_, err = controller.Status(t.Context(), submitted, true)
	require.Error(t, err)
	return s
}

func TestAnExaminationListsWhatWasNotUnderstood(t *testing.T) {
	s := misunderstood(t, "here")
	finding := examined(t, s, "output")
	require.Equal(t, doctor.Warning, finding.Verdict)
	require.Contains(t, finding.Seen, "not recognized: 1, ")
	require.Contains(t, finding.Seen, "NOVEL")
	require.Contains(t, finding.Fix, "rmctl record DIR -- status --fresh here/")
	s.options.Now = func() time.Time { return time.Now().Add(31 * 24 * time.Hour) }
	require.Equal(t, doctor.Fine, examined(t, s, "output").Verdict)
}

func TestTheCommandThatRecordsWhatWasNotUnderstoodIsSafeToPaste(t *testing.T) {
	s := misunderstood(t, "here; rm -r x")
	require.Contains(t, examined(t, s, "output").Fix, `rmctl record DIR -- status --fresh 'here; rm -r x/`)
}
