package config

import "github.com/rmctl/rmctl/config/internal/tree"

func (l *loader) layout(e tree.Element) *Layout {
	around, ok := e.First("layout")
	if !ok {
		return nil
	}
	var layout *Layout
	around.Core(func(child tree.Element) {
		kind, known := layoutKinds[child.Name]
		if !known {
			return
		}
		layout = &Layout{
			Position:          child.Position(),
			Kind:              kind,
			Orientation:       child.Value("type"),
			Columns:           max(child.Integer("numColumns", 1), 1),
			EqualWidth:        child.Boolean("makeColumnsEqualWidth", false),
			Center:            child.Boolean("center", false),
			Justify:           child.Boolean("justify", false),
			Fill:              child.Boolean("fill", false),
			Pack:              child.Boolean("pack", false),
			Wrap:              child.Boolean("wrap", false),
			MarginHeight:      child.Integer("marginHeight", NotSaid),
			MarginWidth:       child.Integer("marginWidth", NotSaid),
			MarginTop:         child.Integer("marginTop", NotSaid),
			MarginBottom:      child.Integer("marginBottom", NotSaid),
			MarginLeft:        child.Integer("marginLeft", NotSaid),
			MarginRight:       child.Integer("marginRight", NotSaid),
			Spacing:           child.Integer("spacing", NotSaid),
			HorizontalSpacing: child.Integer("horizontalSpacing", NotSaid),
			VerticalSpacing:   child.Integer("verticalSpacing", NotSaid),
		}
	})
	return layout
}

var layoutKinds = map[string]LayoutKind{
	"fill-layout": FillLayout, "row-layout": RowLayout, "grid-layout": GridLayout, "form-layout": FormLayout,
}

var layoutDataKinds = map[string]LayoutKind{"row-data": RowLayout, "grid-data": GridLayout, "form-data": FormLayout}

func (l *loader) layoutData(e tree.Element, name string) *LayoutData {
	around, ok := e.First(name)
	if !ok {
		return nil
	}
	var data *LayoutData
	around.Core(func(child tree.Element) {
		kind, known := layoutDataKinds[child.Name]
		if !known {
			return
		}
		data = &LayoutData{
			Position:         child.Position(),
			Kind:             kind,
			Height:           child.Integer("height", NotSaid),
			Width:            child.Integer("width", NotSaid),
			Exclude:          child.Boolean("exclude", false),
			Style:            child.Value("style"),
			HorizontalAlign:  child.Value("horizontalAlign"),
			VerticalAlign:    child.Value("verticalAlign"),
			GrabHorizontal:   child.Boolean("grabExcessHorizontal", false),
			GrabVertical:     child.Boolean("grabExcessVertical", false),
			HorizontalSpan:   max(child.Integer("horizontalSpan", 1), 1),
			VerticalSpan:     max(child.Integer("verticalSpan", 1), 1),
			HorizontalIndent: child.Integer("horizontalIndent", NotSaid),
			VerticalIndent:   child.Integer("verticalIndent", NotSaid),
			MinimumHeight:    child.Integer("minHeight", NotSaid),
			MinimumWidth:     child.Integer("minWidth", NotSaid),
			HeightHint:       child.Integer("heightHint", NotSaid),
			WidthHint:        child.Integer("widthHint", NotSaid),
			Top:              attachment(child, "top"),
			Bottom:           attachment(child, "bottom"),
			Left:             attachment(child, "left"),
			Right:            attachment(child, "right"),
		}
	})
	return data
}

func attachment(e tree.Element, side string) *Attachment {
	at, ok := e.First(side)
	if !ok {
		return nil
	}
	return &Attachment{
		Position:    at.Position(),
		Alignment:   at.Value("alignment"),
		Numerator:   at.Integer("numerator", NotSaid),
		Denominator: at.Integer("denominator", NotSaid),
		Offset:      at.Integer("offset", 0),
	}
}

func (l *loader) font(e tree.Element) *Font {
	child, ok := e.First("font")
	if !ok {
		return nil
	}
	font := &Font{Position: child.Position(), Name: child.Value("name"), Size: child.Integer("size", 9), Style: child.Value("style")}
	if font.Style == "" {
		font.Style = "normal"
	}
	return font
}
