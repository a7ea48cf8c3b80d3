package form

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/launchtab"
)

// rows returns the names of the attributes that a viewer shows, sorted. Names
// that nothing defines, and invisible attributes, have no row.
func (f *Form) rows(viewer *launchtab.Viewer) []string {
	var rows []string
	add := func(name string) {
		if a := f.environment.Lookup(name); a != nil && a.Visible() {
			rows = append(rows, name)
		}
	}
	if viewer.AllPredefined {
		for _, defined := range f.definition.Attributes {
			add(defined.Name())
		}
	}
	if viewer.AllDiscovered {
		for _, name := range f.environment.Discovered() {
			add(name)
		}
	}
	for _, include := range viewer.Include {
		add(include.Name)
	}
	rows = slices.DeleteFunc(rows, func(name string) bool {
		return slices.ContainsFunc(viewer.Exclude, func(exclude launchtab.Reference) bool { return exclude.Name == name })
	})
	slices.Sort(rows)
	return slices.Compact(rows)
}

func (f *Form) rowID(viewer *launchtab.Viewer, row string) string { return f.id(viewer) + "." + row }

func (f *Form) isChecked(viewer *launchtab.Viewer, row string) bool {
	if checked, decided := f.checked[f.rowID(viewer, row)]; decided {
		return checked
	}
	return viewer.InitialAllChecked
}

// viewerValue makes up the value of a viewer: its pattern for each checked row
// with a value, joined.
func (f *Form) viewerValue(viewer *launchtab.Viewer) string {
	if viewer.Value == nil {
		return ""
	}
	var parts []string
	for _, row := range f.rows(viewer) {
		if !f.isChecked(viewer, row) {
			continue
		}
		a := f.environment.Lookup(row)
		value := attribute.Text(a.Value())
		if EditorOf(a) == SwitchEditor && value != "" {
			// A switch in a table is true or false, translated or not.
			value = attribute.Text(isOn(a, a.Value()))
		}
		if value == "" {
			continue
		}
		// One after the other, as the reference does: a name that holds "@value" is replaced, too.
		part := strings.ReplaceAll(viewer.Value.Pattern, "@name", row)
		parts = append(parts, strings.ReplaceAll(part, "@value", value))
	}
	text := strings.TrimSpace(strings.Join(parts, viewer.Value.Separator))
	resolved, err := f.environment.Resolve(text, "")
	if err != nil {
		return text // which the reference goes on with
	}
	return resolved
}
