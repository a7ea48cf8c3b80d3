package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/state"
)

// submits submits a command to the target "here" and returns the job and the address of its page.
func (d *launchDesk) submits(arguments ...string) (job.Job, string) {
	d.t.Helper()
	job, err := d.platform.Submit(d.t.Context(), "here", job.Submission{Executable: arguments[0], Arguments: arguments[1:], Directory: d.home})
	require.NoError(d.t, err)
	return job, elementAddress("/job", "here", job.ID)
}

// sees waits until the model shows a job in a state.
func (d *launchDesk) sees(id string, wanted model.State) {
	d.t.Helper()
	d.awaits(id, string(wanted), func(job *model.Element) bool { return seenState(job) == wanted })
}

// knowsEnd waits until the model shows with which code a job has ended, which is
// later than that it has: a listing does not tell it.
func (d *launchDesk) knowsEnd(id string) {
	d.t.Helper()
	d.awaits(id, "known by its exit code", func(job *model.Element) bool {
		_, known := job.Value(monitor.AttributeJobExitCode)
		return known
	})
}

func (d *launchDesk) awaits(id, what string, is func(*model.Element) bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	for {
		snapshot := d.platform.Model().Snapshot()
		if m, known := snapshot.Manager("here"); known {
			if job, listed := m.Get(model.Job, id); listed && is(job) {
				return
			}
		}
		_, err := d.platform.Model().Next(ctx, snapshot)
		require.NoError(d.t, err, "waiting for job %s to be %s", id, what)
	}
}

func TestThePageOfAJobTellsHowItsStateIsKnown(t *testing.T) {
	d := launchSite(t, map[string]string{"here": "local"})
	job, address := d.submits("sh", "-c", `echo '<b>out</b>'; exit 3`)
	page := d.get(address)
	require.Contains(t, page, job.Tag, "it is on record before its resource manager shows it")
	d.sees(job.ID, model.StateError)
	d.knowsEnd(job.ID)
	pages := d.server.pages
	drawn, err := pages.drawJob(d.model.Snapshot(), "here", job.ID)
	require.NoError(t, err)
	require.True(t, drawn.IsListed)
	require.Equal(t, "failed", drawn.Row.Mark.Word)
	require.Equal(t, "3", drawn.Row.Exit)
	require.Empty(t, drawn.Operations, "nothing can be done to a job that has ended")
	var told []string
	for _, row := range drawn.History {
		told = append(told, row.What)
	}
	require.Equal(t, []string{"intended", "accepted"}, told[:2])
	last := drawn.History[len(drawn.History)-1]
	require.Equal(t, "failed", last.Mark.Word)
	require.NotEmpty(t, last.Source)
	require.NotEmpty(t, last.Line, "the line that says so")
	byTag, err := pages.drawJob(d.model.Snapshot(), "here", job.Tag)
	require.NoError(t, err)
	require.Equal(t, drawn.Row.ID, byTag.Row.ID, "a submission is found by its tag, too")
	require.Len(t, drawn.Output, 2)
	_, text, found := strings.Cut(drawn.Output[0].Address, "/api/")
	require.True(t, found)
	require.Equal(t, "<b>out</b>\n", d.get("/api/"+text))
}

func TestAJobIsCancelledOnceThatIsConfirmed(t *testing.T) {
	d := launchSite(t, map[string]string{"here": "local"})
	job, address := d.submits("sleep", "600")
	d.sees(job.ID, model.StateRunning)
	fields := url.Values{"operation": {"cancel"}, "job": {elementKey("here", job.ID)}, "back": {address}}
	response, page := d.post("/jobs/operate", fields)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, page, "Cancel 1 job?")
	require.Contains(t, page, job.ID)
	known, err := d.store.ByTag(t.Context(), job.Tag)
	require.NoError(t, err)
	require.False(t, known.Detail.Ended(), "asking does nothing")

	fields.Set("confirmed", "true")
	fields.Add("job", "nonsense")
	response, _ = d.post("/jobs/operate", fields)
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	known, err = d.store.ByTag(t.Context(), job.Tag)
	require.NoError(t, err)
	require.False(t, known.Detail.Ended(), "a request that is refused does nothing to any of its jobs")

	fields["job"] = fields["job"][:1]
	response, page = d.post("/jobs/operate", fields)
	require.Equal(t, http.StatusSeeOther, response.StatusCode, page)
	require.Equal(t, address, response.Header.Get("Location"))
	d.sees(job.ID, model.StateTerminated)

	response, page = d.post("/jobs/operate", fields)
	require.Equal(t, http.StatusBadGateway, response.StatusCode)
	require.Contains(t, page, "has ended", "what went wrong is told for each job")
	for _, wrong := range []url.Values{{"operation": {"explode"}, "job": {elementKey("here", job.ID)}}, {"operation": {"cancel"}}, {"operation": {"cancel"}, "job": {"nonsense"}}} {
		response, _ = d.post("/jobs/operate", wrong)
		require.Equal(t, http.StatusBadRequest, response.StatusCode, wrong)
	}
}

func TestOfManyProcessesThoseInTroubleAreListedFirst(t *testing.T) {
	m := model.New()
	m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: "1"})
		for rank := range mostProcesses + 500 {
			pairs := []string{model.AttributeProcessState, "EXITED", model.AttributeProcessIndex, strconv.Itoa(rank), model.AttributeProcessExitCode, "0"}
			switch rank {
			case 1400:
				pairs[5] = "7"
			case 1450:
				pairs[1] = "EXITED_SIGNALLED"
			}
			u.Put(model.Row{Manager: "rm", Kind: model.Process, Parent: "1", ID: "1." + strconv.Itoa(rank), Attributes: attributes(pairs...)})
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
	suiting := func(detail state.Detail) string {
		var names []string
		for _, each := range jobOperations {
			if each.suits(detail) {
				names = append(names, string(each.operation))
			}
		}
		return strings.Join(names, " ")
	}
	require.Equal(t, "cancel hold", suiting(state.QueuedActive))
	require.Equal(t, "cancel release", suiting(state.UserOnHold))
	require.Equal(t, "cancel suspend", suiting(state.Running))
	require.Equal(t, "cancel resume", suiting(state.SystemSuspended))
	require.Equal(t, "cancel", suiting(state.Undetermined))
	require.Empty(t, suiting(state.Failed))
}

func TestThePageOfAJobThatNobodyKnowsIsNotFound(t *testing.T) {
	b := serve(t, func(m *model.Model) { demonstrate(t, m, 10, 10, time.Now()) }).enter()
	for _, address := range []string{"/job?rm=cluster&id=1", "/job?rm=none&id=4000001", "/job"} {
		response, _ := b.do(http.MethodGet, address, nil, nil)
		require.Equal(t, http.StatusNotFound, response.StatusCode, address)
	}
	require.Contains(t, b.get("/job?rm=cluster&id=4000001"), "Job 4000001")
}
