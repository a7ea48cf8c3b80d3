// Package pages are the pages of the server: the model's, those that change it,
// and the launch forms. A page is a template; what changes in it by itself is a
// view of package live.
package pages

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

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
	Platform *views.Views
	Store    *jobstore.Store
	Folder   string // of the targets file and the launch configurations
	History  string // file in which samples are kept; empty for none
	Ledger   *listing.Ledger
	Log      *slog.Logger
}

// Pages are what people see of the server.
type Pages struct {
	Options
	Hub *live.Hub // what they show

	templates *templates
	handlers  map[string]answer.Handler
	nav       []navigation
	history   *usage.History
	began     time.Time
	ctx       context.Context // ends with Run
	stop      context.CancelFunc
}

// New returns the pages.
func New(options Options) (*Pages, error) {
	templates, err := readTemplates()
	if err != nil {
		return nil, err
	}
	p := &Pages{Options: options, Hub: live.New(options.Platform.Model(), options.Log), templates: templates, history: usage.Open(options.History, options.Log), began: time.Now()}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.handlers = map[string]answer.Handler{"GET " + live.EventsPath: p.Hub.Stream, "GET /static/": templates.static.answer}
	p.addModelPages()
	p.addLaunch()
	return p, nil
}

// Handlers returns what answers requests, by pattern of http.ServeMux.
func (p *Pages) Handlers() map[string]answer.Handler { return p.handlers }

// ShowError answers with a page that says what went wrong.
func (p *Pages) ShowError(w http.ResponseWriter, r *http.Request, status int, err error) {
	if err := p.page(w, r, status, "error", http.StatusText(status), nil, listing.Fact(err.Error())); err != nil {
		p.Log.Error("the page of an error could not be drawn", "error", err)
		http.Error(w, http.StatusText(status), status)
	}
}

// Login asks for a name and a password, and says what was wrong with the last ones.
func (p *Pages) Login(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	return p.page(w, r, status, "login", "Log in", nil, problem)
}

// addModelPages registers the pages that show the model.
func (p *Pages) addModelPages() {
	for _, each := range []struct{ address, label string }{
		{"/", "Resource managers"}, {"/machines", "Machines"}, {"/queues", "Queues"}, {"/jobs", "Jobs"}, {"/timeline", "Timeline"}, {"/utilisation", "Utilisation"},
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
	running.Go(func() { p.history.Run(ctx, p.Platform.Model(), p.Ledger) })
	running.Wait()
}

// A drawing collects the regions of a view.
type drawing struct {
	pages   *Pages
	page    string
	regions []live.Region
	err     error
}

func (p *Pages) drawing(page string) *drawing { return &drawing{pages: p, page: page} }

func (d *drawing) fragment(part string, data any) template.HTML {
	if d.err != nil {
		return ""
	}
	html, err := d.pages.templates.fragment(d.page, part, data)
	d.err = err
	return html
}

// whole adds a region that is replaced as a whole.
func (d *drawing) whole(id, part string, data any) *drawing {
	d.regions = append(d.regions, live.Region{ID: id, HTML: d.fragment(part, data)})
	return d
}

// items adds a region of items.
func items[T any](d *drawing, id, part string, rows []T, key func(T) string) {
	r := live.Region{ID: id, Items: []live.Item{}}
	for _, row := range rows {
		r.Items = append(r.Items, live.Item{Key: key(row), HTML: d.fragment(part, row)})
	}
	d.regions = append(d.regions, r)
}

func (d *drawing) done() ([]live.Region, error) { return d.regions, d.err }

// show answers with a page whose view has its name.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, name, title string, query url.Values, data any) error {
	live, err := p.Hub.Draw(name, query)
	if err != nil {
		return err
	}
	return p.page(w, r, http.StatusOK, name, title, live, data)
}

func (p *Pages) snapshot() *model.Snapshot { return p.Platform.Model().Snapshot() }

func (p *Pages) managersView(s *model.Snapshot, _ url.Values) ([]live.Region, error) {
	d := p.drawing("managers")
	var rows []managerRow
	for m := range s.Managers() {
		row := managerRowOf(p.Ledger, s, m)
		if known, err := p.Platform.Manager(row.ID); err == nil && row.Cause != "" {
			row.Retry = listing.Moment{At: known.Retry}
		}
		rows = append(rows, row)
	}
	items(d, "managers", "manager", rows, func(r managerRow) string { return r.ID })
	return d.whole("managers-empty", "empty", len(rows) == 0).done()
}

