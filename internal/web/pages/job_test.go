package pages

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

func TestOfManyProcessesThoseInTroubleAreListedFirst(t *testing.T) {
	m := model.New()
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: "1"})
		for rank := range mostProcesses + 500 {
			pairs := []string{vocabulary.AttributeProcessState, "EXITED", vocabulary.AttributeProcessIndex, strconv.Itoa(rank), vocabulary.AttributeProcessExitCode, "0"}
			switch rank {
			case 1400:
				pairs[5] = "7"
			case 1450:
				pairs[1] = "EXITED_SIGNALLED"
			}
			u.Put(model.Row{Manager: "rm", Kind: model.Process, Parent: "1", ID: "1." + strconv.Itoa(rank), Attributes: webtest.Attributes(pairs...)})
		}
	})
	manager, _ := m.Snapshot().Manager("rm")
	page := &jobPage{}
	page.addProcesses(manager, "1")
	require.Len(t, page.Processes, mostProcesses)
	require.Equal(t, 500, page.ProcessMore)
	require.Equal(t, []string{"1450", "1400", "0"}, []string{page.Processes[0].Index, page.Processes[1].Index, page.Processes[2].Index})
	require.Len(t, page.Cells, 2, "the map has all of them")
}

func TestAFormLeadsBackToThisServerAlone(t *testing.T) {
	require.Equal(t, "/jobs?page=2", backTo("/jobs?page=2"))
	for _, elsewhere := range []string{"", "https://example.org/jobs", "//example.org/jobs", "/job\\example", "/jobs\r\nSet-Cookie: a"} {
		require.Equal(t, "/jobs", backTo(elsewhere))
	}
}

func TestWhatCanBeDoneToAJobDependsOnItsState(t *testing.T) {
	suiting := func(detail job.Detail) string {
		var names []string
		for _, each := range jobOperations {
			if each.suits(detail) {
				names = append(names, string(each.operation))
			}
		}
		return strings.Join(names, " ")
	}
	require.Equal(t, "cancel hold", suiting(job.QueuedActive))
	require.Equal(t, "cancel release", suiting(job.UserOnHold))
	require.Equal(t, "cancel suspend", suiting(job.Running))
	require.Equal(t, "cancel resume", suiting(job.SystemSuspended))
	require.Equal(t, "cancel", suiting(job.Undetermined))
	require.Empty(t, suiting(job.Failed))
}

// A scheduler confirms a request later.
func TestARequestThatIsNotConfirmedIsNoDoubt(t *testing.T) {
	requested := job.Job{Stale: true, StaleReason: transition.Requested("hold")}
	require.Empty(t, doubtsOf(requested))
	require.Contains(t, h.Render(jobRow{Doubt: requested.Doubt()}.doubt()), ">hold requested<")
	failed := job.Job{Stale: true, StaleReason: "squeue: no answer"}
	require.Equal(t, []string{"The state may be out of date: squeue: no answer"}, doubtsOf(failed))
	require.Contains(t, h.Render(jobRow{Doubt: failed.Doubt()}.doubt()), ">stale<")
}
