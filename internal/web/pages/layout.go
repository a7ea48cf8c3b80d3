package pages

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

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
	main  g.Node
	files []string // below static, beside those that all pages have
}

// answer answers with a page.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request, status int, d document) error {
	var out bytes.Buffer
	if err := p.layout(r, d).Render(&out); err != nil {
		return fmt.Errorf("draw the page %q: %w", d.title, err)
	}
	answer.Send(w, status, "text/html; charset=utf-8", out.Bytes())
	return nil
}

func (p *Pages) layout(r *http.Request, d document) g.Node {
	token := answer.CSRFOf(r)
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.TitleEl(g.Text(d.title+" · rmctl")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			g.If(token != "", h.Meta(h.Name("csrf"), h.Content(token))),
			h.Link(h.Rel("icon"), h.Href(p.static.address("icon.svg"))),
			g.Map([]string{"base.css", "live.js", "pages.js"}, p.static.tag),
			g.Map(d.files, p.static.tag),
		),
		h.Body(g.Iff(d.live != nil, func() g.Node { return h.Data("events", d.live.Events()) }),
			h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the content")),
			g.Iff(token != "", func() g.Node { return p.header(r) }),
			h.Main(h.ID("main"), h.TabIndex("-1"),
				h.H1(g.Text(d.title)),
				h.P(h.ID("live-problem"), h.Class("problem"), h.Role("status"), g.Attr("hidden")),
				d.main,
			),
		),
	))
}

// header is the menu of a session, and its end.
func (p *Pages) header(r *http.Request) g.Node {
	here := p.here(r)
	return h.Header(
		h.Nav(h.Aria("label", "Main"), h.Ul(g.Map(p.nav, func(entry navigation) g.Node {
			return h.Li(h.A(h.Href(entry.Address), g.If(entry.Address == here, h.Aria("current", "page")), g.Text(entry.Label)))
		}))),
		h.Form(h.Method("post"), h.Action("/logout"), csrf(r), h.Button(g.Text("Log out"))),
	)
}

// csrf is the input with the token that every form needs.
func csrf(r *http.Request) g.Node { return hidden("csrf", answer.CSRFOf(r)) }

// entryOf names the entries of the menu that pages of one element belong to.
var entryOf = map[string]string{"/node": "/machines", "/job": "/jobs", "/process": "/jobs"}

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
