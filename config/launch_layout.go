package config

import "strings"

// NotSaid is what a number of a layout is where the definition leaves it open.
const NotSaid = -1

// A LayoutKind is how controls are arranged.
type LayoutKind string

// The kinds of layouts.
const (
	FillLayout LayoutKind = "fill"
	RowLayout  LayoutKind = "row"
	GridLayout LayoutKind = "grid"
	FormLayout LayoutKind = "form"
)

// A Layout tells how the controls inside another one are arranged. Lengths are
// in pixels, NotSaid where they are left open. A field that the kind does not
// have is left open, too.
type Layout struct {
	Position
	Kind                  LayoutKind
	Orientation           string // the type of fill and row layouts, such as SWT.HORIZONTAL
	Columns               int    // of a grid; at least 1
	EqualWidth            bool   // whether all columns of a grid are equally wide
	Center, Justify, Fill bool   // of a row
	Pack, Wrap            bool   // of a row
	MarginHeight          int
	MarginWidth           int
	MarginTop             int
	MarginBottom          int
	MarginLeft            int
	MarginRight           int
	Spacing               int
	HorizontalSpacing     int // of a grid
	VerticalSpacing       int
}

// LayoutData tells how a control stands among those beside it, in a layout of
// the same kind. Lengths are in pixels, NotSaid where they are left open.
type LayoutData struct {
	Position
	Kind             LayoutKind // RowLayout, GridLayout or FormLayout
	Height, Width    int        // of row and form
	Exclude          bool       // of a row: the control takes no room
	Style            string     // of a grid: tokens that stand for other fields
	HorizontalAlign  string
	VerticalAlign    string
	GrabHorizontal   bool // takes the width that is left over
	GrabVertical     bool
	HorizontalSpan   int // how many columns it takes; at least 1
	VerticalSpan     int
	HorizontalIndent int
	VerticalIndent   int
	MinimumHeight    int
	MinimumWidth     int
	HeightHint       int
	WidthHint        int

	Top, Bottom, Left, Right *Attachment // of a form; nil where a side is free
}

// An Attachment tells where a side of a control in a form layout is: at
// numerator/denominator of the width or height of what it stands in, moved by offset.
type Attachment struct {
	Position
	Alignment              string
	Numerator, Denominator int
	Offset                 int // pixels
}

// A Font tells how text looks.
type Font struct {
	Position
	Name  string
	Size  int    // points
	Style string // normal, bold or italic
}

// StyleTokens returns the tokens of a style, such as WRAP of "SWT.BORDER |
// SWT.WRAP", without the prefix.
func StyleTokens(style string) []string {
	var tokens []string
	for token := range strings.SplitSeq(style, "|") {
		token = strings.TrimSpace(token)
		token = strings.TrimPrefix(strings.TrimPrefix(token, "SWT."), "GridData.")
		if token != "" {
			tokens = append(tokens, token)
		}
	}
	return tokens
}
