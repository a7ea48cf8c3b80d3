package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
)

// StacksReader reads the stacks of the ranks of a running job, as many times as samples says. The
// trees are those of ranks that belong together.
type StacksReader func(ctx context.Context, manager, id string, samples int) ([]*stacks.Tree, error)

const (
	stacksAddress  = "/job/stacks"
	stacksTimeout  = time.Minute
	mostStacksRead = 2 // jobs at the same time, for all clients
	mostSamples    = 10
	usualSamples   = 3
	mostShownBytes = 1 << 20
)

// addStacks registers the page of the stacks of a job.
func (p *Pages) addStacks() {
	if p.Stacks == nil {
		return
	}
	p.readers = make(chan struct{}, mostStacksRead)
	p.handlers["GET "+stacksAddress] = p.stacksPage
	p.handlers["POST "+stacksAddress] = p.stacksPosted
}

// stacksLink returns the address of the stacks of a job; empty if the user may not attach to its
// processes.
func (p *Pages) stacksLink(manager, id string, isMine bool, detail job.Detail) string {
	if p.Stacks == nil || !isMine || detail.Ended() || detail.Primary() == job.Submitted {
		return ""
	}
	return stacksAddress + "?" + url.Values{"rm": {manager}, "id": {id}}.Encode()
}

// stacksPage offers to read the stacks of a job.
func (p *Pages) stacksPage(w http.ResponseWriter, r *http.Request) error {
	query := listing.Only(r.URL.Query(), "rm", "id")
	return p.showStacks(w, r, query.Get("rm"), query.Get("id"), 1, nil)
}

// stacksPosted reads the stacks of a job, and shows them.
func (p *Pages) stacksPosted(w http.ResponseWriter, r *http.Request) error {
	samples, err := strconv.Atoi(r.PostFormValue("samples"))
	if err != nil || samples < 1 || samples > mostSamples {
		return answer.Errorf(http.StatusBadRequest, "invalid number of samples: enter 1 to %d", mostSamples)
	}
	select {
	case p.readers <- struct{}{}:
		defer func() { <-p.readers }()
	default:
		return answer.Errorf(http.StatusServiceUnavailable, "already reading the stacks of %d jobs: try again in a moment", mostStacksRead)
	}
	if err := answer.GiveTime(w, stacksTimeout+bodyOfAnswer); err != nil {
		return err
	}
	// A client that goes away ends the reading.
	ctx, cancel := context.WithTimeout(r.Context(), stacksTimeout)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	manager, id := r.PostFormValue("rm"), r.PostFormValue("id")
	trees, err := p.Stacks(ctx, manager, id, samples)
	if err != nil {
		return answer.Errorf(http.StatusBadGateway, "cannot read the stacks of job %s: %w", listing.Cell(id), err)
	}
	return p.showStacks(w, r, manager, id, samples, trees)
}

// showStacks shows trees of stacks, if there are any, and a form to read them.
func (p *Pages) showStacks(w http.ResponseWriter, r *http.Request, manager, id string, samples int, trees []*stacks.Tree) error {
	page, err := p.drawJob(p.snapshot(), manager, id)
	if err != nil {
		return err
	}
	if page == nil {
		return answer.Errorf(http.StatusNotFound, "target %q has no job %q, and rmctl did not submit one", manager, id)
	}
	main := h.Group{
		h.P(h.Class("actions"), linkButton(page.Row.Address, "Back to the job")),
		stacksForm(manager, id, samples, csrf(r)),
		h.Map(trees, func(tree *stacks.Tree) h.Node {
			return card("Stacks", h.Pre(h.Class("output"), h.TabIndex("0"), h.Text(shownTree(tree))))
		}),
	}
	p.answer(w, r, http.StatusOK, document{title: "Stacks of job " + page.Row.ID, main: main})
	return nil
}

// shownTree returns a tree as text, cut where it would be too long for a page.
func shownTree(tree *stacks.Tree) string {
	text := tree.Text()
	if len(text) > mostShownBytes {
		text = text[:mostShownBytes] + "\n… cut: rmctl stacks prints all of it"
	}
	return text
}

// stacksForm returns the form that reads the stacks.
func stacksForm(manager, id string, samples int, csrf h.Node) h.Node {
	choice := func(count int, label string) h.Node {
		return option(listing.Choice{Value: strconv.Itoa(count), Label: label, IsOn: count == samples})
	}
	return h.Form(h.Class("card form"), h.Method("post"), h.Action(stacksAddress), csrf, hidden("rm", manager), hidden("id", id),
		mutedLine("A debugger attaches to each process of the job and stops it briefly."),
		h.P(h.Label(h.Text("Samples "), h.Select(h.Name("samples"), choice(1, "1"), choice(usualSamples, "3, one second apart"), choice(mostSamples, "10, one second apart")))),
		h.P(h.Class("actions"), h.Button(h.Text("Read stacks"))),
	)
}
