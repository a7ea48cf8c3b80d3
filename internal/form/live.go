package form

import (
	"slices"

	"github.com/rmctl/rmctl/internal/launchtab"
)

// Given names the attributes that have a value which a user gave outside of the
// form: these rows of viewers count as checked.
func (f *Form) Given(names map[string]bool) {
	f.given = names
	for _, viewer := range f.viewers {
		for _, name := range f.rows(viewer) {
			if names[name] {
				f.checked[f.rowID(viewer, name)] = true
			}
		}
	}
}

// Live returns the names of the attributes, and of the viewers, whose values
// count when a submission comes from the page: those of controls that are
// shown and enabled, there or on a page that it includes. What is on the page
// and does not count is not taken from another page either.
func (f *Form) Live(page *Page) map[string]bool {
	live, out := f.local(page)
	for _, other := range f.counting(page)[1:] {
		included, _ := f.local(other)
		for name := range included {
			if !out[name] {
				live[name] = true
			}
		}
	}
	return live
}

// counting returns the pages whose values count in a submission from a page:
// that one first, then those that it includes. Titles are compared exactly.
func (f *Form) counting(page *Page) []*Page {
	pages := []*Page{page}
	for _, other := range f.pages {
		named := func(r launchtab.Reference) bool { return r.Name == other.Title }
		if other != page && !other.Import && slices.ContainsFunc(page.includes, named) {
			pages = append(pages, other)
		}
	}
	return pages
}

// local returns the names on a page that count, and those that do not. A name
// that two controls of the page set may be among both, and then counts.
func (f *Form) local(page *Page) (live, out map[string]bool) {
	live, out = map[string]bool{}, map[string]bool{}
	note := func(name string, counts bool) {
		if name == "" {
			return
		}
		if counts {
			live[name] = true
		} else {
			out[name] = true
		}
	}
	f.visit(page, func(control launchtab.Control, state condition) {
		note(launchtab.Bound(control).Name, state.effective())
		viewer, ok := control.(*launchtab.Viewer)
		if !ok {
			return
		}
		note(viewer.Name.Name, state.effective())
		for _, row := range f.rows(viewer) {
			note(row, state.effective() && f.isChecked(viewer, row))
		}
	})
	return live, out
}
