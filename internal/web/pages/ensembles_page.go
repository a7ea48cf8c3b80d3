package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/live"
	"github.com/rmctl/rmctl/model"
)

// Ensembles finds and changes ensembles.
type Ensembles interface {
	// Edit adds the parts of a request to an ensemble, or substitutes its only part for the one with a label.
	Edit(ctx context.Context, id, label string, text []byte) error
	List(ctx context.Context, all bool) ([]coalloc.Status, error)
	// Follow returns an ensemble to read.
	Follow(ctx context.Context, id string) (coalloc.Control, error)
	// Open returns an ensemble to change.
	Open(ctx context.Context, id string) (coalloc.Control, error)
	// Events returns what has happened to an ensemble after a sequence number.
	Events(ctx context.Context, id string, after int) ([]coalloc.EnsembleEvent, error)
}

const (
	ensemblesAddress = "/ensembles"
	ensembleAddress  = "/ensemble"
	ensemblePatience = 5 * time.Second // for the process that runs an ensemble
	mostEvents       = 200             // that a page shows, the newest ones
	mostEnsembles    = 200
)

// addEnsembles registers the pages of ensembles.
func (p *Pages) addEnsembles() {
	if p.Ensembles == nil {
		return
	}
	p.addNavigation(ensemblesAddress, "Ensembles")
	p.Hub.AddSlowView("ensembles", p.ensemblesView)
	p.Hub.AddSlowView("ensemble", p.ensembleView)
	p.handlers["GET "+ensemblesAddress] = p.ensemblesPage
	p.handlers["GET "+ensembleAddress] = p.ensemblePage
	p.handlers["POST "+ensembleAddress] = p.ensemblePosted
}

// followEnsembles keeps what pages show of ensembles up to date while somebody looks at them.
func (p *Pages) followEnsembles(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.Hub.Outdate("ensembles", "ensemble")
		}
	}
}

func ensembleLink(id string) string {
	return ensembleAddress + "?" + url.Values{"id": {id}}.Encode()
}

func (p *Pages) ensemblesView(_ *model.Snapshot, query url.Values) ([]live.Region, error) {
	ctx, cancel := context.WithTimeout(p.ctx, ensemblePatience)
	defer cancel()
	listed, err := p.Ensembles.List(ctx, query.Get("all") != "")
	if err != nil && len(listed) == 0 {
		return nil, err
	}
	notes := h.Group{}
	if err != nil {
		notes = append(notes, warning("amber", listing.Fact(err.Error())))
	}
	if len(listed) == 0 {
		notes = append(notes, emptyLine("No ensemble is running. rmctl coalloc submit starts one."))
	}
	more := max(len(listed)-mostEnsembles, 0)
	return []live.Region{
		live.Whole("ensembles-notes", notes),
		live.Rows("ensembles", listed[:len(listed)-more], func(s coalloc.Status) string { return s.ID }, ensembleRow),
	}, nil
}

func (p *Pages) ensemblesPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "all")
	other := link(ensemblesAddress+"?all=1", "Show ended ensembles")
	if query.Get("all") != "" {
		other = link(ensemblesAddress, "Hide ended ensembles")
	}
	return p.show(w, r, "ensembles", "Ensembles", query, func(drawn *live.Drawn) h.Node {
		return h.Group{
			mutedLine("An ensemble is one job of several parts on different targets. Its processes wait at a barrier until the required parts have arrived."),
			region(drawn, h.Div, "ensembles-notes", h.Class("notes"), h.Role("status")),
			scroll("Table of ensembles", h.Table(h.Class("rows"), caption("Ensembles"),
				h.THead(h.Tr(heading("", "State"), heading("", "Ensemble"), heading("", "Name"), heading("number", "Parts"), heading("", "Waits for"), heading("", "Created"))),
				region(drawn, h.TBody, "ensembles"),
			)),
			h.P(other),
		}
	})
}

func ensembleRow(s coalloc.Status) h.Node {
	return h.Tr(h.Data("key", s.ID),
		cell("", "State", mark(listing.EnsembleMark(string(s.State)))),
		rowHead("", "Ensemble", link(ensembleLink(s.ID), listing.Cell(s.ID)), h.If(s.At != "", h.Group{h.Text(" "), muted("at "), isolated(listing.Cell(s.At))})),
		cell("", "Name", isolated(listing.Cell(s.Name))),
		cell("number", "Parts", h.Text(strconv.Itoa(len(s.Parts)))),
		cell("", "Waits for", isolated(listing.Cell(s.Waits()))),
		cell("time", "Created", moment(listing.MomentAt(s.Created))),
	)
}

