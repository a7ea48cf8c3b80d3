package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// put gives a model resource managers by name.
func put(m *model.Model, names ...string) {
	m.Update(func(u *model.Update) {
		for _, name := range names {
			u.Put(model.Row{Kind: model.ResourceManager, ID: name})
		}
	})
}

// with fills a model with resource managers.
func with(names ...string) func(m *model.Model) {
	return func(m *model.Model) { put(m, names...) }
}

// A received is an event as a client got it.
type received struct {
	id, kind, data string
}

func (e received) patches(t *testing.T) []patch {
	t.Helper()
	require.Equal(t, "patch", e.kind)
	var all []patch
	require.NoError(t, json.Unmarshal([]byte(e.data), &all))
	return all
}

// stream opens a stream of events.
func (b *browser) stream(address string, header http.Header) *http.Response {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+address, nil)
	require.NoError(b.t, err)
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := b.client.Do(request)
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, response.StatusCode)
	require.Equal(b.t, "text/event-stream", response.Header.Get("Content-Type"))
	b.t.Cleanup(func() { require.NoError(b.t, response.Body.Close()) })
	return response
}

// listen opens a stream of events; next waits for one.
func (b *browser) listen(address string, header http.Header) (next func() received) {
	b.t.Helper()
	response := b.stream(address, header)
	lines := bufio.NewReader(response.Body)
	return func() received {
		b.t.Helper()
		var e received
		for {
			line, err := lines.ReadString('\n')
			require.NoError(b.t, err)
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
			case "":
				if e.kind != "" {
					return e
				}
			}
		}
	}
}

// eventsOf returns the address of the stream that a page names.
func (b *browser) eventsOf(page string) string {
	b.t.Helper()
	_, after, found := strings.Cut(b.get(page), `data-events="`)
	require.True(b.t, found)
	address, _, _ := strings.Cut(after, `"`)
	return strings.ReplaceAll(address, "&amp;", "&")
}

func TestAPageIsToldOfWhatChangedAlone(t *testing.T) {
	b := serve(t, with("alpha", "beta")).enter()
	next := b.listen(b.eventsOf("/"), nil)

	b.model.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "beta", Attributes: []model.Attribute{{ID: model.AttributeRMState, Text: string(model.StateStarting)}}})
	})
	first := next()
	changed := first.patches(t)
	require.Len(t, changed, 1)
	require.Equal(t, "managers", changed[0].ID)
	require.Empty(t, changed[0].Order, "no row came or went")
	require.Len(t, changed[0].Items, 1, "alpha did not change")
	require.Contains(t, changed[0].Items["beta"], "STARTING")

	put(b.model, "aaa")
	second := next()
	changed = second.patches(t)
	require.Equal(t, []string{"aaa", "alpha", "beta"}, changed[0].Order)
	require.Len(t, changed[0].Items, 1)
	require.NotEqual(t, first.id, second.id)
}

func TestAPageThatIsBehindIsGivenAllOfItsView(t *testing.T) {
	b := serve(t, with("alpha")).enter()
	address := b.eventsOf("/")
	put(b.model, "beta")
	next := b.listen(address, http.Header{"Last-Event-Id": {"of an earlier server"}})
	all := next().patches(t)
	if len(all[0].Order) == 1 { // drawn before beta came, which is told next
		all = next().patches(t)
	}
	require.Contains(t, all[0].Order, "beta")
}

func TestClientsOfOneViewAreDrawnForOnce(t *testing.T) {
	b := serve(t, with("alpha")).enter()
	var drawings atomic.Int32
	b.server.hub.AddView("counted", func(snapshot *model.Snapshot, _ url.Values) ([]region, error) {
		return []region{{ID: "x", HTML: template.HTML(strings.Repeat("x", int(drawings.Add(1))))}}, nil
	})
	nexts := []func() received{}
	for range 20 {
		nexts = append(nexts, b.listen("/events?view=counted", nil))
	}
	for _, next := range nexts {
		require.NotNil(t, next().patches(t)[0].HTML)
	}
	before := drawings.Load()
	put(b.model, "beta")
	var texts []string
	for _, next := range nexts {
		texts = append(texts, next().data)
	}
	require.Equal(t, before+1, drawings.Load())
	for _, text := range texts {
		require.Equal(t, texts[0], text)
	}
}

