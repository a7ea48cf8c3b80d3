package web

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

// with fills a model with targets.
func with(names ...string) func(m *model.Model) {
	return func(m *model.Model) { webtest.Put(m, names...) }
}

// stream opens a stream of events.
func (b *browser) stream(address string, header http.Header) *http.Response {
	b.t.Helper()
	return webtest.OpenEvents(b.t, b.client, b.base+address, header)
}

// listen opens a stream of events; next waits for one.
func (b *browser) listen(address string, header http.Header) (next func() webtest.Received) {
	b.t.Helper()
	return webtest.ListenTo(b.t, b.client, b.base+address, header)
}

// eventsOf returns the address of the stream that a page names.
func (b *browser) eventsOf(page string) string {
	b.t.Helper()
	_, after, found := strings.Cut(b.get(page), `data-events="`)
	require.True(b.t, found)
	address, _, _ := strings.Cut(after, `"`)
	return strings.ReplaceAll(address, "&amp;", "&")
}

func TestAPageReceivesOnlyChanges(t *testing.T) {
	t.Parallel()
	b := serve(t, with("alpha", "beta")).enter()
	next := b.listen(b.eventsOf("/"), nil)

	b.model.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "beta", Attributes: []model.Attribute{{ID: vocabulary.AttributeRMState, Text: vocabulary.StateStarting}}})
	})
	first := next()
	changed := first.Patches(t)
	require.Len(t, changed, 1)
	require.Equal(t, "managers", changed[0].ID)
	require.Empty(t, changed[0].Order, "no row came or went")
	require.Len(t, changed[0].Items, 1, "alpha did not change")
	require.Contains(t, changed[0].Items["beta"], "STARTING")

	webtest.Put(b.model, "aaa")
	second := next()
	changed = second.Patches(t)
	require.Equal(t, []string{"aaa", "alpha", "beta"}, changed[0].Order)
	require.Len(t, changed[0].Items, 1)
	require.NotEqual(t, first.ID, second.ID)
}

func TestAPageThatIsBehindIsGivenAllOfItsView(t *testing.T) {
	t.Parallel()
	b := serve(t, with("alpha")).enter()
	address := b.eventsOf("/")
	webtest.Put(b.model, "beta")
	next := b.listen(address, http.Header{"Last-Event-Id": {"of an earlier server"}})
	all := next().Patches(t)
	if len(all[0].Order) == 1 { // drawn before beta arrived, which is sent next
		all = next().Patches(t)
	}
	require.Contains(t, all[0].Order, "beta")
}

func TestClientsOfOneViewAreDrawnForOnce(t *testing.T) {
	t.Parallel()
	b := serve(t, with("alpha")).enter()
	var drawings atomic.Int32
	b.pages().Hub.AddView("counted", func(snapshot *model.Snapshot, _ url.Values) ([]live.Region, error) {
		return []live.Region{{ID: "x", HTML: html.HTML(strings.Repeat("x", int(drawings.Add(1))))}}, nil
	})
	nexts := []func() webtest.Received{}
	for range 20 {
		nexts = append(nexts, b.listen("/events?view=counted", nil))
	}
	for _, next := range nexts {
		require.NotNil(t, next().Patches(t)[0].HTML)
	}
	before := drawings.Load()
	webtest.Put(b.model, "beta")
	var texts []string
	for _, next := range nexts {
		texts = append(texts, next().Data)
	}
	require.Equal(t, before+1, drawings.Load())
	for _, text := range texts {
		require.Equal(t, texts[0], text)
	}
}

func TestAViewThatCannotBeDrawnAnyMoreSaysWhy(t *testing.T) {
	t.Parallel()
	b := serve(t, with("alpha")).enter()
	b.pages().Hub.AddView("one", func(snapshot *model.Snapshot, query url.Values) ([]live.Region, error) {
		if _, there := snapshot.Manager(query.Get("manager")); !there {
			return nil, answer.Errorf(http.StatusNotFound, "no such target: %q", query.Get("manager"))
		}
		return []live.Region{{ID: "x", HTML: "here"}}, nil
	})
	response, body := b.do(http.MethodGet, "/events?view=one&manager=beta", nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.Contains(t, body, `no such target: \"beta\"`)

	next := b.listen("/events?view=one&manager=alpha", nil)
	next()
	b.model.Update(func(u *model.Update) { u.Remove("alpha", model.ResourceManager, "alpha") })
	event := next()
	require.Equal(t, "problem", event.Kind)
	require.Equal(t, `"no such target: \"alpha\""`, event.Data)
	webtest.Put(b.model, "alpha")
	require.Equal(t, "patch", next().Kind)
}

func TestStreamsOutliveTheLimitsOfRequests(t *testing.T) {
	t.Parallel()
	options := testPlatform(t)
	webtest.Put(options.Platform.Model(), "alpha")
	server := options.server(t)
	const limit = 2 * time.Second
	server.limits = limits{header: time.Minute, body: limit, write: limit, idle: time.Minute, end: time.Minute}
	b := run(t, server)
	next := b.listen("/events?view=managers", http.Header{"Authorization": {"Bearer " + server.access.token}})
	next()
	begun := time.Now()
	for i := 0; time.Since(begun) < limit+time.Second; i++ { // each is half a second after the one before
		webtest.Put(b.model, "beta"+strconv.Itoa(i))
		require.Equal(t, "patch", next().Kind)
	}
}

func TestTheEndOfTheServerEndsStreams(t *testing.T) {
	t.Parallel()
	b := serve(t, with("alpha")).enter()
	response := b.stream(b.eventsOf("/"), nil)
	require.NoError(t, b.server.Close())
	_, err := io.ReadAll(response.Body)
	require.NoError(t, err)
}
