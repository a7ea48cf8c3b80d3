package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// described is the API as openapi.yaml has it.
func described(t testing.TB) (*openapi3.T, routers.Router) {
	t.Helper()
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromFile(filepath.Join("api", "openapi.yaml"))
	require.NoError(t, err)
	require.NoError(t, document.Validate(t.Context()))
	router, err := gorillamux.NewRouter(document)
	require.NoError(t, err)
	return document, router
}

// routes are the methods and paths that openapi.yaml has.
func routes(t testing.TB) []string {
	document, _ := described(t)
	var all []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			all = append(all, method+" "+path)
		}
	}
	return all
}

// A program uses the API with the token. Each request that succeeds, and each
// answer, is as openapi.yaml describes it.
type program struct {
	*browser
	router routers.Router
}

func (b *browser) program() *program {
	b.t.Helper()
	_, router := described(b.t)
	return &program{b, router}
}

// call asks for a path below answer.APIPath and returns the status and the answer.
func (p *program) call(method, path string, object any) (int, map[string]any) {
	p.t.Helper()
	response, text := p.raw(method, path, object)
	if response.StatusCode == http.StatusNoContent {
		require.Empty(p.t, text)
		return response.StatusCode, nil
	}
	var answer map[string]any
	require.NoError(p.t, json.Unmarshal([]byte(text), &answer), text)
	return response.StatusCode, answer
}

// done is call for what has to succeed.
func (p *program) done(method, path string, object any) map[string]any {
	p.t.Helper()
	status, answer := p.call(method, path, object)
	require.Less(p.t, status, 300, "%v", answer)
	return answer
}

func (p *program) raw(method, path string, object any) (*http.Response, string) {
	p.t.Helper()
	var body []byte
	header := http.Header{"Authorization": {"Bearer " + p.server.access.token}}
	if object != nil {
		var err error
		body, err = json.Marshal(object)
		require.NoError(p.t, err)
		header.Set("Content-Type", "application/json")
	}
	response, text := p.do(method, answer.APIPath+path, header, bytes.NewReader(body))
	p.check(response, header, body, text)
	return response, text
}

// check compares a request that succeeded, and its answer, with openapi.yaml.
func (p *program) check(response *http.Response, header http.Header, body []byte, text string) {
	p.t.Helper()
	request := response.Request.Clone(p.t.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	route, values, err := p.router.FindRoute(&http.Request{Method: request.Method, URL: request.URL, Header: header, Host: request.Host})
	require.NoError(p.t, err)
	input := &openapi3filter.RequestValidationInput{Request: request, Route: route, PathParams: values,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if response.StatusCode < 300 {
		require.NoError(p.t, openapi3filter.ValidateRequest(p.t.Context(), input))
	}
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Options: input.Options}
	answer.SetBodyBytes([]byte(text))
	require.NoError(p.t, openapi3filter.ValidateResponse(p.t.Context(), answer), text)
}

func TestTheAPILetsNobodyInWithoutTheToken(t *testing.T) {
	t.Parallel()
	b := serve(t, nil)
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		response, body := b.do(method, answer.APIPath+path, nil, nil)
		require.Equal(t, http.StatusUnauthorized, response.StatusCode, route)
		require.Contains(t, body, `"kind":"refused"`, route)
	}
}

func TestEachChangeOfTheAPINeedsTheTokenOfItsSession(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	for _, route := range routes(t) {
		method, path, _ := strings.Cut(route, " ")
		if method == http.MethodGet {
			continue
		}
		response, body := b.do(method, answer.APIPath+path, http.Header{"Content-Type": {"application/json"}}, strings.NewReader("{}"))
		require.Equal(t, http.StatusForbidden, response.StatusCode, route)
		require.Contains(t, body, `"kind":"refused"`, route)
	}
}

