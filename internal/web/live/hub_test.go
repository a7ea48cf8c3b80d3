package live

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestPatchesTurnOneDrawingIntoAnother(t *testing.T) {
	of := func(items ...Item) *Drawn { return &Drawn{regions: []Region{{ID: "rows", Items: items}}} }
	a, b, changedB, c := Item{"a", "<i>a</i>"}, Item{"b", "<i>b</i>"}, Item{"b", "<i>B</i>"}, Item{"c", "<i>c</i>"}
	for _, try := range []struct {
		name          string
		before, after *Drawn
		want          string
	}{
		{"nothing", of(a, b), of(a, b), `null`},
		{"a row changed", of(a, b), of(a, changedB), `[{"id":"rows","items":{"b":"<i>B</i>"}}]`},
		{"a row came", of(a, b), of(a, c, b), `[{"id":"rows","order":["a","c","b"],"items":{"c":"<i>c</i>"}}]`},
		{"rows changed places", of(a, b), of(b, a), `[{"id":"rows","order":["b","a"]}]`},
		{"the last row went", of(a), &Drawn{regions: []Region{{ID: "rows", Items: []Item{}}}}, `[{"id":"rows","empty":true}]`},
		{"all of it", nil, of(a), `[{"id":"rows","order":["a"],"items":{"a":"<i>a</i>"}}]`},
		{"other content", &Drawn{regions: []Region{{ID: "rows", HTML: "old"}}}, &Drawn{regions: []Region{{ID: "rows", HTML: ""}}}, `[{"id":"rows","html":""}]`},
	} {
		t.Run(try.name, func(t *testing.T) {
			require.Equal(t, "event: patch\ndata: "+try.want+"\n\n", string(event("", patches(try.before, try.after))))
		})
	}
}

