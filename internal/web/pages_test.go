package web

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

var pagesOfTheModel = []string{"/", "/machines", "/node?rm=evil&id=%3Cn%3E", "/queues", "/jobs", "/jobs?columns=all", "/process?rm=evil&id=%3Cscript%3Ealert(1)%3C%2Fscript%3E.0", "/timeline", "/utilisation",
	"/job?rm=evil&id=%3Cscript%3Ealert(1)%3C%2Fscript%3E"}

// addressAttribute finds the addresses that a page leads to.
var addressAttribute = regexp.MustCompile(` (?:href|src|action)="([^"]*)"`)

func TestHostileTextsStayTextOnEveryPage(t *testing.T) {
	t.Parallel()
	const evil = `<script>alert(1)</script>`
	b := serve(t, func(m *model.Model) {
		webtest.DefineAttributes(t, m)
		problems := m.Update(func(u *model.Update) {
			text := evil + "\x1b]0;title\x07\u202e"
			now := time.Now().Format(time.RFC3339)
			u.Put(model.Row{Kind: model.ResourceManager, ID: "evil", Attributes: webtest.Attributes("rmState", "STARTING", "name", evil, "rmDescription", text, "rmStale", text)})
			u.Put(model.Row{Kind: model.ResourceManager, ID: "evil", Attributes: append(webtest.Attributes("rmState", "STARTED", "rmListedJobs", now, "rmListedNodes", now),
				model.Attribute{ID: vocabulary.AttributeProblems, Elements: []string{"jobs: an id came twice (2 times; first job " + text + ")"}})})
			u.Put(model.Row{Manager: "evil", Kind: model.Machine, ID: evil})
			u.Put(model.Row{Manager: "evil", Kind: model.Node, Parent: evil, ID: "<n>", Attributes: webtest.Attributes("nodeState", "UP", "nodeReason", text, "nodeStatus", text)})
			u.Put(model.Row{Manager: "evil", Kind: model.Queue, ID: evil, Attributes: webtest.Attributes("queueStatus", text)})
			u.Put(model.Row{Manager: "evil", Kind: model.Job, Parent: evil, ID: evil, Attributes: webtest.Attributes("jobState", "RUNNING", "name", text, "userId", text, "jobStatusMessage", text, "execName", text,
				vocabulary.AttributeJobStarted, time.Now().Add(-time.Hour).Format(time.RFC3339))})
			u.Put(model.Row{Manager: "evil", Kind: model.Process, Parent: evil, ID: evil + ".0", Attributes: webtest.Attributes("processState", "RUNNING", "processStdout", text, "processNodeId", "<n>")})
		})
		require.Empty(t, problems)
	}).enter()
	require.Contains(t, b.get("/"), "jobs: an id came twice (2 times; first job &lt;script&gt;", "what is wrong with listings is shown")
	for _, address := range pagesOfTheModel {
		page := b.get(address)
		require.NotContains(t, page, evil, address)
		require.NotContains(t, page, "<n>", address)
		require.NotContains(t, page, "\x1b", address)
		require.NotContains(t, page, "\u202e", address)
		require.NotContains(t, page, "style=", "the policy of pages forbids styles in them: %s", address)
		addresses := addressAttribute.FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, addresses, address)
		for _, found := range addresses {
			require.Regexp(t, `^(#|/$|/[^/])`, found[1], "a page leads to this server alone: %s", address)
		}
	}
}

func TestPagesAreReadableWithoutScriptsAndByScreenReaders(t *testing.T) {
	t.Parallel()
	b := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 300, 200, time.Now()) }).enter()
	for _, address := range []string{"/", "/machines", "/node?rm=cluster&id=n00001", "/queues", "/jobs", "/process?rm=cluster&id=4000070.0", "/timeline", "/utilisation", "/managers/new", "/managers/edit?rm=none"} {
		response, page := b.do(http.MethodGet, address, nil, nil)
		if strings.HasSuffix(address, "none") {
			require.GreaterOrEqual(t, response.StatusCode, http.StatusBadRequest)
			continue
		}
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", address, page)
		require.Equal(t, 1, strings.Count(page, "<h1"), "one heading names the page: %s", address)
		require.NotContains(t, page, "onclick", address)
		for _, field := range []string{"<input name", "<select name", "<input type=\"search\""} {
			for _, before := range strings.SplitAfter(page, field)[:strings.Count(page, field)] {
				opened := strings.LastIndex(before, "<label")
				require.Greater(t, opened, strings.LastIndex(before, "</label>"), "a field without a label around it: %s", address)
			}
		}
	}
	require.Contains(t, b.get("/jobs"), `aria-sort="descending"`)
	require.Contains(t, b.get("/machines"), "200 nodes: ", "the map is also given in words")
}

func TestTheJobsThatHaveANodeAreOnItsPage(t *testing.T) {
	t.Parallel()
	b := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 300, 200, time.Now()) }).enter()
	page := b.get("/node?rm=cluster&id=n00006")
	for _, job := range []string{"4000005", "4000003"} { // that have n[00006-00009] and n[00004-00007]
		require.Contains(t, page, `<a href="/job?id=`+job+`&amp;rm=cluster">`+job+`</a>`)
	}
	require.NotContains(t, page, "4000004", "it has ended, and has its nodes no more")
	require.NotContains(t, page, "4000010", "it has others")
	require.Contains(t, page, "<bdi>n[00006-00009]</bdi>")
}

