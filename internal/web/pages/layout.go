package pages

import (
	"net/http"
	"strings"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/live"
)

// navigation is one entry of the menu.
type navigation struct {
	Address string
	Label   string
}

// addNavigation puts a page into the menu that every page has.
func (p *Pages) addNavigation(address, label string) {
	p.nav = append(p.nav, navigation{Address: address, Label: label})
}

// A document is what a page has inside the layout that all pages share.
type document struct {
	title string      // first in the window's title
	live  *live.Drawn // what the page shows live; nil for none
	main  h.Node
	files []string // below static, beside those that all pages have
	next  string   // address of this server that the browser opens at once; empty for none
}

// answer answers with a page.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request, status int, d document) {
	answer.Send(w, status, "text/html; charset=utf-8", []byte(h.Render(p.layout(r, d))))
}

func (p *Pages) layout(r *http.Request, d document) h.Node {
	token := answer.CSRFOf(r)
	return h.Document(
		h.Head(
			h.Meta(h.Attr("charset", "utf-8")),
			h.El("title", h.Text(d.title+" · rmctl")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.If(d.next != "", h.Meta(h.Attr("http-equiv", "refresh"), h.Content("0; url="+d.next))),
			h.If(token != "", h.Meta(h.Name("csrf"), h.Content(token))),
			h.Link(h.Attr("rel", "icon"), h.Href(p.static.address("icon.svg"))),
			h.Map([]string{"base.css", "live.js", "pages.js"}, p.static.tag),
			h.Map(d.files, p.static.tag),
		),
		h.Body(h.Iff(d.live != nil, func() h.Node { return h.Data("events", d.live.Events()) }),
			h.A(h.Class("skip"), h.Href("#main"), h.Text("Skip to the content")),
			h.Iff(token != "", func() h.Node { return p.header(r) }),
			h.Main(h.ID("main"), h.TabIndex("-1"),
				h.H1(h.Text(d.title)),
				h.P(h.ID("live-problem"), h.Class("problem"), h.Role("status"), h.Flag("hidden")),
				d.main,
			),
			h.Iff(token != "", p.footer),
		),
	)
}

// header is the menu of a session, and its end.
func (p *Pages) header(r *http.Request) h.Node {
	here := p.here(r)
	return h.Header(
		h.A(h.Class("brand"), h.Href("/"), h.Text("rmctl")),
		h.Nav(h.Aria("label", "Main"), h.Ul(h.Map(p.nav, func(entry navigation) h.Node {
			return h.Li(h.A(h.Href(entry.Address), h.If(entry.Address == here, h.Aria("current", "page")), h.Text(entry.Label)))
		}))),
		h.Form(h.Method("post"), h.Action("/logout"), csrf(r), h.Button(h.Text("Log out"))),
	)
}

// footer says which program it is, and where its help is.
func (p *Pages) footer() h.Node {
	return h.Footer(h.Class("muted small"), h.Text(strings.TrimSpace("rmctl "+p.Version)+" · "), link("/help", "Help"), h.Text(" · "), link(answer.APIPath+"/openapi.yaml", "API"))
}

// csrf is the input with the token that every form needs.
func csrf(r *http.Request) h.Node { return hidden("csrf", answer.CSRFOf(r)) }

// entryOf names the entries of the menu that pages of one element belong to.
var entryOf = map[string]string{"/node": "/machines", "/job": "/jobs", "/process": "/jobs", "/help": "/help", ensembleAddress: ensemblesAddress}

// here returns the entry of the menu whose address is the longest beginning of
// the request's path.
func (p *Pages) here(r *http.Request) string {
	if entry, isOfOne := entryOf[r.URL.Path]; isOfOne {
		return entry
	}
	var here string
	for _, entry := range p.nav {
		below := r.URL.Path == entry.Address || strings.HasPrefix(r.URL.Path, strings.TrimSuffix(entry.Address, "/")+"/")
		if below && len(entry.Address) > len(here) {
			here = entry.Address
		}
	}
	return here
}
