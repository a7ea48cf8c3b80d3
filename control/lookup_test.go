package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

const tagged = `<x:id from="id"/><x:fact name="identity" from="tag"/>`

// forgettingQueue is a scheduler that lists its jobs in the file "queue" and ended ones in
// "accounting". Without accounting, its definition has the time for which it lists a job.
func forgettingQueue(t *testing.T) *site {
	t.Helper()
	table := `<x:read><x:table columns="id tag"/>` + tagged
	return newSite(t, define(t, running("submit-batch", "echo job 7", `waitForId="true" x:timeout="10s"`, jobIDParser)+
		running("x:find-job", `cat queue`, `x:timeout="1m"`, table+`</x:read>`+
			running("x:fallback", `echo days ${RMCTL_DAYS} since ${RMCTL_SINCE} >>asked; cat accounting`, `on="ok"`,
				`<environment name="RMCTL_DAYS" value="${ptp_rm:job.days#value}"/><environment name="RMCTL_SINCE" value="${ptp_rm:job.since#value}"/>`+table+`<x:absent within="30d" unless="behind"/></x:read>`)+
			`<x:fallback name="how-long" on="not-found"><arg>/bin/echo kept 300 sec</arg><x:read><x:lines expression="kept (.*)" columns="kept"/><x:absent within="kept"/></x:read></x:fallback>`)+
		`<x:outcome kind="not-found" expression="accounting: No such file"/>`))
}

func TestFallbacksOfALookUpAreTriedUntilTheJobIsFound(t *testing.T) {
	for _, c := range []struct {
		what, queue, accounting string
		id                      string
		asked                   bool
	}{
		{"in the queue", "6 other\n8 the-tag\n", "", "8", false},
		{"in accounting", "6 other\n", "9 the-tag\n", "9", true},
		{"the first of two", "18 the-tag\n8 the-tag\n", "", "8", false},
	} {
		s := forgettingQueue(t)
		cut := s.cutOff(t)
		s.write(t, "queue", c.queue)
		s.write(t, "accounting", c.accounting)
		j, err := s.Recover(t.Context(), cut)
		require.NoError(t, err, c.what)
		require.Equal(t, c.id, j.ID, c.what)
		require.Equal(t, c.asked, s.exists("asked"), c.what)
	}
}

func TestOnlyASchedulerWithAccountingProvesThatAJobDoesNotExist(t *testing.T) {
	for _, c := range []struct {
		what       string
		accounting bool
		age        time.Duration
		rejected   bool
	}{
		{"accounting knows", true, 29 * 24 * time.Hour, true},
		{"accounting has forgotten", true, 31 * 24 * time.Hour, false},
		{"the scheduler still lists it", false, time.Minute, true},
		{"the scheduler has forgotten", false, time.Hour, false},
	} {
		s := forgettingQueue(t)
		cut := s.cutOff(t)
		s.write(t, "queue", "")
		if c.accounting {
			s.write(t, "accounting", "1 other\n")
		}
		s.ahead += c.age
		j, err := s.Recover(t.Context(), cut)
		if c.rejected {
			require.NoError(t, err, c.what)
			require.Equal(t, job.PhaseRejected, j.Phase, c.what)
			continue
		}
		var unconfirmed *control.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed, c.what)
		require.ErrorContains(t, err, "may have forgotten it", c.what)
	}
}

func TestADamagedRowMayBelongToTheJob(t *testing.T) {
	for _, c := range []struct{ queue, accounting, id string }{{"8\n", "1 other\n", ""}, {"8\n", "9 the-tag\n", "9"}} {
		s := forgettingQueue(t)
		cut := s.cutOff(t)
		s.write(t, "queue", c.queue)
		s.write(t, "accounting", c.accounting)
		s.ahead += time.Hour
		j, err := s.Recover(t.Context(), cut)
		require.Equal(t, c.id, j.ID)
		if c.id == "" {
			require.ErrorContains(t, err, "may have forgotten it")
		}
	}
}

func TestALookUpGetsTheTimeOfTheSubmission(t *testing.T) {
	s := forgettingQueue(t)
	cut := s.cutOff(t)
	s.write(t, "queue", "")
	s.write(t, "accounting", "")
	s.ahead += 50 * time.Hour
	_, err := s.Recover(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, "days 4 since "+cut.Created.Add(-10*time.Minute).Local().Format("200601021504")+"\n", s.read(t, "asked"))
}
