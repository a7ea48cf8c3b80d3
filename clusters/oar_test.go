package clusters_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// rmctl reports the same states of jobs of a real OAR as oarstat.
func TestOAR(t *testing.T) {
	t.Parallel()
	oar := rmctltest.StartOAR(t, "suite")
	desk := func(t *testing.T) *rmctltest.Desk {
		d := rmctltest.NewDesk(t, "", "RMCTL_BACKGROUND=off")
		d.BelongsTo(rmctltest.OARUser)
		return d
	}
	// The test first queries OAR until a job is in a state, and then rmctl, which limits its
	// queries.
	reaches := func(t *testing.T, d *rmctltest.Desk, id, state, detail string) {
		t.Helper()
		require.Eventually(t, func() bool { return oar.Asks(t, "oarstat", "-s", "-j", id) == id+": "+state }, 5*time.Minute, 200*time.Millisecond)
		becomes(t, d, `"detail":"`+detail+`"`, "status", "--json", "--fresh", id)
	}

	t.Run("while all daemons run", func(t *testing.T) {
		t.Run("a job fails", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			said := d.Refused(3, "submit", "-t", "oar", "-s", "wallTime=10m", "-s", "nodes=2", "-s", "tasksPerNode=2", "-e", "GREETING=hello  you", "--show",
				"--", "sh", "-c", `echo "<$GREETING> $(wc -l <"$OAR_NODEFILE")"; exit 3`)
			require.Contains(t, said, "<hello  you> 4")
			require.Contains(t, d.Does("jobs", "--all", "--json"), `"exitCode":3`)
		})

		t.Run("a held job is released, held once more while it waits, and canceled while it runs", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			id := d.Does("submit", "-t", "oar", "-s", "hold=true", "-s", "wallTime=10m", "--", "sleep", "1000")
			reaches(t, d, id, "Hold", "USER_ON_HOLD")
			require.Contains(t, d.Refused(exitScheduler, "hold", id), "not in the right state")
			d.Does("release", id)
			reaches(t, d, id, "Running", "RUNNING")
			require.Contains(t, d.Refused(exitScheduler, "hold", id), "not in the right state")
			require.Contains(t, d.Refused(exitScheduler, "suspend", id), "only oar or root")
			d.Does("cancel", id)
			reaches(t, d, id, "Error", "CANCELED")
		})

		t.Run("an array fails with one of its jobs", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			id := d.Does("submit", "-t", "oar", "-s", "array-size=3", "-s", "wallTime=10m", "--", "sh", "-c", "[ $OAR_ARRAY_INDEX != 2 ]")
			d.Refused(1, "wait", "--timeout", "5m", id)
			require.Contains(t, d.Does("status", "--json", id), `"exitCode":1`)
		})

		t.Run("a held array is released, and canceled while it runs", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			id := d.Does("submit", "-t", "oar", "-s", "array-size=2", "-s", "hold=true", "-s", "wallTime=10m", "--", "sleep", "1000")
			reaches(t, d, id, "Hold", "USER_ON_HOLD")
			d.Does("release", id)
			reaches(t, d, id, "Running", "RUNNING")
			d.Does("cancel", id)
			reaches(t, d, id, "Error", "CANCELED")
			require.Len(t, regexp.MustCompile(`"state" : "Error"`).FindAllString(oar.Asks(t, "oarstat", "-J", "--array", id), -1), 2)
		})

		t.Run("a job waits for another one", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			first := d.Does("submit", "-t", "oar", "-s", "hold=true", "--", "true")
			id := d.Does("submit", "-t", "oar", "-s", "after=any:"+first, "--", "true")
			reaches(t, d, id, "Waiting", "QUEUED_ACTIVE")
			require.Contains(t, oar.Asks(t, "oarstat", "-f", "-j", id), "dependencies = "+first)
			d.Does("hold", id)
			reaches(t, d, id, "Hold", "USER_ON_HOLD")
			d.Does("release", id)
			d.Does("cancel", first)
			d.Does("wait", "--timeout", "5m", id)
		})

		t.Run("nodes, queues and the jobs of all users are listed", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			id := d.Does("submit", "-t", "oar", "-s", "hold=true", "-s", "job-name=listed name", "--", "true")
			nodes := d.Does("nodes", "-t", "oar", "--json")
			require.Regexp(t, `"name":"node1".*"state":"UP".*"cpus":8`, nodes)
			require.Contains(t, nodes, `"name":"node2"`)
			require.Regexp(t, `"name":"default".*"waiting":[1-9]`, d.Does("queues", "-t", "oar", "--json"))
			require.Regexp(t, `"id":"`+id+`".*"detail":"USER_ON_HOLD".*"queue":"default"`, d.Does("jobs", "--everyone", "-t", "oar", "--json"))
			d.Does("cancel", id)
		})

		t.Run("what OAR refuses is no job", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			require.Contains(t, d.Refused(exitScheduler, "submit", "-t", "oar", "-s", "nodes=9", "--", "true"), "not enough resources")
			require.Contains(t, d.Refused(exitNoJob, "status", "-t", "oar", "99999999"), `unknown job "99999999"`)
		})

		t.Run("a program has a terminal, and its exit code is passed on", func(t *testing.T) {
			t.Parallel()
			d := desk(t)
			s := d.Sits("run", "-t", "oar-interactive", "-s", "wallTime=10m", "-e", "GREETING=hello  you", "--",
				"sh", "-c", `echo "<$GREETING>"; read -r line; echo "<$line>"; stty size; exit 4`)
			s.WaitFor("<hello  you>")
			s.Type("typed\r")
			s.WaitFor("<typed>")
			s.WaitFor("24 80")
			s.Ends(4)
			require.Contains(t, d.Does("jobs", "--all", "--json"), `"exitCode":4`)
		})
	})

	// OAR starts a job in a second or two: next to these the jobs above would wait for
	// minutes.
	t.Run("the outcomes of many jobs are known soon after the last end", func(t *testing.T) {
		knowsOutcomes(t, desk(t), "oar", 40, false, func(ids []string) bool {
			return oar.Asks(t, "oarstat", "-J", "--sql", "state not in ('Terminated', 'Error') and job_id in ("+strings.Join(ids, ",")+")") == ""
		})
	})

	t.Run("recover adopts many submissions", func(t *testing.T) {
		recoversMany(t, desk(t), "oar", "oarsub")
	})

	t.Run("a wait notices the end of a job", func(t *testing.T) {
		noticesEnds(t, desk(t), "oar", func(id string) bool { return oar.Asks(t, "oarstat", "-s", "-j", id) == id+": Terminated" })
	})

	// A job submitted while the server is down is not killed, whatever oarsub prints.
	d := desk(t)
	oar.Stop(t, "almighty")
	id := d.Does("submit", "-t", "oar", "-s", "wallTime=10m", "--", "true")
	require.Equal(t, id+": Waiting", oar.Asks(t, "oarstat", "-s", "-j", id))
	oar.Start(t)
	d.Does("wait", "--timeout", "5m", id)
	require.Contains(t, d.Does("status", "--json", id), `"detail":"COMPLETED"`)
}
