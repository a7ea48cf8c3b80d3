package form

import (
	"maps"
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
// shown and enabled, there or on a page that it includes.
func (f *Form) Live(page *Page) map[string]bool {
	live := f.counts(page)
	maps.DeleteFunc(live, func(_ string, isCounted bool) bool { return !isCounted })
	return live
}

// counts returns the names of the attributes, and of the viewers, that controls of a page
// or of one that it includes set, with whether their values count. What is on the page
// and does not count is not taken from another page.
func (f *Form) counts(page *Page) map[string]bool {
	counts := f.local(page)
	own := maps.Clone(counts)
	for _, other := range f.counting(page)[1:] {
		for name, isCounted := range f.local(other) {
			if _, isOwn := own[name]; !isOwn {
				counts[name] = counts[name] || isCounted
			}
		}
	}
	return counts
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

// local returns the names on a page with whether they count. A name that two controls
// of the page set counts if one of these does.
func (f *Form) local(page *Page) map[string]bool {
	counts := map[string]bool{}
	note := func(name string, isCounted bool) {
		if name != "" {
			counts[name] = counts[name] || isCounted
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
	return counts
}