func (p *Pages) ensembleView(_ *model.Snapshot, query url.Values) ([]live.Region, error) {
	ctx, cancel := context.WithTimeout(p.ctx, ensemblePatience)
	defer cancel()
	id := query.Get("id")
	status, err := p.ensembleStatus(ctx, id)
	if err != nil && status.ID == "" { // otherwise it is the last known state, with the reason
		return nil, err
	}
	events, failure := p.Ensembles.Events(ctx, id, 0)
	if failure != nil && err == nil {
		return nil, failure
	}
	events = events[max(len(events)-mostEvents, 0):]
	return []live.Region{
		live.Whole("ensemble-head", ensembleHead(&status)),
		live.Whole("ensemble-actions", ensembleActions(&status)),
		live.Rows("ensemble-parts", status.Parts, func(part coalloc.PartStatus) string { return strconv.Itoa(part.Serial) }, func(part coalloc.PartStatus) h.Node {
			return partRow(&status, part)
		}),
		live.Rows("ensemble-events", events, func(e coalloc.EnsembleEvent) string { return strconv.Itoa(e.Sequence) }, eventRow),
	}, nil
}

// ensembleHead says what an ensemble and its sets of alternatives wait for, and how the user can go on.
func ensembleHead(s *coalloc.Status) h.Node {
	return h.Group{
		h.P(mark(listing.EnsembleMark(string(s.State))), h.Text(" "), isolated(listing.Fact(s.Waits()))),
		h.Map(s.Sets, func(set coalloc.SetStatus) h.Node {
			return h.P(isolated(listing.Fact("set " + set.Name + ": " + set.Waits())))
		}),
		h.Map(s.Hints(), func(hint string) h.Node { return warning("amber", listing.Fact(hint)) }),
	}
}

func (p *Pages) ensembleStatus(ctx context.Context, id string) (coalloc.Status, error) {
	ensemble, err := p.Ensembles.Follow(ctx, id)
	if err != nil {
		return coalloc.Status{}, err
	}
	status, err := ensemble.Status(ctx)
	return status, err
}

func (p *Pages) ensemblePage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "id")
	token := csrf(r)
	return p.show(w, r, "ensemble", "Ensemble "+listing.Cell(query.Get("id")), query, func(drawn *live.Drawn) h.Node {
		return h.Group{
			region(drawn, h.Div, "ensemble-head", h.Role("status")),
			h.Form(h.Method("post"), h.Action(ensembleAddress), token, hidden("id", query.Get("id")),
				region(drawn, h.Div, "ensemble-actions"),
				scroll("Table of parts", h.Table(h.Class("rows"), caption("Parts"),
					h.THead(h.Tr(heading("", "State"), heading("", "Part"), heading("", "Kind"), heading("number", "Checked in"), heading("", "Job"), heading("", "Note"), h.Th(h.Scope("col"), hiddenText("Delete")))),
					region(drawn, h.TBody, "ensemble-parts"),
				)),
			),
			h.Form(h.Class("card form"), h.Method("post"), h.Action(ensembleAddress), token, hidden("id", query.Get("id")), hidden("operation", "add"),
				h.H2(h.Text("Add parts")),
				field("ensemble-request", "Request in TOML or RSL", "", h.Textarea(h.ID("ensemble-request"), h.Name("request"), h.Attr("rows", "6"), h.Attr("spellcheck", "false"), h.Flag("required"))),
				field("ensemble-replaces", "Replace the part", "a label; empty to add parts", h.Input(h.ID("ensemble-replaces"), h.Name("part"), h.Aria("describedby", "ensemble-replaces-help"))),
				h.P(h.Class("actions"), h.Button(h.Text("Add"))),
			),
			card("Events", scroll("Table of events", h.Table(h.Class("rows"), caption("Events"),
				h.THead(h.Tr(heading("", "Time"), heading("", "Part"), heading("", "State"), heading("", "Text"))),
				region(drawn, h.TBody, "ensemble-events"),
			))),
		}
	})
}

