package schemas

import (
	"cmp"
	"fmt"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// maxViolations bounds how many violations are reported of one document.
const maxViolations = 1000

// The codes of violations. They are stable.
const (
	unknownElement   = "unknown-element"   // the name means nothing here or anywhere
	misplacedElement = "misplaced-element" // not allowed here, or not in this order
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
	xmltree.Position
	Code       string // one of the codes above
	Message    string
	Suggestion string // what was probably meant, a name or a value; may be empty
	Found      string // what stands at the position for the suggestion to replace; empty if nothing can just be replaced
}

// Validate checks a document that [xmltree.Read] has read against the schema of the
// format and of our extensions. It returns all violations, at most
// maxViolations and one that says so, in the order of the document, or none.
// Names count, whichever of the namespaces of the format they are in;
// elements and attributes of other namespaces are ignored, as are xsi:*.
// Spellings of earlier generations of the format are accepted.
func Validate(root *xmltree.Element) []Violation {
	set, err := embedded()
	if err != nil {
		return []Violation{{Position: root.Position(), Code: unusableSchema, Message: err.Error()}}
	}
	v := &validation{set: set, file: root.Position().File}
	v.root(root)
	sorting.Stable(v.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(v.found) > maxViolations {
		last := v.found[maxViolations]
		last.Code, last.Suggestion = tooManyProblems, ""
		last.Message = fmt.Sprintf("there are more than %d problems; the rest is not shown", maxViolations)
		v.found = append(v.found[:maxViolations], last)
	}
	return v.found
}

func (v *validation) full() bool { return len(v.found) > maxViolations }

func (v *validation) report(at xmltree.Position, code, suggestion, format string, arguments ...any) {
	if v.full() {
		return
	}
	v.found = append(v.found, Violation{Position: at, Code: code, Message: fmt.Sprintf(format, arguments...), Suggestion: suggestion})
}

// line returns what messages call the line of an element: those of bases name their file.
func (v *validation) line(e *xmltree.Element) string {
	at := e.Position()
	if at.File == v.file {
		return fmt.Sprintf("line %d", at.Line)
	}
	return fmt.Sprintf("line %d of %s", at.Line, at.File)
}

// foundThere notes what stands at the position of the violation that was reported last.
func (v *validation) foundThere(text string) {
	if !v.full() && v.found[len(v.found)-1].Suggestion != "" {
		v.found[len(v.found)-1].Found = text
	}
}
