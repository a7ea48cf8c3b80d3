package monitor

import (
	"cmp"
	"strings"

	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// mostFurther bounds the attributes that the rows of one resource manager have beside those
// known here: a model has room for the definitions of many, but not of any number.
const mostFurther = 200

// further adds the attributes of a row that have no column.
func (r *rowOf) further(u *model.Update, facts Facts) {
	for _, each := range further.Read(facts.Fact(factFurther)) {
		if r.monitor.showsFurther(u, &r.row, &each) {
			r.row.Attributes = append(r.row.Attributes, model.Attribute{ID: each.ID, Text: strings.Join(each.Values, ", "), Elements: each.Values})
		}
	}
}

// showsFurther reports whether a row can have an attribute, and defines one that is new.
func (m *Monitor) showsFurther(u *model.Update, row *model.Row, attribute *further.Attribute) bool {
	if shown, known := m.further[attribute.ID]; known {
		return shown
	}
	if len(m.further) >= mostFurther {
		m.wrong(whatFurther, row.Kind, row.ID, attribute.ID, 1)
		return false
	}
	id := strings.Clone(attribute.ID)
	shown := !vocabulary.IsKnown(id)
	if _, isDefined := m.options.Model.Snapshot().Definition(id); shown && !isDefined {
		shown = u.Define(m.furtherDefinition(id, attribute.IsList)) == nil
	}
	if !shown {
		m.wrong(whatFurther, row.Kind, row.ID, id, 1)
	}
	m.further[id] = shown
	return shown
}

// furtherDefinition returns the definition of an attribute that has no column.
func (m *Monitor) furtherDefinition(id string, isList bool) model.Definition {
	definition := text(id, id, "", true)
	if isList {
		definition.Type, definition.Default = model.Array, nil
	}
	if m.options.Describe != nil {
		name, description := m.options.Describe(id)
		definition.Name, definition.Description = cmp.Or(name, id), description
	}
	return definition
}