func TestRequestsThatAreNotAsDescribedAreRefused(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	bearer := http.Header{"Authorization": {"Bearer " + p.server.access.token}}
	withType := func(kind string) http.Header {
		header := bearer.Clone()
		header.Set("Content-Type", kind)
		return header
	}
	for name, try := range map[string]struct {
		method, path string
		header       http.Header
		body, want   string
		status       int
	}{
		"no object":        {http.MethodPost, "/managers", withType("application/json"), "", "contains no JSON object", http.StatusBadRequest},
		"no JSON":          {http.MethodPost, "/managers", withType("application/json"), "{", "unexpected EOF", http.StatusBadRequest},
		"two objects":      {http.MethodPost, "/managers", withType("application/json"), "{}{}", "more than one JSON object", http.StatusBadRequest},
		"an unknown field": {http.MethodPost, "/managers", withType("application/json"), `{"nmae":"x"}`, "nmae", http.StatusBadRequest},
		"a form":           {http.MethodPost, "/managers", withType("application/x-www-form-urlencoded"), "name=x", "send application/json", http.StatusUnsupportedMediaType},
		"too much":         {http.MethodPost, "/managers", withType("application/json"), `{"name":"` + strings.Repeat("x", maxBodyBytes) + `"}`, "too large", http.StatusRequestEntityTooLarge},
		"an unknown path":  {http.MethodGet, "/nothing", bearer, "", "openapi.yaml", http.StatusNotFound},
		"a wrong cursor":   {http.MethodGet, "/events?after=x", bearer, "", "use the cursor", http.StatusBadRequest},
		"a future cursor":  {http.MethodGet, "/events?after=99", bearer, "", "the newest event is 0", http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := p.do(try.method, answer.APIPath+try.path, try.header, strings.NewReader(try.body))
			require.Equal(t, try.status, response.StatusCode, body)
			require.Contains(t, body, try.want)
		})
	}
	status, answer := p.call(http.MethodGet, "/managers/none/queues", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, "not-found", answer["kind"])
}

func TestResourceManagersLiveThroughTheAPI(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	require.Empty(t, p.done(http.MethodGet, "/managers", nil)["managers"])
	added := p.done(http.MethodPost, "/managers", map[string]any{"name": "here", "definition": "local", "attributes": map[string]string{"name": "mine"}})
	require.Equal(t, "STOPPED", added["state"])
	status, answer := p.call(http.MethodPost, "/managers", map[string]any{"name": "here", "definition": "local"})
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "conflict", answer["kind"])
	status, _ = p.call(http.MethodPost, "/managers", map[string]any{"name": "there", "definition": "no such definition"})
	require.Equal(t, http.StatusBadRequest, status)

	edited := p.done(http.MethodPut, "/managers/here", map[string]any{"definition": "local", "attributes": map[string]string{"name": "other"}, "interval": "30s", "shareAnswers": "2s"})
	require.Equal(t, []any{"30s", "2s"}, []any{edited["interval"], edited["shareAnswers"]})
	require.Equal(t, map[string]any{"name": "other"}, edited["attributes"])
	status, _ = p.call(http.MethodPost, "/managers/here/refresh", nil)
	require.Equal(t, http.StatusConflict, status, "it is stopped")

	p.start("here")
	status, _ = p.call(http.MethodDelete, "/managers/here", nil)
	require.Equal(t, http.StatusConflict, status, "it is started")
	p.done(http.MethodPost, "/managers/here/refresh", nil)
	p.done(http.MethodPost, "/managers/here/stop", nil)
	p.await("here", vocabulary.StateStopped)
	p.done(http.MethodDelete, "/managers/here", nil)
	status, _ = p.call(http.MethodGet, "/managers/here", nil)
	require.Equal(t, http.StatusNotFound, status)

	var names []string
	for _, target := range p.done(http.MethodGet, "/targets", nil)["targets"].([]any) {
		names = append(names, target.(map[string]any)["name"].(string))
	}
	require.Contains(t, names, "slurm")
}

// start starts a target and waits until it is there.
func (p *program) start(name string) {
	p.t.Helper()
	p.done(http.MethodPost, "/managers/"+name+"/start", nil)
	p.await(name, vocabulary.StateStarted)
}

// await waits until a target is in a state.
func (b *browser) await(name string, state model.State) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	for {
		snapshot := b.model.Snapshot()
		if m, known := snapshot.Manager(name); known && m.Element().State() == state {
			return
		}
		_, err := b.model.Next(ctx, snapshot)
		require.NoError(b.t, err, "%s does not become %s", name, state)
	}
}

