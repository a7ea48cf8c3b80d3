package schemas

import (
	"cmp"
	"fmt"
	"slices"
)

// maxViolations bounds how many violations are reported of one document.
const maxViolations = 1000

// The codes of violations. They are stable.
const (
	unknownElement   = "unknown-element"   // the name means nothing here or anywhere
	misplacedElement = "misplaced-element" // it may not stand here, or not in this order
	repeatedElement  = "repeated-element"  // more often than allowed
	missingElement   = "missing-element"
	unknownAttribute = "unknown-attribute"
	missingAttribute = "missing-attribute"
	invalidValue     = "invalid-value"
	unexpectedText   = "unexpected-text" // where only elements may stand
	tooManyProblems  = "too-many-problems"
	unusableSchema   = "schema-error" // the schema itself is unusable
)

// A Violation is one place where a document is not what the schema demands.
type Violation struct {
	Line, Column int    // from 1, the column in bytes
	Code         string // one of the codes above
	Message      string
	Suggestion   string // what was probably meant, a name or a value; may be empty
	Found        string // what stands at the position for the suggestion to replace; empty if nothing can just be replaced
}

// Validate checks a document that [Read] has read against the schema of the
// format and of our extensions. It returns all violations, at most
// maxViolations and one that says so, in the order of the document, or none.
// Names count, whichever of the namespaces of the format they are in;
// elements and attributes of other namespaces are ignored, as are xsi:*.
// Spellings of earlier generations of the format are accepted.
//
// A tree may be put together from several documents whose lines share one
// numbering: see [Element.ShiftLines]. lineName returns what messages call a line
// of it; nil stands for its number.
func Validate(root *Element, lineName func(line int) string) []Violation {
	if lineName == nil {
		lineName = func(line int) string { return fmt.Sprintf("line %d", line) }
	}
	set, err := embedded()
	if err != nil {
		return []Violation{{Line: 1, Column: 1, Code: unusableSchema, Message: err.Error()}}
	}
	v := &validation{set: set, lineName: lineName}
	v.root(root)
	slices.SortStableFunc(v.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(v.found) > maxViolations {
		last := v.found[maxViolations]
		last.Code, last.Suggestion = tooManyProblems, ""
		last.Message = fmt.Sprintf("there are more than %d problems; those from here on are not shown", maxViolations)
		v.found = append(v.found[:maxViolations], last)
	}
	return v.found
}

func (v *validation) full() bool { return len(v.found) > maxViolations }

func (v *validation) report(line, column int, code, suggestion, format string, arguments ...any) {
	if v.full() {
		return
	}
	v.found = append(v.found, Violation{Line: line, Column: column, Code: code,
		Message: fmt.Sprintf(format, arguments...), Suggestion: suggestion})
}

// foundThere notes what stands at the position of the violation that was reported last.
func (v *validation) foundThere(text string) {
	if !v.full() && v.found[len(v.found)-1].Suggestion != "" {
		v.found[len(v.found)-1].Found = text
	}
}
