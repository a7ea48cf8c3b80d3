package web

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// submits submits a command to the target "here" and returns the job and the address of its page.
func (d *launchDesk) submits(arguments ...string) (job.Job, string) {
	d.t.Helper()
	job, err := d.platform.Submit(d.t.Context(), "here", job.Submission{Executable: arguments[0], Arguments: arguments[1:], Directory: d.home})
	require.NoError(d.t, err)
	return job, listing.ElementAddress("/job", "here", job.ID)
}

// sees waits until the model shows a job in a state.
func (d *launchDesk) sees(id string, wanted model.State) {
	d.t.Helper()
	d.awaits(id, string(wanted), func(job *model.Element) bool { return listing.SeenState(job) == wanted })
}

// knowsEnd waits until the model shows the exit code of a job. The code arrives after
// the state: a listing does not contain it.
func (d *launchDesk) knowsEnd(id string) {
	d.t.Helper()
	d.awaits(id, "known by its exit code", func(job *model.Element) bool {
		_, known := job.Value(vocabulary.AttributeJobExitCode)
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

func TestThePageOfAJobShowsTheSourceOfItsState(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"here": "local"})
	job, address := d.submits("sh", "-c", `echo '<b>out</b>'; exit 3`)
	page := d.get(address)
	require.Contains(t, page, job.Tag, "it is on record before its target shows it")
	d.sees(job.ID, vocabulary.StateTerminated)
	d.knowsEnd(job.ID)
	// The record, which the history is from, is written by a query of its own.
	require.Eventually(t, func() bool {
		page = d.get(address)
		return strings.Contains(between(t, page, `<div id="job-history">`, "</tbody>"), "failed")
	}, time.Minute, 20*time.Millisecond)
	require.Eventually(t, func() bool { // the record is read from time to time
		page = d.get(address)
		return strings.Contains(page, "Program Arguments") && strings.Contains(page, "Executable Name")
	}, time.Minute, 20*time.Millisecond)
	require.NotContains(t, page, "The scheduler does not list this job")
	headline := between(t, page, `<p class="headline">`, "</p>")
	require.Contains(t, headline, "failed")
	require.Contains(t, headline, `exit code</span> 3`)
	require.NotContains(t, page, `name="operation"`, "nothing can be done to a job that has ended")
	rows := strings.Split(between(t, page, `<div id="job-history">`, "</tbody>"), "<tr>")[2:]
	require.Contains(t, rows[0], `data-label="What">intended<`)
	require.Contains(t, rows[1], `data-label="What">accepted<`)
	last := rows[len(rows)-1]
	require.Contains(t, between(t, last, `data-label="State">`, "</td>"), "failed")
	require.NotContains(t, last, `data-label="By"></td>`)
	require.Contains(t, last, "<code>", "the line that says so")
	require.Contains(t, d.get("/job?rm=here&id="+job.Tag), "<h1>Job "+job.ID, "a submission is found by its tag, too")
	output := regexp.MustCompile(`<a class="button" href="([^"]+)" data-output="[a-z]+" download="job-`).FindAllStringSubmatch(page, -1)
	require.Len(t, output, 2)
	require.Equal(t, "<b>out</b>\n", d.get(output[0][1]))
}

// between returns what is between two texts of a page.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, after, found := strings.Cut(page, from)
	require.True(t, found, from)
	text, _, found := strings.Cut(after, to)
	require.True(t, found, to)
	return text
}

func TestAJobIsCanceledOnceThatIsConfirmed(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"here": "local"})
	job, address := d.submits("sleep", "600")
	d.sees(job.ID, vocabulary.StateRunning)
	fields := url.Values{"operation": {"cancel"}, "job": {listing.ElementKey("here", job.ID)}, "back": {address}}
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
	d.sees(job.ID, vocabulary.StateTerminated)

	response, page = d.post("/jobs/operate", fields)
	require.Equal(t, http.StatusBadGateway, response.StatusCode)
	require.Contains(t, page, "has ended", "each job has its error")
	for _, wrong := range []url.Values{{"operation": {"explode"}, "job": {listing.ElementKey("here", job.ID)}}, {"operation": {"cancel"}}, {"operation": {"cancel"}, "job": {"nonsense"}}} {
		response, _ = d.post("/jobs/operate", wrong)
		require.Equal(t, http.StatusBadRequest, response.StatusCode, wrong)
	}
}

func TestThePageOfAJobThatNobodyKnowsIsNotFound(t *testing.T) {
	t.Parallel()
	b := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 10, 10, time.Now()) }).enter()
	for _, address := range []string{"/job?rm=cluster&id=1", "/job?rm=none&id=4000001", "/job"} {
		response, _ := b.do(http.MethodGet, address, nil, nil)
		require.Equal(t, http.StatusNotFound, response.StatusCode, address)
	}
	require.Contains(t, b.get("/job?rm=cluster&id=4000001"), "Job 4000001")
}
