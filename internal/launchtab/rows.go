package launchtab

import (
	"strings"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A Row is a label and the control that fits an attribute (x:rows).
type Row struct {
	Label     string
	Type      WidgetType
	ReadOnly  bool
	ItemsFrom string // the attribute with the items of a combo
	Tooltip   string // the field of the attribute that explains it
	Browse    string // chooses a file or a directory; empty for a widget
}

// rowColumns are those of rows: the label and the control.
const rowColumns = 2

// addRows adds the rows of an element.
func (r formReader) addRows(e *xmltree.Element, look *Look) {
	rows, has := e.Lookup(xmltree.ExtensionNamespace, "rows")
	if !has {
		return
	}
	if look.Columns == 0 {
		look.Columns = rowColumns
	}
	for name := range strings.FieldsSeq(rows.Value) {
		row := r.row(name)
		tooltip := xmltree.Optional{Text: "${ptp_rm:" + name + "#" + row.Tooltip + "}", Set: true}
		at := rows.ValuePosition()
		both := Look{Position: at, Span: 1, Tooltip: tooltip}
		label := &Widget{Look: both, Type: LabelWidget, FixedText: xmltree.Optional{Text: row.Label, Set: true}}
		look.Controls = append(look.Controls, label, row.control(both, Reference{Position: at, Name: name}))
	}
}

// control returns the control that sets an attribute.
func (r Row) control(look Look, to Reference) Control {
	if r.Browse != "" {
		return &Browse{Look: look, ButtonSpan: 1, Directory: r.Browse == "directory", Attribute: to}
	}
	widget := &Widget{Look: look, Type: r.Type, ReadOnly: r.ReadOnly, Attribute: to}
	if r.ItemsFrom != "" && !r.ReadOnly {
		widget.ItemsFrom = Reference{Position: to.Position, Name: r.ItemsFrom}
	}
	return widget
}

// leaveOthers leaves out of the viewers that show only other attributes those that a control
// sets.
func (f *Form) leaveOthers() {
	var taken []Reference
	f.Walk(func(control Control) {
		if to := Bound(control); to.Name != "" {
			taken = append(taken, to)
		}
	})
	f.Walk(func(control Control) {
		if viewer, isViewer := control.(*Viewer); isViewer && viewer.OnlyOthers {
			viewer.Exclude = append(viewer.Exclude, taken...)
		}
	})
}