func TestAPageOfWhatIsGoneIsNotFound(t *testing.T) {
	t.Parallel()
	b := serve(t, func(m *model.Model) { webtest.Demonstrate(t, m, 10, 10, time.Now()) }).enter()
	for _, address := range []string{"/node?rm=cluster&id=none", "/node?rm=none&id=n00001", "/process?rm=cluster&id=1", "/node"} {
		response, _ := b.do(http.MethodGet, address, nil, nil)
		require.Equal(t, http.StatusNotFound, response.StatusCode, address)
	}
}

func TestResourceManagersAreAddedStartedEditedAndRemoved(t *testing.T) {
	t.Parallel()
	options := testPlatform(t)
	b := serveWith(t, options, nil).enter()
	expect := func(status int, address string, fields url.Values) string {
		t.Helper()
		response, page := b.post(address, fields)
		require.Equal(t, status, response.StatusCode, page)
		return page
	}
	state := func() model.State {
		m, err := options.Platform.Manager("mine")
		require.NoError(t, err)
		return m.State
	}
	form := url.Values{"new": {"true"}, "name": {"mine"}, "definition": {"no-such-definition"}, "transport": {"local"}}
	page := expect(http.StatusUnprocessableEntity, "/managers/target", form)
	require.Contains(t, page, "no-such-definition")
	require.Contains(t, page, `value="mine"`, "what was filled in stays")

	form.Set("definition", "fork")
	form.Set("attributes", "nonsense")
	require.Contains(t, expect(http.StatusUnprocessableEntity, "/managers/target", form), "name=value")
	form.Del("attributes")
	expect(http.StatusSeeOther, "/managers/target", form)
	require.Contains(t, b.get("/"), "mine")
	require.EqualValues(t, vocabulary.StateStopped, state())
	require.Contains(t, expect(http.StatusUnprocessableEntity, "/managers/target", form), "already")

	until := func(wanted model.State) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for snapshot := options.Platform.Model().Snapshot(); state() != wanted; {
			var err error
			snapshot, err = options.Platform.Model().Next(ctx, snapshot)
			require.NoError(t, err, "it does not become %s", wanted)
		}
	}
	expect(http.StatusSeeOther, "/managers", url.Values{"start": {"mine"}})
	until(vocabulary.StateStarted)
	response, _ := b.post("/managers/remove", url.Values{"rm": {"mine"}})
	require.GreaterOrEqual(t, response.StatusCode, http.StatusBadRequest, "it is in use")
	expect(http.StatusSeeOther, "/managers", url.Values{"stop": {"mine"}})
	until(vocabulary.StateStopped)

	// An agent takes the place of the definition, and back.
	agent := url.Values{"new": {"false"}, "name": {"mine"}, "definition": {"fork"}, "agent": {`/opt/agent "a b"`}, "proxy": {"tcp"}, "transport": {"local"}}
	require.Contains(t, expect(http.StatusUnprocessableEntity, "/managers/target", agent), "definition and agent exclude each other")
	agent.Del("definition")
	expect(http.StatusSeeOther, "/managers/target", agent)
	agent.Set("agent", "/opt/agent a b") // as the form shows it
	expect(http.StatusSeeOther, "/managers/target", agent)
	m, err := options.Platform.Manager("mine")
	require.NoError(t, err)
	require.Equal(t, settings.Agent{"/opt/agent", "a b"}, m.Target.Agent)
	require.Equal(t, "tcp", m.Target.Proxy)
	require.Contains(t, b.get("/managers/edit?rm=mine"), `value="/opt/agent a b"`)
	expect(http.StatusSeeOther, "/managers/target", url.Values{"new": {"false"}, "name": {"mine"}, "definition": {"fork"}, "transport": {"local"}})

	require.Contains(t, b.get("/managers/edit?rm=mine"), "fork")
	limits := settings.Limits{Interval: settings.Duration{Duration: 30 * time.Second}}
	require.NoError(t, options.Platform.Edit(settings.Target{Name: "mine", Definition: "fork", Transport: "local", Limits: limits}))
	expect(http.StatusSeeOther, "/managers/target", url.Values{"new": {"false"}, "name": {"mine"}, "definition": {"local"}, "transport": {"local"}})
	m, err = options.Platform.Manager("mine")
	require.NoError(t, err)
	require.Equal(t, "local", m.Target.Definition)
	require.Equal(t, limits, m.Target.Limits, "what the form does not have stays")

	require.Contains(t, b.get("/managers/remove?rm=mine"), "Remove the target mine?")
	expect(http.StatusSeeOther, "/managers/remove", url.Values{"rm": {"mine"}})
	_, err = options.Platform.Manager("mine")
	require.Error(t, err)
	kept, err := os.ReadFile(filepath.Join(options.Folder, "targets.toml"))
	require.NoError(t, err)
	require.NotContains(t, string(kept), "mine")
	expect(http.StatusBadRequest, "/managers", url.Values{})
}