func TestAViewThatCannotBeDrawnAnyMoreSaysWhy(t *testing.T) {
	b := serve(t, with("alpha")).enter()
	b.server.hub.AddView("one", func(snapshot *model.Snapshot, query url.Values) ([]region, error) {
		if _, there := snapshot.Manager(query.Get("manager")); !there {
			return nil, failuref(http.StatusNotFound, "there is no resource manager %q", query.Get("manager"))
		}
		return []region{{ID: "x", HTML: "here"}}, nil
	})
	response, body := b.do(http.MethodGet, "/events?view=one&manager=beta", nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.Contains(t, body, `there is no resource manager \"beta\"`)

	next := b.listen("/events?view=one&manager=alpha", nil)
	next()
	b.model.Update(func(u *model.Update) { u.Remove("alpha", model.ResourceManager, "alpha") })
	event := next()
	require.Equal(t, "problem", event.kind)
	require.Equal(t, `"there is no resource manager \"alpha\""`, event.data)
	put(b.model, "alpha")
	require.Equal(t, "patch", next().kind)
}

func TestPatchesTurnOneDrawingIntoAnother(t *testing.T) {
	of := func(items ...item) *drawn { return &drawn{regions: []region{{ID: "rows", Items: items}}} }
	a, b, changedB, c := item{"a", "<i>a</i>"}, item{"b", "<i>b</i>"}, item{"b", "<i>B</i>"}, item{"c", "<i>c</i>"}
	for _, try := range []struct {
		name          string
		before, after *drawn
		want          string
	}{
		{"nothing", of(a, b), of(a, b), `null`},
		{"a row changed", of(a, b), of(a, changedB), `[{"id":"rows","items":{"b":"<i>B</i>"}}]`},
		{"a row came", of(a, b), of(a, c, b), `[{"id":"rows","order":["a","c","b"],"items":{"c":"<i>c</i>"}}]`},
		{"rows changed places", of(a, b), of(b, a), `[{"id":"rows","order":["b","a"]}]`},
		{"the last row went", of(a), &drawn{regions: []region{{ID: "rows", Items: []item{}}}}, `[{"id":"rows","empty":true}]`},
		{"all of it", nil, of(a), `[{"id":"rows","order":["a"],"items":{"a":"<i>a</i>"}}]`},
		{"other content", &drawn{regions: []region{{ID: "rows", HTML: "old"}}}, &drawn{regions: []region{{ID: "rows", HTML: ""}}}, `[{"id":"rows","html":""}]`},
	} {
		t.Run(try.name, func(t *testing.T) {
			text, err := event("", patches(try.before, try.after))
			require.NoError(t, err)
			require.Equal(t, "event: patch\ndata: "+try.want+"\n\n", string(text))
		})
	}
}

func TestStreamsOutliveTheLimitsOfRequests(t *testing.T) {
	options := testPlatform(t)
	put(options.Platform.Model(), "alpha")
	server, err := New(options)
	require.NoError(t, err)
	const limit = 6 * time.Second // which the pages before the stream must keep
	server.limits = limits{header: time.Minute, body: limit, write: limit, idle: time.Minute}
	b := run(t, server).enter()
	next := b.listen(b.eventsOf("/"), nil)
	begun := time.Now()
	for i := 0; time.Since(begun) < limit+time.Second; i++ { // each is half a second after the one before
		put(b.model, "beta"+strconv.Itoa(i))
		require.Equal(t, "patch", next().kind)
	}
}

func TestTheEndOfTheServerEndsStreams(t *testing.T) {
	b := serve(t, with("alpha")).enter()
	response := b.stream(b.eventsOf("/"), nil)
	require.NoError(t, b.server.Close())
	_, err := io.ReadAll(response.Body)
	require.NoError(t, err)
}

func TestAClientThatStopsReadingIsLeft(t *testing.T) {
	options := testPlatform(t)
	put(options.Platform.Model(), "alpha")
	server, err := New(options)
	require.NoError(t, err)
	server.hub.pause = time.Millisecond
	large := strings.Repeat("x", 1<<20)
	server.hub.AddView("large", func(snapshot *model.Snapshot, _ url.Values) ([]region, error) {
		return []region{{ID: "x", HTML: template.HTML(fmt.Sprint(snapshot.Revision(), large))}}, nil
	})
	b := run(t, server).enter()
	reader := b.listen("/events?view=large", nil)
	reader()
	b.stream("/events?view=large", nil) // and nothing is read of it
	require.Equal(t, 2, server.hub.watching())
	for i := 0; server.hub.watching() == 2; i++ {
		require.Less(t, i, 100, "what waits for a client is bounded")
		put(b.model, "beta"+strconv.Itoa(i))
		require.Equal(t, "patch", reader().kind, "others are told as before")
	}
	put(b.model, "gamma")
	require.Equal(t, "patch", reader().kind)
	require.Equal(t, 1, server.hub.watching())
}

// A client may be there before the hub has begun to run.
func TestAChangeBeforeTheHubRunsIsTold(t *testing.T) {
	m := model.New()
	put(m, "alpha")
	h := newHub(m, slog.New(slog.DiscardHandler))
	h.views["newest"] = func(snapshot *model.Snapshot, _ url.Values) ([]region, error) {
		return []region{{ID: "x", HTML: template.HTML(fmt.Sprint(snapshot.Revision()))}}, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	snapshot := m.Snapshot()
	w, err := h.watch("newest", url.Values{}, "")
	require.NoError(t, err)
	before := string(<-w.events)
	put(m, "beta")
	var running sync.WaitGroup
	running.Go(func() { h.run(ctx, snapshot) })
	select {
	case text := <-w.events:
		require.NotEqual(t, before, string(text))
	case <-ctx.Done():
		require.Fail(t, "the change is not told")
	}
	cancel()
	running.Wait()
}

func TestAClientThatComesWithAnOldDrawingIsNotForgotten(t *testing.T) {
	h := newHub(model.New(), slog.New(slog.DiscardHandler))
	drawings := 0
	h.views["counted"] = func(*model.Snapshot, url.Values) ([]region, error) {
		drawings++
		return []region{{ID: "x", HTML: template.HTML(strconv.Itoa(drawings))}}, nil
	}
	h.pause = time.Hour
	sc, err := h.scene("counted", url.Values{})
	require.NoError(t, err)
	page, err := h.draw(sc, 0)
	require.NoError(t, err)
	h.redraw()
	<-h.changed // as run takes it, which draws nothing that nobody looks at
	_, err = h.watch("counted", url.Values{}, page.Mark)
	require.NoError(t, err)
	require.Len(t, h.changed, 1, "the view is drawn again without another change")
}

func TestNoMoreClientsThanAllowedAreServed(t *testing.T) {
	b := serve(t, with("alpha")).enter()
	for range maxWatchers {
		_, err := b.server.hub.watch("managers", url.Values{}, "")
		require.NoError(t, err)
	}
	response, body := b.do(http.MethodGet, "/events?view=managers", nil, nil)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Contains(t, body, "close some")

	for range maxWatchers {
		_, err := b.server.api.journal.follow()
		require.NoError(t, err)
	}
	response, body = b.do(http.MethodGet, apiPath+"/events", nil, nil)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Contains(t, body, "close some")
}

func TestACacheOfDrawingsForPagesIsBounded(t *testing.T) {
	b := serve(t, with("alpha"))
	for i := range 4 * maxUnwatched {
		_, err := b.server.hub.Draw("jobs", url.Values{"q": {strconv.Itoa(i)}})
		require.NoError(t, err)
	}
	b.server.hub.mutex.Lock()
	defer b.server.hub.mutex.Unlock()
	require.LessOrEqual(t, len(b.server.hub.scenes), maxUnwatched)
}
