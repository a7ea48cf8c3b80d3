package config

func (l *loader) layout(e element) *Layout {
	around, ok := e.first("layout")
	if !ok {
		return nil
	}
	var layout *Layout
	around.children(func(child element) {
		kind, known := layoutKinds[child.Name]
		if !known {
			return
		}
		layout = &Layout{
			Position:          child.position(),
			Kind:              kind,
			Orientation:       child.text("type"),
			Columns:           max(child.integer("numColumns", 1), 1),
			EqualWidth:        child.boolean("makeColumnsEqualWidth", false),
			Center:            child.boolean("center", false),
			Justify:           child.boolean("justify", false),
			Fill:              child.boolean("fill", false),
			Pack:              child.boolean("pack", false),
			Wrap:              child.boolean("wrap", false),
			MarginHeight:      child.integer("marginHeight", NotSaid),
			MarginWidth:       child.integer("marginWidth", NotSaid),
			MarginTop:         child.integer("marginTop", NotSaid),
			MarginBottom:      child.integer("marginBottom", NotSaid),
			MarginLeft:        child.integer("marginLeft", NotSaid),
			MarginRight:       child.integer("marginRight", NotSaid),
			Spacing:           child.integer("spacing", NotSaid),
			HorizontalSpacing: child.integer("horizontalSpacing", NotSaid),
			VerticalSpacing:   child.integer("verticalSpacing", NotSaid),
		}
	})
	return layout
}

var layoutKinds = map[string]LayoutKind{
	"fill-layout": FillLayout, "row-layout": RowLayout, "grid-layout": GridLayout, "form-layout": FormLayout,
}

var layoutDataKinds = map[string]LayoutKind{"row-data": RowLayout, "grid-data": GridLayout, "form-data": FormLayout}

func (l *loader) layoutData(e element, name string) *LayoutData {
	around, ok := e.first(name)
	if !ok {
		return nil
	}
	var data *LayoutData
	around.children(func(child element) {
		kind, known := layoutDataKinds[child.Name]
		if !known {
			return
		}
		data = &LayoutData{
			Position:         child.position(),
			Kind:             kind,
			Height:           child.integer("height", NotSaid),
			Width:            child.integer("width", NotSaid),
			Exclude:          child.boolean("exclude", false),
			Style:            child.text("style"),
			HorizontalAlign:  child.text("horizontalAlign"),
			VerticalAlign:    child.text("verticalAlign"),
			GrabHorizontal:   child.boolean("grabExcessHorizontal", false),
			GrabVertical:     child.boolean("grabExcessVertical", false),
			HorizontalSpan:   max(child.integer("horizontalSpan", 1), 1),
			VerticalSpan:     max(child.integer("verticalSpan", 1), 1),
			HorizontalIndent: child.integer("horizontalIndent", NotSaid),
			VerticalIndent:   child.integer("verticalIndent", NotSaid),
			MinimumHeight:    child.integer("minHeight", NotSaid),
			MinimumWidth:     child.integer("minWidth", NotSaid),
			HeightHint:       child.integer("heightHint", NotSaid),
			WidthHint:        child.integer("widthHint", NotSaid),
			Top:              attachment(child, "top"),
			Bottom:           attachment(child, "bottom"),
			Left:             attachment(child, "left"),
			Right:            attachment(child, "right"),
		}
	})
	return data
}

func attachment(e element, side string) *Attachment {
	at, ok := e.first(side)
	if !ok {
		return nil
	}
	return &Attachment{
		Position:    at.position(),
		Alignment:   at.text("alignment"),
		Numerator:   at.integer("numerator", NotSaid),
		Denominator: at.integer("denominator", NotSaid),
		Offset:      at.integer("offset", 0),
	}
}

func (l *loader) font(e element) *Font {
	child, ok := e.first("font")
	if !ok {
		return nil
	}
	font := &Font{Position: child.position(), Name: child.text("name"), Size: child.integer("size", 9), Style: child.text("style")}
	if font.Style == "" {
		font.Style = "normal"
	}
	return font
}
