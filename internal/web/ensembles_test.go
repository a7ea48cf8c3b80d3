package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// playedEnsembles has one ensemble, and records what is done to it.
type playedEnsembles struct {
	mutex  sync.Mutex
	status coalloc.Status
	done   []string
	fails  error
}

func (p *playedEnsembles) note(format string, arguments ...any) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done = append(p.done, fmt.Sprintf(format, arguments...))
	return p.fails
}

func (p *playedEnsembles) taken() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	defer func() { p.done = nil }()
	return p.done
}

func (p *playedEnsembles) Read(ctx context.Context, text []byte) (*coalloc.Request, error) {
	return coalloc.ReadRequest(ctx, text, coalloc.Sources{})
}

func (p *playedEnsembles) Edit(ctx context.Context, id, label string, text []byte) error {
	if _, err := p.Follow(ctx, id); err != nil {
		return err
	}
	parts, err := coalloc.ReadParts(ctx, text, coalloc.Sources{})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", coalloc.ErrInvalid, err)
	case label != "":
		return p.Substitute(ctx, label, parts[0])
	}
	return p.Add(ctx, parts...)
}

func (p *playedEnsembles) Submit(_ context.Context, r *coalloc.Request, commit bool) (string, error) {
	return p.status.ID, p.note("submit %d %v", len(r.Parts), commit)
}

func (p *playedEnsembles) List(context.Context, bool) ([]coalloc.Status, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return []coalloc.Status{p.status}, nil
}

func (p *playedEnsembles) Follow(_ context.Context, id string) (coalloc.Control, error) {
	if id != p.status.ID {
		return nil, fmt.Errorf("%w %q", coalloc.ErrUnknownEnsemble, id)
	}
	return playedEnsemble{p}, nil
}

// playedEnsemble is the one.
type playedEnsemble struct{ *playedEnsembles }

func (p playedEnsemble) Events(context.Context, int, func(coalloc.EnsembleEvent) error) error {
	return nil
}

func (p *playedEnsembles) Open(ctx context.Context, id string) (coalloc.Control, error) {
	return p.Follow(ctx, id)
}

func (p *playedEnsembles) Status(context.Context) (coalloc.Status, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.status, nil
}

func (p *playedEnsembles) Add(_ context.Context, parts ...coalloc.Part) error {
	return p.note("add %s", parts[0].Label)
}

func (p *playedEnsembles) Delete(_ context.Context, labels ...string) error {
	return p.note("delete %s", labels[0])
}

func (p *playedEnsembles) Substitute(_ context.Context, label string, part coalloc.Part) error {
	return p.note("substitute %s %s", label, part.Label)
}

func (p *playedEnsembles) Commit(_ context.Context, now bool) error { return p.note("commit %v", now) }

func (p *playedEnsembles) Cancel(context.Context) error { return p.note("cancel") }

func (p *playedEnsembles) Events(_ context.Context, id string, after int) ([]coalloc.EnsembleEvent, error) {
	if _, err := p.Follow(context.Background(), id); err != nil {
		return nil, err
	}
	all := []coalloc.EnsembleEvent{
		{Sequence: 1, Time: time.Unix(1, 0).UTC(), Kind: coalloc.PartChanged, Label: "sim<b>", State: "PENDING", Text: "queued\x1b[2J"},
		{Sequence: 2, Time: time.Unix(2, 0).UTC(), Kind: coalloc.StateChanged, State: "WAITING"},
	}
	return all[min(after, len(all)):], nil
}

const ensembleID = "0123456789ab"

func withEnsembles(t *testing.T) (*browser, *playedEnsembles) {
	t.Helper()
	code := 3
	played := &playedEnsembles{status: coalloc.Status{
		Sets: []coalloc.SetStatus{{Name: "any<i>", Needed: 1, Parts: []string{"x", "y"}, Possible: 1, Waiting: []string{"x"}, Out: []string{"y"}}},
		ID:   ensembleID, Name: "coupled<i>", State: coalloc.Waiting, Created: time.Unix(1, 0).UTC(),
		Parts: []coalloc.PartStatus{
			{Label: "sim<b>", Serial: 1, Target: "slurm", Kind: coalloc.Required, Gate: coalloc.Held, Count: 4, CheckedIn: 2, State: coalloc.PartActive, JobID: "4711", Reason: "<script>", Submitted: time.Unix(1, 0).UTC()},
			{Label: "view", Serial: 2, Index: 1, Target: "local", Kind: coalloc.Optional, Gate: coalloc.Held, Count: 1, State: coalloc.PartDone, ExitCode: &code},
		},
	}}
	s := testPlatform(t)
	s.Ensembles = played
	require.NoError(t, s.Store.Intend(t.Context(), job.Job{Tag: "tag-1", Target: "local", Ensemble: ensembleID, Part: "sim<b>"}))
	s.Platform.Model().Update(func(u *model.Update) { u.Put(model.Row{Kind: model.ResourceManager, ID: "local"}) })
	return serveWith(t, s, nil).enter(), played
}

