package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/live"
)

//go:embed all:templates
var templateFiles embed.FS

// templates are the pages by the name of their file. Each is the layout, the
// files whose names begin with "_", and the page's own file.
type templates struct {
	pages  map[string]*template.Template
	static *staticFiles
}

// readTemplates reads all templates, once.
var readTemplates = sync.OnceValues(func() (*templates, error) {
	static, err := readStatic()
	if err != nil {
		return nil, err
	}
	t := &templates{pages: map[string]*template.Template{}, static: static}
	layout := template.New("layout").Funcs(template.FuncMap{
		"static": func(name string) (string, error) { return static.address(name) },
		"date":   func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
	})
	layout, err = layout.ParseFS(templateFiles, "templates/_*.html")
	if err != nil {
		return nil, fmt.Errorf("read the layout of pages: %w", err)
	}
	names, err := fs.Glob(templateFiles, "templates/[^_]*.html")
	if err != nil {
		return nil, fmt.Errorf("list the templates of pages: %w", err)
	}
	for _, name := range names {
		page, err := layout.Clone()
		if err == nil {
			page, err = page.ParseFS(templateFiles, name)
		}
		if err != nil {
			return nil, fmt.Errorf("read the template %s: %w", name, err)
		}
		t.pages[strings.TrimSuffix(path.Base(name), ".html")] = page
	}
	return t, nil
})

// fragment executes a part of a page that its file, or one that all pages
// share, defines.
func (t *templates) fragment(page, part string, data any) (template.HTML, error) {
	file, known := t.pages[page]
	if !known {
		return "", fmt.Errorf("there is no template of a page %q", page)
	}
	var out bytes.Buffer
	if err := file.ExecuteTemplate(&out, part, data); err != nil {
		return "", fmt.Errorf("draw %s of the page %s: %w", part, page, err)
	}
	return template.HTML(out.String()), nil // from html/template, so all data in it is escaped
}

// navigation is one entry of the menu.
type navigation struct {
	Address string
	Label   string
}

// addNavigation puts a page into the menu that every page has.
func (p *Pages) addNavigation(address, label string) {
	p.nav = append(p.nav, navigation{Address: address, Label: label})
}

// shown is what the layout and the template of a page are given.
type shown struct {
	Title string // of the page, first in the window's title
	Nav   []navigation
	Here  string      // the address of the entry of the menu that the page belongs to
	CSRF  string      // to be sent with every change, as the field "csrf" or the header X-CSRF-Token
	Live  *live.Drawn // what the page shows live; nil for none
	Data  any         // the page's own
}

// page answers with a page: its template, which defines "main", in the layout.
// live is nil where nothing in it changes by itself.
func (p *Pages) page(w http.ResponseWriter, r *http.Request, status int, name, title string, live *live.Drawn, data any) error {
	file, known := p.templates.pages[name]
	if !known {
		return fmt.Errorf("there is no template of a page %q", name)
	}
	var out bytes.Buffer
	err := file.ExecuteTemplate(&out, "layout", shown{Title: title, Nav: p.nav, Here: p.here(r), CSRF: answer.CSRFOf(r), Live: live, Data: data})
	if err != nil {
		return fmt.Errorf("draw the page %s: %w", name, err)
	}
	answer.Send(w, status, "text/html; charset=utf-8", out.Bytes())
	return nil
}

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
