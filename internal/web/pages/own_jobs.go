package pages

import (
	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// mostOwnJobs bounds the jobs on the first page.
const mostOwnJobs = 12

// ownJobs shows the newest jobs of the user at all targets: first those that have
// not ended.
func (p *Pages) ownJobs(s *model.Snapshot) h.Node {
	query := listing.ReadJobsQuery(nil)
	query.Mine, query.Sort, query.Descending = true, "submitted", true
	all := p.Ledger.Choose(s, query).Jobs
	var lasting, ended []jobRow
	for _, each := range all {
		if len(lasting) == mostOwnJobs {
			break
		}
		isEnded := model.Ended(model.Job, listing.SeenState(each.Job))
		switch {
		case !isEnded:
			lasting = append(lasting, rowOf(each, p.Ledger.Owner(s, each.Manager)))
		case len(ended) < mostOwnJobs:
			ended = append(ended, rowOf(each, p.Ledger.Owner(s, each.Manager)))
		}
	}
	rows := append(lasting, ended...)
	if len(rows) == 0 {
		return mutedLine("No jobs yet. Launch submits one.")
	}
	return h.Group{
		scroll("Table of your jobs", h.Table(h.Class("rows jobs"), caption("Your jobs"),
			h.THead(h.Tr(heading("", "State"), heading("", "Job"), heading("", "Name"), heading("", "Queue"), heading("", "Time"))),
			h.TBody(h.Map(rows[:min(len(rows), mostOwnJobs)], jobRow.shortRow)),
		)),
		h.P(link(query.Address(), "All your jobs"), h.Text(" "), muted(listing.Thousands(len(all)))),
	}
}

// shortRow is a row with what matters most.
func (r jobRow) shortRow() h.Node {
	newest := r.Submitted
	for _, later := range []listing.Moment{r.Started, r.Finished} {
		if later.IsKnown() {
			newest = later
		}
	}
	return h.Tr(
		cell("state", "State", mark(r.Mark), r.doubt()),
		rowHead("id", "Job", h.If(r.Manager != "", muted(r.Manager+"/")), link(r.Address, r.ID)),
		cell("name", "Name", isolated(r.Name)),
		cell("queue", "Queue", isolated(r.Queue)),
		cell("time newest", "Time", moment(newest)),
	)
}