func TestAJobIsSubmittedFollowedAndExplainedThroughTheAPI(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	p.start("local")
	tag := uuid.NewString()
	submission := map[string]any{"executable": "/bin/sh", "arguments": []string{"-c", "echo one; echo two >&2; echo three"}, "tag": tag, "environment": map[string]string{"X": "y"}}
	rendered := p.done(http.MethodPost, "/managers/local/render", submission)
	require.Contains(t, rendered["script"], "echo three")

	events := p.journal("?after=0")
	job := p.done(http.MethodPost, "/managers/local/jobs", submission)
	again := p.done(http.MethodPost, "/managers/local/jobs", submission)
	require.Equal(t, job["id"], again["id"], "the same tag makes no second job")
	path := "/managers/local/jobs/" + job["id"].(string)

	response, output := p.raw(http.MethodGet, path+"/output?follow=true", nil)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "one\nthree\n", output)
	_, output = p.raw(http.MethodGet, path+"/output?stream=stderr", nil)
	require.Equal(t, "two\n", output)
	_, output = p.raw(http.MethodGet, path+"/output?offset=4&limit=3", nil)
	require.Equal(t, "thr", output)
	_, output = p.raw(http.MethodGet, path+"/output?offset=1000", nil)
	require.Empty(t, output)
	response, _ = p.raw(http.MethodGet, path+"/output?task=../1", nil)
	require.Equal(t, http.StatusBadRequest, response.StatusCode)

	var kinds []string
	cursor := 0.0
	for {
		event := events()
		var reported map[string]any
		require.NoError(t, json.Unmarshal([]byte(event.Data), &reported))
		require.Greater(t, reported["cursor"], cursor)
		cursor = reported["cursor"].(float64)
		kinds = append(kinds, event.Kind)
		if reported["state"] == "COMPLETED" {
			break
		}
	}
	require.Equal(t, []string{"intended", "accepted"}, kinds[:2])

	known := p.ends(path)
	require.Equal(t, "COMPLETED", known["state"])
	require.EqualValues(t, 0, known["exitCode"])
	require.Equal(t, known["id"], p.done(http.MethodGet, "/managers/local/jobs/"+tag, nil)["id"])
	history := p.done(http.MethodGet, path+"/history", nil)["events"].([]any)
	require.Len(t, history, len(kinds))
	require.Empty(t, p.done(http.MethodGet, path+"/processes", nil)["processes"])

	status, answer := p.call(http.MethodPost, path+"/cancel", nil)
	require.Equal(t, http.StatusConflict, status, "%v", answer)
	status, answer = p.call(http.MethodGet, "/managers/local/jobs/4711", nil)
	require.Equal(t, http.StatusNotFound, status, "%v", answer)
	status, answer = p.call(http.MethodPost, "/managers/local/jobs", map[string]any{"executable": "/bin/true", "attributes": map[string]any{"no such": 1}})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer["error"], "no such")
	status, _ = p.call(http.MethodPost, "/managers/local/jobs", map[string]any{"arguments": []string{"x"}})
	require.Equal(t, http.StatusBadRequest, status)
}

func TestMistakesInASubmissionAreAllNamed(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	for _, path := range []string{"/managers/local/jobs", "/managers/local/render", "/managers/local/form"} {
		status, answer := p.call(http.MethodPost, path, map[string]any{"executable": 5, "atributes": 1, "environment": map[string]string{"A=B": ""}})
		require.Equal(t, http.StatusBadRequest, status, path)
		require.Contains(t, answer["error"], `invalid JSON object: "executable" is an integer, but must be a string`)
		require.Contains(t, answer["error"], `"A=B" cannot name a variable`)
		require.Contains(t, answer["error"], `unknown setting "atributes"
did you mean "attributes"?`)
	}
	status, answer := p.call(http.MethodPost, "/managers/local/form", map[string]any{"edits": []any{map[string]any{"idd": "x"}}})
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, `invalid JSON object: edits: unknown setting "idd"
did you mean "id"?`, answer["error"])
	status, answer = p.call(http.MethodPut, "/launch-configurations/x", map[string]any{"tag": "1", "replace": "yes"})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer["error"], "no tag")
}