// A client may be there before the hub has begun to run.
func TestAChangeBeforeTheHubRunsIsSent(t *testing.T) {
	m := model.New()
	webtest.Put(m, "alpha")
	h := New(m, slog.New(slog.DiscardHandler))
	h.views["newest"] = func(snapshot *model.Snapshot, _ url.Values) ([]Region, error) {
		return []Region{{ID: "x", HTML: html.HTML(fmt.Sprint(snapshot.Revision()))}}, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := h.watch("newest", url.Values{}, "")
	require.NoError(t, err)
	before := string(<-w.events)
	webtest.Put(m, "beta")
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	select {
	case text := <-w.events:
		require.NotEqual(t, before, string(text))
	case <-ctx.Done():
		require.Fail(t, "the change is not reported")
	}
	cancel()
	running.Wait()
}

func TestASlowViewDelaysNoOtherView(t *testing.T) {
	m := model.New()
	h := New(m, slog.New(slog.DiscardHandler))
	h.AddView("newest", func(snapshot *model.Snapshot, _ url.Values) ([]Region, error) {
		return []Region{{ID: "x", HTML: html.HTML(fmt.Sprint(snapshot.Revision()))}}, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	drawings := make(chan struct{}, 1)
	drawings <- struct{}{}
	begun := make(chan struct{}, 1)
	h.AddSlowView("remote", func(*model.Snapshot, url.Values) ([]Region, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-drawings:
			return []Region{{ID: "x", HTML: "known"}}, nil
		}
	})
	_, err := h.watch("remote", url.Values{}, "")
	require.NoError(t, err)
	<-begun
	w, err := h.watch("newest", url.Values{}, "")
	require.NoError(t, err)
	<-w.events
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	h.Outdate("remote")
	<-begun
	webtest.Put(m, "beta")
	select {
	case <-w.events:
	case <-ctx.Done():
		require.Fail(t, "the other view is not drawn")
	}
	page, err := h.Draw("remote", url.Values{})
	require.NoError(t, err)
	require.Equal(t, html.HTML("known"), html.Render(page.Region("x")), "the last drawing is shown meanwhile")
	require.NoError(t, ctx.Err())
	cancel()
	running.Wait()
}

func TestAClientThatComesWithAnOldDrawingIsNotForgotten(t *testing.T) {
	m := model.New()
	h := New(m, slog.New(slog.DiscardHandler))
	drawings := 0
	h.views["counted"] = func(*model.Snapshot, url.Values) ([]Region, error) {
		drawings++
		return []Region{{ID: "x", HTML: html.HTML(strconv.Itoa(drawings))}}, nil
	}
	h.pause = time.Hour
	sc, err := h.scene("counted", url.Values{})
	require.NoError(t, err)
	page, err := h.draw(sc, 0)
	require.NoError(t, err)
	webtest.Put(m, "alpha") // Run draws nothing: no page shows it
	_, err = h.watch("counted", url.Values{}, page.Mark)
	require.NoError(t, err)
	require.Len(t, h.changed, 1, "the view is drawn again without another change")
}

func TestAPageShowsWhatWasChangedBeforeItWasLoaded(t *testing.T) {
	m := model.New()
	h := New(m, slog.New(slog.DiscardHandler))
	h.pause = time.Hour
	drawings := 0
	h.AddView("managers", func(snapshot *model.Snapshot, _ url.Values) ([]Region, error) {
		drawings++
		_, isThere := snapshot.Manager("alpha")
		return []Region{{ID: "x", HTML: html.HTML(strconv.FormatBool(isThere))}}, nil
	})
	shows := func(want html.HTML) {
		t.Helper()
		page, err := h.Draw("managers", url.Values{})
		require.NoError(t, err)
		require.Equal(t, want, html.Render(page.Region("x")))
	}
	shows("false")
	webtest.Put(m, "alpha")
	shows("true")
	shows("true")
	require.Equal(t, 2, drawings, "a page is drawn again for a change only")
}

func TestACacheOfDrawingsForPagesIsBounded(t *testing.T) {
	h := New(model.New(), slog.New(slog.DiscardHandler))
	h.AddView("nothing", func(*model.Snapshot, url.Values) ([]Region, error) { return nil, nil })
	for i := range 4 * maxUnwatched {
		_, err := h.Draw("nothing", url.Values{"q": {strconv.Itoa(i)}})
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(h.scenes), maxUnwatched)
}

func TestAClientThatStopsReadingIsLeft(t *testing.T) {
	m := model.New()
	webtest.Put(m, "alpha")
	h := New(m, slog.New(slog.DiscardHandler))
	h.pause = time.Millisecond
	large := strings.Repeat("x", 1<<20)
	h.AddView("large", func(snapshot *model.Snapshot, _ url.Values) ([]Region, error) {
		return []Region{{ID: "x", HTML: html.HTML(fmt.Sprint(snapshot.Revision(), large))}}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Stream(w, r); err != nil {
			t.Error(err)
		}
	}))
	server.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	server.Start()
	t.Cleanup(func() {
		cancel()
		server.CloseClientConnections()
		server.Close()
		running.Wait()
	})
	reader := webtest.ListenTo(t, server.Client(), server.URL+"/events?view=large", nil)
	reader()
	webtest.OpenEvents(t, server.Client(), server.URL+"/events?view=large", nil) // and nothing is read of it
	require.Equal(t, 2, h.watching())
	for i := 0; h.watching() == 2; i++ {
		require.Less(t, i, 100, "what waits for a client is bounded")
		webtest.Put(m, "beta"+strconv.Itoa(i))
		require.Equal(t, "patch", reader().Kind, "others get changes as before")
	}
	webtest.Put(m, "gamma")
	require.Equal(t, "patch", reader().Kind)
	require.Equal(t, 1, h.watching())
}

func TestNoMoreClientsThanAllowedAreServed(t *testing.T) {
	h := New(model.New(), slog.New(slog.DiscardHandler))
	h.AddView("nothing", func(*model.Snapshot, url.Values) ([]Region, error) { return nil, nil })
	for range maxWatchers {
		_, err := h.watch("nothing", url.Values{}, "")
		require.NoError(t, err)
	}
	err := h.Stream(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/events?view=nothing", nil))
	var refused *answer.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.ErrorContains(t, err, "close some")
}

// watching returns how many clients there are.
func (h *Hub) watching() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clients
}
