package schemas

// ShiftLines moves every position of the tree down by a number of lines, so that
// documents that are put together can share one numbering.
func (e *Element) ShiftLines(lines int) {
	e.Line += lines
	if e.TextLine > 0 {
		e.TextLine += lines
	}
	if e.inkLine > 0 {
		e.inkLine += lines
	}
	for i := range e.Attributes {
		e.Attributes[i].Line += lines
		e.Attributes[i].ValueLine += lines
	}
	for _, child := range e.Children {
		child.ShiftLines(lines)
	}
}