// ends waits until a job has ended and returns it: while its target shows it as
// it was listed before, the journal knows more.
func (p *program) ends(path string) map[string]any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for {
		snapshot := p.model.Snapshot()
		job := p.done(http.MethodGet, path, nil)
		if job["state"] == "COMPLETED" {
			return job
		}
		_, err := p.model.Next(ctx, snapshot)
		require.NoError(p.t, err, "the job is %v", job)
	}
}

func TestJobsAreCanceledThroughTheAPI(t *testing.T) {
	t.Parallel()
	p := serve(t, nil).program()
	p.start("local")
	job := p.done(http.MethodPost, "/managers/local/jobs", map[string]any{"executable": "/bin/sleep", "arguments": []string{"600"}})
	events := p.journal("?after=0&job=" + job["id"].(string))
	p.done(http.MethodPost, "/managers/local/jobs/"+job["id"].(string)+"/cancel", nil)
	for reported := map[string]any{}; reported["detail"] != "CANCELED"; {
		require.NoError(t, json.Unmarshal([]byte(events().Data), &reported))
	}
}

// journal follows the events of jobs.
func (p *program) journal(query string) func() webtest.Received {
	return p.listen(answer.APIPath+"/events"+query, http.Header{"Authorization": {"Bearer " + p.server.access.token}})
}

func TestEventsGoOnBehindACursorAcrossRestarts(t *testing.T) {
	t.Parallel()
	options := testPlatform(t)
	server := options.server(t)
	first := run(t, server).program()
	record := func(id string) {
		tag := uuid.NewString()
		require.NoError(t, options.Store.Intend(t.Context(), job.Job{Tag: tag, Target: "local", Definition: "local"}))
		_, err := options.Store.Accept(t.Context(), tag, job.Job{ID: id})
		require.NoError(t, err)
	}
	next := first.journal("")
	record("1")
	require.Equal(t, "intended", next().Kind)
	last := next()
	require.Equal(t, "accepted", last.Kind)
	require.NoError(t, server.Close())

	record("2")
	server = options.server(t)
	second := run(t, server).program()
	header := http.Header{"Authorization": {"Bearer " + server.access.token}, "Last-Event-Id": {last.ID}}
	next = second.listen(answer.APIPath+"/events?after=0", header)
	require.Equal(t, "intended", next().Kind)
	record("3")
	var reported map[string]any
	require.NoError(t, json.Unmarshal([]byte(next().Data), &reported))
	require.Equal(t, "2", reported["id"])
	require.Equal(t, "intended", next().Kind)
}

func TestAJobIsNotOlderThanItsEvents(t *testing.T) {
	t.Parallel()
	options := testPlatform(t)
	require.NoError(t, options.Platform.Add(settings.Target{Name: "local", Definition: "local"})) // which is not started: the test lists
	m := options.Platform.Model()
	webtest.DefineAttributes(t, m)
	put := func(id, detail string) {
		require.Empty(t, m.Update(func(u *model.Update) {
			u.Put(model.Row{Manager: "local", Kind: model.Queue, ID: "local"})
			u.Put(model.Row{Manager: "local", Kind: model.Job, Parent: "local", ID: id, Attributes: webtest.Attributes("jobState", "RUNNING", "jobDetail", detail)})
		}))
	}
	listed := func(at time.Time) {
		require.Empty(t, m.Update(func(u *model.Update) {
			u.Put(model.Row{Kind: model.ResourceManager, ID: "local", Attributes: []model.Attribute{{ID: vocabulary.AttributeListedJobs, Text: at.Format(time.RFC3339)}}})
		}))
	}
	p := serveWith(t, options, nil).program()
	tag := uuid.NewString()
	require.NoError(t, options.Store.Intend(t.Context(), job.Job{Tag: tag, Target: "local", Definition: "local"}))
	_, err := options.Store.Accept(t.Context(), tag, job.Job{ID: "7"})
	require.NoError(t, err)
	events := p.journal("?after=0")
	_, err = options.Store.Observe(t.Context(), tag, job.Observation{Detail: job.Completed})
	require.NoError(t, err)
	for reported := map[string]any{}; reported["state"] != "COMPLETED"; {
		require.NoError(t, json.Unmarshal([]byte(events().Data), &reported))
	}
	detail := func() any { return p.done(http.MethodGet, "/managers/local/jobs/7", nil)["detail"] }

	listed(time.Now())
	put("7", "RUNNING") // a row that has not been compared with the record yet
	require.Equal(t, "COMPLETED", detail())

	listed(time.Now().Add(time.Hour)) // the scheduler reused the id for a job that is not in the record
	require.Equal(t, "RUNNING", detail())

	listed(time.Now())
	put(tag, "RUNNING") // compared: the row is of another job with the same id
	require.Equal(t, "RUNNING", detail())
}