func TestEnsemblesAreShown(t *testing.T) {
	t.Parallel()
	b, _ := withEnsembles(t)
	require.Contains(t, b.get("/"), `href="/ensembles"`)
	list := b.get("/ensembles")
	require.Contains(t, list, "coupled&lt;i&gt;")
	require.Contains(t, list, "waiting for sim&lt;b&gt;, 1 more of set any&lt;i&gt; and the commit")
	require.Contains(t, list, "/ensemble?id="+ensembleID)
	page := b.get("/ensemble?id=" + ensembleID)
	require.Contains(t, page, "2 of 4")
	require.Contains(t, page, "job 4711 runs; 2 of 4 processes have checked in: &lt;script&gt;")
	require.Contains(t, page, "set any&lt;i&gt;: 0 of 1 required parts have checked in; waiting for x; out: y")
	require.NotContains(t, page, "\x1b")
	require.NotContains(t, page, "<script>")
	require.Contains(t, page, "Commit")
	page = b.get("/job?rm=local&id=tag-1")
	require.Contains(t, page, `<a href="/ensemble?id=`+ensembleID+`">`+ensembleID+"</a>")
	require.Contains(t, page, "sim&lt;b&gt;")
	require.NotContains(t, page, "Release now", "a part is missing")
	response, _ := b.do(http.MethodGet, "/ensemble?id=ffffffffffff", nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

func TestEnsemblesAreChangedOnTheirPage(t *testing.T) {
	t.Parallel()
	b, played := withEnsembles(t)
	post := func(fields url.Values) (*http.Response, string) {
		fields.Set("id", ensembleID)
		return b.post("/ensemble", fields)
	}
	_, _ = post(url.Values{"operation": {"commit"}})
	_, _ = post(url.Values{"operation": {"commit-now"}})
	_, question := post(url.Values{"operation": {"cancel"}})
	require.Contains(t, question, "All its jobs end.")
	_, question = post(url.Values{"delete": {"sim<b>"}})
	require.Contains(t, question, "Delete part sim&lt;b&gt;?")
	require.Equal(t, []string{"commit false", "commit true"}, played.taken(), "what cannot be undone is asked first")
	_, _ = post(url.Values{"operation": {"cancel"}, "confirmed": {"true"}})
	_, _ = post(url.Values{"operation": {"delete"}, "part": {"sim<b>"}, "confirmed": {"true"}})
	part := "[part.new]\ntarget = \"local\"\nexecutable = \"/bin/true\"\n"
	_, _ = post(url.Values{"operation": {"add"}, "request": {part}})
	_, _ = post(url.Values{"operation": {"add"}, "request": {part}, "part": {"view"}})
	require.Equal(t, []string{"cancel", "delete sim<b>", "add new", "substitute view new"}, played.taken())

	response, page := post(url.Values{"operation": {"add"}, "request": {"[part.new]"}})
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Contains(t, page, "has no target")
	response, _ = post(url.Values{"operation": {"release"}})
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	played.fails = coalloc.ErrReleased
	response, page = post(url.Values{"operation": {"commit"}})
	require.Equal(t, http.StatusConflict, response.StatusCode)
	require.Contains(t, page, "released already")

	response, _ = b.do(http.MethodPost, "/ensemble", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, nil)
	require.Equal(t, http.StatusForbidden, response.StatusCode, "without a CSRF token")
}

func TestProgramsUseEnsembles(t *testing.T) {
	t.Parallel()
	b, played := withEnsembles(t)
	p := b.program()
	path := "/ensembles/" + ensembleID
	part := "[part.new]\ntarget = \"local\"\nexecutable = \"/bin/true\"\n"
	require.Len(t, p.done(http.MethodGet, "/ensembles?all=true", nil)["ensembles"], 1)
	require.Equal(t, "WAITING", p.done(http.MethodGet, path, nil)["state"])
	require.Len(t, p.done(http.MethodGet, path+"/events?after=1", nil)["events"], 1)
	require.Equal(t, ensembleID, p.done(http.MethodPost, "/ensembles", map[string]any{"request": part, "commit": true})["id"])
	object := map[string]any{"part": map[string]any{"new": map[string]any{"target": "local", "executable": "/bin/true"}}}
	p.done(http.MethodPost, "/ensembles", map[string]any{"request": object})
	p.done(http.MethodPost, path+"/parts", map[string]any{"request": part})
	p.done(http.MethodPut, path+"/parts/view", map[string]any{"request": part})
	p.done(http.MethodDelete, path+"/parts/sim%3Cb%3E", nil)
	p.done(http.MethodPost, path+"/commit", map[string]any{})
	p.done(http.MethodPost, path+"/commit", map[string]any{"now": true})
	p.done(http.MethodPost, path+"/cancel", nil)
	require.Equal(t, []string{"submit 1 true", "submit 1 false", "add new", "substitute view new", "delete sim<b>", "commit false", "commit true", "cancel"}, played.taken())

	for name, test := range map[string]struct {
		fails  error
		status int
	}{
		"released": {coalloc.ErrReleased, http.StatusConflict}, "a part that is unknown": {coalloc.ErrUnknownPart, http.StatusNotFound},
		"nobody runs it": {coalloc.ErrNotRunning, http.StatusServiceUnavailable}, "another error": {errors.New("no"), http.StatusInternalServerError},
	} {
		played.fails = test.fails
		status, _ := p.call(http.MethodPost, path+"/cancel", nil)
		require.Equal(t, test.status, status, name)
	}
	played.fails = nil
	status, answer := p.call(http.MethodPost, "/ensembles", map[string]any{"request": "[part.new]"})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer["error"], "has no target")
	status, _ = p.call(http.MethodGet, "/ensembles/ffffffffffff", nil)
	require.Equal(t, http.StatusNotFound, status)
}
