package rsl

import "strings"

// Print returns the canonical text of a specification: on one line, without comments, and with all
// text in double quotes. Parsing it gives the same tree.
func Print(spec Spec) string {
	var text strings.Builder
	printSpec(&text, spec)
	return text.String()
}

// PrintValue returns the canonical text of a value.
func PrintValue(value Value) string {
	var text strings.Builder
	printValue(&text, value)
	return text.String()
}

func printSpec(text *strings.Builder, spec Spec) {
	switch s := spec.(type) {
	case *Boolean:
		text.WriteString(string(s.Operator))
		for _, child := range s.Specs {
			text.WriteByte('(')
			printSpec(text, child)
			text.WriteByte(')')
		}
	case *Relation:
		printText(text, s.Name)
		text.WriteString(" " + string(s.Operator) + " ")
		printValues(text, s.Values)
	}
}

// printValues prints each value followed by a blank.
func printValues(text *strings.Builder, values []Value) {
	for _, value := range values {
		printValue(text, value)
		text.WriteByte(' ')
	}
}

func printValue(text *strings.Builder, value Value) {
	switch v := value.(type) {
	case *Literal:
		printText(text, v.Text)
	case *Sequence:
		text.WriteByte('(')
		printValues(text, v.Values)
		text.WriteByte(')')
	case *Reference:
		text.WriteString("$(")
		printText(text, v.Name)
		if v.Default != nil {
			text.WriteByte(' ')
			printValue(text, v.Default)
		}
		text.WriteByte(')')
	case *Concatenation:
		for i, part := range v.Parts {
			if i > 0 {
				text.WriteString(" # ")
			}
			printValue(text, part)
		}
	}
}

func printText(text *strings.Builder, literal string) {
	text.WriteByte('"')
	for {
		before, after, isFound := strings.Cut(literal, `"`)
		text.WriteString(before)
		if !isFound {
			break
		}
		text.WriteString(`""`)
		literal = after
	}
	text.WriteByte('"')
}