// ensembleActions are the buttons for what can be done to an ensemble.
func ensembleActions(s *coalloc.Status) h.Node {
	button := func(operation, label string, isDangerous bool) h.Node {
		return h.Group{h.Button(h.Name("operation"), h.Value(operation), h.If(isDangerous, h.Class("danger")), h.Text(label)), h.Text(" ")}
	}
	isOpen := s.Released.IsZero() && !s.State.Ended() && s.State != coalloc.Ending
	return h.P(h.Class("actions"),
		h.If(isOpen && !s.Committed, button("commit", "Commit", false)),
		h.If(isOpen && len(s.Missing()) == 0, button("commit-now", "Release now", false)),
		h.If(!s.State.Ended(), button("cancel", "Cancel …", true)),
	)
}

func partRow(s *coalloc.Status, part coalloc.PartStatus) h.Node {
	isOpen := s.Released.IsZero() && !s.State.Ended() && s.State != coalloc.Ending && !part.State.Ended()
	job := h.Node(h.Text("–"))
	if part.JobID != "" {
		job = link(listing.ElementAddress("/job", part.Target, part.JobID), listing.Cell(part.JobID))
	}
	return h.Tr(h.Data("key", strconv.Itoa(part.Serial)),
		cell("", "State", mark(listing.EnsembleMark(string(part.State)))),
		rowHead("", "Part", isolated(listing.Cell(part.Label)), h.Text(" "), h.Span(h.Class("muted"), h.Text("on "), isolated(listing.Cell(part.Target)))),
		cell("", "Kind", h.Text(listing.Cell(string(part.Kind)))),
		cell("number", "Checked in", h.Text(strconv.Itoa(part.CheckedIn)+" of "+strconv.Itoa(part.Count))),
		cell("", "Job", job),
		cell("reason", "Note", isolated(listing.Cell(part.Waits()))),
		h.Td(h.If(isOpen, h.Button(h.Name("delete"), h.Value(part.Label), h.Aria("label", "Delete part "+listing.Cell(part.Label)), h.Text("Delete …")))),
	)
}

func eventRow(e coalloc.EnsembleEvent) h.Node {
	return h.Tr(h.Data("key", strconv.Itoa(e.Sequence)),
		cell("time", "Time", moment(listing.MomentAt(e.Time))),
		cell("", "Part", isolated(listing.Cell(e.Label))),
		cell("", "State", h.Text(listing.Cell(e.State))),
		cell("", "Text", isolated(listing.Fact(e.Text))),
	)
}

// ensemblePosted asks whether to change an ensemble, if that cannot be undone, and changes it.
func (p *Pages) ensemblePosted(w http.ResponseWriter, r *http.Request) error {
	id, operation, label := r.PostFormValue("id"), r.PostFormValue("operation"), r.PostFormValue("part")
	if deleted := r.PostFormValue("delete"); deleted != "" {
		operation, label = "delete", deleted
	}
	if r.PostFormValue("confirmed") != "true" && (operation == "cancel" || operation == "delete") {
		question := confirmation{
			Action: ensembleAddress, Question: "Cancel ensemble " + listing.Cell(id) + "?", Consequence: "All its jobs end.", Yes: "Cancel the ensemble", Back: ensembleLink(id),
			Fields: []hiddenField{{"id", id}, {"operation", operation}, {"part", label}, {"confirmed", "true"}},
		}
		if operation == "delete" {
			question.Question, question.Consequence, question.Yes = "Delete part "+listing.Cell(label)+"?", "Its job ends, and its processes with it.", "Delete the part"
		}
		p.answer(w, r, http.StatusOK, document{title: "Ensemble " + listing.Cell(id), main: question.main(csrf(r))})
		return nil
	}
	if err := answer.GiveTime(w, operateTimeout+bodyOfAnswer); err != nil {
		return err
	}
	// A client that goes away wants the change all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), operateTimeout)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	ensemble, err := p.Ensembles.Open(ctx, id)
	if err == nil {
		err = p.changeEnsemble(ctx, ensemble, id, operation, label, r.PostFormValue("request"))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, ensembleLink(id), http.StatusSeeOther)
	return nil
}

func (p *Pages) changeEnsemble(ctx context.Context, ensemble coalloc.Control, id, operation, label, request string) error {
	switch operation {
	case "commit":
		return ensemble.Commit(ctx, false)
	case "commit-now":
		return ensemble.Commit(ctx, true)
	case "cancel":
		return ensemble.Cancel(ctx)
	case "delete":
		return ensemble.Delete(ctx, label)
	case "add":
		return p.Ensembles.Edit(ctx, id, label, []byte(request))
	}
	return answer.Errorf(http.StatusBadRequest, "unknown action %q for an ensemble", listing.Cell(operation))
}
