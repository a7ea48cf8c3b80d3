package pages

import (
	"fmt"
	"net/http"
	"net/url"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) nodeView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return []live.Region{live.Whole("node", drawNode(p.Ledger, s, query.Get("rm"), query.Get("id")).main())}, nil
}

func (p *Pages) nodePage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "id")
	if drawNode(p.Ledger, p.snapshot(), query.Get("rm"), query.Get("id")) == nil {
		return answer.Errorf(http.StatusNotFound, "target %q has no node %q", query.Get("rm"), query.Get("id"))
	}
	return p.show(w, r, "node", "Node "+listing.Cell(query.Get("id")), query, func(drawn *live.Drawn) h.Node { return region(drawn, h.Div, "node") })
}

func (page *nodePage) main() h.Node {
	if page == nil {
		return emptyLine("This node no longer exists.")
	}
	return h.Group{
		h.Div(h.Class("notes"), notes(page.Notes)),
		h.P(h.Class("headline"), mark(page.Row.Mark), plainNative(page.Row.Native),
			h.Text(" "), muted("in"), h.Text(" "), link(page.Address, page.Machine), h.Text(" "), muted("of "+page.Manager)),
		card("Attributes", factsList(page.Facts)),
		h.If(len(page.Jobs) > 0, card("Jobs", nodeJobs(page.Jobs), more(page.MoreJobs))),
		h.If(len(page.Processes) > 0, card("Processes", processTable(page.Processes), more(page.More))),
	}
}

func nodeJobs(rows []jobRow) h.Node {
	return h.Table(h.Class("rows"), caption("Jobs on this node"),
		h.THead(h.Tr(heading("", "State"), heading("", "Job"), heading("", "Name"), heading("", "User"), heading("", "Queue"), heading("number", "Procs"),
			heading("", "Nodes"), heading("", "Started"))),
		h.TBody(h.Map(rows, func(r jobRow) h.Node {
			return h.Tr(h.If(r.Mine, h.Class("mine")),
				cell("state", "State", mark(r.Mark), native(r.Native)),
				rowHead("id", "Job", link(r.Address, r.ID)),
				cell("", "Name", isolated(r.Name)),
				cell("", "User", isolated(r.User), mine(r.Mine)),
				cell("", "Queue", isolated(r.Queue)),
				cell("number", "Procs", h.Text(r.Procs)),
				cell("", "Nodes", isolated(r.Nodes)),
				cell("", "Started", moment(r.Started)),
			)
		})),
	)
}

func (p *Pages) processView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	return []live.Region{live.Whole("process", drawProcess(s, query.Get("rm"), query.Get("id")).main())}, nil
}

func (p *Pages) processPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "id")
	process := drawProcess(p.snapshot(), query.Get("rm"), query.Get("id"))
	if process == nil {
		return answer.Errorf(http.StatusNotFound, "target %q has no process %q", query.Get("rm"), query.Get("id"))
	}
	title := fmt.Sprintf("Process %s of job %s", process.Row.Index, process.Row.Job)
	return p.show(w, r, "process", title, query, func(drawn *live.Drawn) h.Node { return region(drawn, h.Div, "process") })
}

func (page *processPage) main() h.Node {
	if page == nil {
		return emptyLine("This process no longer exists.")
	}
	written := mutedLine("No output seen.")
	if page.Stdout != "" {
		written = output(page.Stdout)
	}
	row := page.Row
	return h.Group{
		h.Div(h.Class("notes"), notes(page.Notes)),
		h.P(h.Class("headline"), mark(row.Mark), plainNative(row.Exit),
			h.Text(" "), muted("of job"), h.Text(" "), link(row.JobAddress, row.Job),
			h.If(row.Node != "", h.Group{h.Text(" "), muted("on"), h.Text(" "), linkOrText(row.NodeAddress, row.Node)})),
		card("Attributes", factsList(page.Facts)),
		card("Output", written, h.If(page.Stderr != "", h.Group{h.H3(h.Text("Errors")), output(page.Stderr)})),
	}
}