func (p *Pages) managersPage(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "managers", "Resource managers", url.Values{}, p.unshown())
}

func (p *Pages) machinesView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	page := drawMachines(p.Ledger, s, readMachinesQuery(query))
	d := p.drawing("machines").whole("machines-notes", "machines-notes", page)
	items(d, "machines", "machine", page.Machines, func(r machineRow) string { return r.Key })
	items(d, "nodes", "node", page.Rows, func(r nodeRow) string { return r.Key })
	return d.whole("machine-head", "machine-head", page).whole("map-data", "map-data", page).
		whole("node-filters", "node-filters", page).whole("node-pager", "node-pager", page).done()
}

func (p *Pages) machinesPage(w http.ResponseWriter, r *http.Request) error {
	query := readMachinesQuery(r.URL.Query())
	return p.show(w, r, "machines", "Machines", query.values(), drawMachines(p.Ledger, p.snapshot(), query))
}

func (p *Pages) nodeView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return p.drawing("node").whole("node", "node-page", drawNode(p.Ledger, s, query.Get("rm"), query.Get("id"))).done()
}

func (p *Pages) nodePage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "id")
	if drawNode(p.Ledger, p.snapshot(), query.Get("rm"), query.Get("id")) == nil {
		return answer.Errorf(http.StatusNotFound, "resource manager %q has no node %q", query.Get("rm"), query.Get("id"))
	}
	return p.show(w, r, "node", "Node "+listing.Cell(query.Get("id")), query, nil)
}

func (p *Pages) processView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return p.drawing("process").whole("process", "process-page", drawProcess(s, query.Get("rm"), query.Get("id"))).done()
}

func (p *Pages) processPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "id")
	process := drawProcess(p.snapshot(), query.Get("rm"), query.Get("id"))
	if process == nil {
		return answer.Errorf(http.StatusNotFound, "resource manager %q has no process %q", query.Get("rm"), query.Get("id"))
	}
	return p.show(w, r, "process", fmt.Sprintf("Process %s of job %s", process.Row.Index, process.Row.Job), query, nil)
}

func (p *Pages) queuesView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	table := drawQueues(p.Ledger, s, query.Get("rm"), listing.PageNumber(query))
	d := p.drawing("queues").whole("queues-notes", "queues-notes", table).whole("queues-pager", "queues-pager", table)
	items(d, "queues", "queue", table.Rows, func(r queueRow) string { return r.Key })
	return d.done()
}

func (p *Pages) queuesPage(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "queues", "Queues", listing.Only(r.URL.Query(), "rm", "page"), nil)
}

func (p *Pages) jobsView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	table := drawJobs(p.Ledger, s, listing.ReadJobsQuery(query))
	d := p.drawing("jobs").whole("jobs-notes", "jobs-notes", table).whole("jobs-filters", "jobs-filters", table).
		whole("jobs-summary", "jobs-summary", table).whole("jobs-head", "jobs-head", table).whole("jobs-pager", "jobs-pager", table)
	items(d, "jobs", "job", table.Rows, func(r jobRow) string { return r.Key })
	return d.done()
}

func (p *Pages) jobsPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.ReadJobsQuery(r.URL.Query())
	return p.show(w, r, "jobs", "Jobs", query.Values(), jobsChoicesOf(p.Ledger, p.snapshot(), query))
}

func (p *Pages) timelineView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	t := usage.DrawTimeline(p.Ledger, s, p.history, usage.ReadTimelineQuery(query), time.Now())
	return p.drawing("timeline").whole("timeline-notes", "timeline-notes", t).whole("timeline", "timeline-lines", t).done()
}

func (p *Pages) timelinePage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "queue", "hours", "mine")
	return p.show(w, r, "timeline", "Timeline", query, usage.ReadTimelineQuery(query).Choices())
}

func (p *Pages) utilisationView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return p.drawing("utilisation").whole("utilisation", "plots", usage.DrawUtilisation(s, p.history, usage.ReadUtilisationQuery(query), p.began, time.Now())).done()
}

func (p *Pages) utilisationPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "hours")
	return p.show(w, r, "utilisation", "Utilisation", query, usage.DrawUtilisation(p.snapshot(), p.history, usage.ReadUtilisationQuery(query), p.began, time.Now()))
}
