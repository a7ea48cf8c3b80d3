// Package pages are the pages of the server: the model's, those that change it,
// and the launch forms. A page is made of functions that return nodes of HTML;
// what changes in it by itself is a view of package live.
package pages

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/internal/web/usage"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// Options are what pages show and change.
type Options struct {
	Platform  *views.Views
	Store     *jobstore.Store
	Folder    string // of the targets file and the saved submissions
	History   string // file in which samples are kept; empty for none
	Ledger    *listing.Ledger
	Version   string       // of rmctl
	Stacks    StacksReader // nil to offer no stacks
	Ensembles Ensembles    // nil to show none
	Log       *slog.Logger
}

// Pages are what people see of the server.
type Pages struct {
	Options
	Hub *live.Hub // what they show

	static   *staticFiles
	handlers map[string]answer.Handler
	nav      []navigation
	history  *usage.History
	readers  chan struct{} // one element for each read of stacks that is running
	began    time.Time
	ctx      context.Context // ends with Run
	stop     context.CancelFunc
}

// New returns the pages.
func New(options Options) (*Pages, error) {
	static, err := readStatic()
	if err != nil {
		return nil, err
	}
	p := &Pages{Options: options, Hub: live.New(options.Platform.Model(), options.Log), static: static, history: usage.Open(options.History, options.Log), began: time.Now()}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.handlers = map[string]answer.Handler{"GET " + live.EventsPath: p.Hub.Stream, "GET /static/": static.answer, "GET /help": p.helpPage}
	p.addModelPages()
	p.addLaunch()
	p.addStacks()
	p.addEnsembles()
	return p, nil
}

// Handlers returns what answers requests, by pattern of http.ServeMux.
func (p *Pages) Handlers() map[string]answer.Handler { return p.handlers }

// ShowError answers with a page that says what went wrong.
func (p *Pages) ShowError(w http.ResponseWriter, r *http.Request, status int, err error) {
	main := h.P(h.Class("lines"), h.Text(listing.Fact(err.Error())))
	p.answer(w, r, status, document{title: http.StatusText(status), main: main})
}

// Reopen answers with a page that opens the same address again, as a link of this server does.
func (p *Pages) Reopen(w http.ResponseWriter, r *http.Request) {
	address := (&url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: r.URL.RawQuery}).String()
	p.answer(w, r, http.StatusOK, document{title: "Opening rmctl", next: address, main: h.P(link(address, "Continue"))})
}

// Login asks for a name and a password, and says what was wrong with the last ones.
func (p *Pages) Login(w http.ResponseWriter, r *http.Request, status int, problem string) {
	p.answer(w, r, status, document{title: "Log in", main: loginMain(problem)})
}

// addModelPages registers the pages that show the model.
func (p *Pages) addModelPages() {
	for _, each := range []struct{ address, label string }{
		{"/", "Targets"}, {"/machines", "Machines"}, {"/queues", "Queues"}, {"/jobs", "Jobs"}, {"/timeline", "Timeline"}, {"/utilisation", "Utilisation"},
	} {
		p.addNavigation(each.address, each.label)
	}
	for name, view := range map[string]live.View{
		"managers": p.managersView, "machines": p.machinesView, "node": p.nodeView, "queues": p.queuesView, "jobs": p.jobsView,
		"job": p.jobView, "process": p.processView, "timeline": p.timelineView, "utilisation": p.utilisationView,
	} {
		p.Hub.AddView(name, view)
	}
	for address, page := range map[string]answer.Handler{
		"/{$}": p.managersPage, "/machines": p.machinesPage, "/node": p.nodePage, "/queues": p.queuesPage, "/jobs": p.jobsPage,
		"/job": p.jobPage, "/process": p.processPage, "/timeline": p.timelinePage, "/utilisation": p.utilisationPage,
	} {
		p.handlers["GET "+address] = page
	}
	maps.Copy(p.handlers, map[string]answer.Handler{
		"GET /managers/new": p.newManagerPage, "GET /managers/edit": p.editManagerPage, "POST /managers/target": p.targetPosted,
		"GET /managers/remove": p.removeManagerPage, "POST /managers/remove": p.managerRemoved, "POST /managers": p.managersPosted, "POST /jobs/operate": p.operatePosted,
	})
}

// Run draws what changes, and takes samples of what listings bring, until ctx ends.
func (p *Pages) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, p.stop)()
	var running sync.WaitGroup
	running.Go(func() { p.Hub.Run(ctx) })
	if p.Ensembles != nil {
		running.Go(func() { p.followEnsembles(ctx) })
	}
	running.Go(func() { p.history.Run(ctx, p.Platform.Model(), p.Ledger) })
	running.Wait()
}

// show answers with a page that shows a view; main returns its content.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, view, title string, query url.Values, main func(*live.Drawn) h.Node, files ...string) error {
	drawn, err := p.Hub.Draw(view, query)
	if err != nil {
		return err
	}
	p.answer(w, r, http.StatusOK, document{title: title, live: drawn, main: main(drawn), files: files})
	return nil
}

func (p *Pages) snapshot() *model.Snapshot { return p.Platform.Model().Snapshot() }
