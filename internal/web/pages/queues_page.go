package pages

import (
	"net/http"
	"net/url"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

func (p *Pages) queuesView(s *model.Snapshot, query url.Values) ([]live.Region, error) {
	table := drawQueues(p.Ledger, s, query.Get("rm"), listing.PageNumber(query))
	return []live.Region{
		live.Whole("queues-notes", notes(table.Notes)),
		live.Whole("queues-pager", pager(table.Pager)),
		live.Rows("queues", table.Rows, func(r queueRow) string { return r.Key }, queueRow.tableRow),
	}, nil
}

func (p *Pages) queuesPage(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "queues", "Queues", listing.Only(r.URL.Query(), "rm", "page"), queuesMain)
}

func queuesMain(drawn *live.Drawn) h.Node {
	return h.Group{
		region(drawn, h.Div, "queues-notes", h.Class("notes"), h.Role("status")),
		scroll("Table of queues", h.Table(h.Class("rows"), caption("Queues"),
			h.THead(h.Tr(heading("", "State"), heading("", "Queue"), heading("", "Time limit"), heading("number", "Nodes"), heading("", "Running and queued"),
				heading("number", "Yours"), h.Th(h.Scope("col"), hiddenText("Timeline")))),
			region(drawn, h.TBody, "queues"),
		)),
		region(drawn, h.Div, "queues-pager"),
	}
}

func (r queueRow) tableRow() h.Node {
	return h.Tr(h.Data("key", r.Key),
		cell("", "State", mark(r.Mark), native(r.Native)),
		rowHead("", "Queue",
			h.If(r.Manager != "", muted(r.Manager+"/")),
			link(r.Jobs, r.Name),
			h.If(r.IsDefault, h.Group{h.Text(" "), h.Span(h.Class("tag"), h.Text("default"))}),
		),
		cell("", "Time limit", h.Text(r.TimeLimit)),
		cell("number", "Nodes", h.Text(r.Nodes)),
		h.Td(h.Data("label", "Jobs"), h.Class("nowrap"),
			meter(r.Share),
			link(r.JobsRunning, r.Running+" running"), h.Text(", "),
			link(r.JobsWaiting, r.Waiting+" queued"),
		),
		cell("number", "Yours", link(r.MyJobs, r.Mine)),
		h.Td(h.A(h.Href(r.Timeline), h.Text("Timeline"), hiddenText(" of "+r.Name))),
	)
}