// row is a row of a manager "big" for a model.
func row(kind model.Kind, parent, id string, pairs ...string) model.Row {
	return model.Row{Manager: "big", Kind: kind, Parent: parent, ID: id, Attributes: webtest.Attributes(pairs...)}
}

func TestListingsMatchTheCommands(t *testing.T) {
	t.Parallel()
	options := testPlatform(t)
	m := options.Platform.Model()
	webtest.DefineAttributes(t, m)
	require.Empty(t, m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "big", Attributes: []model.Attribute{
			{ID: vocabulary.AttributeListedJobs, Text: "2026-01-02T03:04:05Z"}, {ID: vocabulary.AttributeStale, Text: "no answer"}}})
		u.Put(row(model.Queue, "", "batch", "queueState", "DRAINING", "queueStatus", "drain", "queueDefault", "true", "queueRunning", "2"))
		u.Put(row(model.Machine, "", "host"))
		u.Put(row(model.Node, "host", "n1", "nodeState", "DOWN", "nodeCPUs", "8", "nodeLoad", "0.5", "nodeReason", "<b>broken</b>"))
		u.Put(row(model.Job, "batch", "9", "jobState", "PENDING", "jobDetail", "QUEUED_ACTIVE", "userId", "ada", "name", "nine", "jobStatus", "PD"))
		u.Put(row(model.Job, "batch", "10", "jobState", "RUNNING", "jobDetail", "RUNNING", "userId", "bob", "jobNodes", "n1", "jobStarted", "2026-01-02T03:00:00Z"))
	}))
	p := serveWith(t, options, nil).program()

	queues := p.done(http.MethodGet, "/managers/big/queues", nil)
	require.Equal(t, "no answer", queues["stale"])
	require.Equal(t, []any{map[string]any{"name": "batch", "target": "big", "state": "DRAINING", "native": "drain", "default": true, "running": 2.0}}, queues["queues"])
	nodes := p.done(http.MethodGet, "/managers/big/nodes", nil)["nodes"]
	require.Equal(t, []any{map[string]any{"name": "n1", "target": "big", "state": "DOWN", "cpus": 8.0, "load": 0.5, "reason": "<b>broken</b>"}}, nodes)

	nine := map[string]any{"id": "9", "target": "big", "state": "SUBMITTED", "detail": "QUEUED_ACTIVE", "native": "PD", "user": "ada", "name": "nine", "queue": "batch",
		"observed": "2026-01-02T03:04:05Z", "stale": true, "staleReason": "no answer"}
	all := p.done(http.MethodGet, "/jobs?sort=id&size=1", nil)
	require.EqualValues(t, 2, all["total"])
	require.Equal(t, []any{nine}, all["jobs"])
	require.Equal(t, nine, p.done(http.MethodGet, "/managers/big/jobs/9", nil))
	for query, ids := range map[string][]string{
		"": {"10", "9"}, "?sort=id": {"9", "10"}, "?sort=id&page=2&size=1": {"10"}, "?state=waiting": {"9"}, "?user=bob": {"10"}, "?text=NIN": {"9"},
		"?queue=none": {}, "?sort=-started": {"10", "9"}, "?page=3": {}, "?manager=big&queue=batch&state=running": {"10"},
	} {
		got := []string{}
		for _, job := range p.done(http.MethodGet, "/jobs"+query, nil)["jobs"].([]any) {
			got = append(got, job.(map[string]any)["id"].(string))
		}
		require.Equal(t, ids, got, query)
	}
	for query, status := range map[string]int{"?state=x": 400, "?sort=x": 400, "?size=0": 400, "?size=1001": 400, "?page=x": 400, "?users=bob": 400, "?user=a&user=b": 400, "?mine=1": 400, "?manager=x": 404} {
		got, answer := p.call(http.MethodGet, "/jobs"+query, nil)
		require.Equal(t, status, got, "%s %v", query, answer)
	}
}
