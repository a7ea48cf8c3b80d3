package replay

import "fmt"

// A Reading is what a reader makes of an output. Its JSON is a contract.
type Reading struct {
	Records  []Record  `json:"records"`
	Elements []Element `json:"elements"`
	Damage   string    `json:"damage,omitempty"` // why the output is unreadable
}

// Lines returns the record as text, optionally with its fields.
func (r Record) Lines(withFields bool) []string {
	lines := []string{fmt.Sprintf("line %d: record %s", r.Line, r.ID)}
	if withFields {
		for _, field := range r.Fields {
			lines = append(lines, fmt.Sprintf("  field %s = %s", field.Name, field.Value))
		}
	}
	switch {
	case r.Rejected != "":
		lines = append(lines, "  rejected: "+r.Rejected)
	case r.Foreign:
		lines = append(lines, "  of another job")
	case r.Row != "":
		lines = append(lines, fmt.Sprintf("  state %s for %q, %s", r.State, r.Word, r.Row))
	case r.Word != "":
		lines = append(lines, fmt.Sprintf("  no row for %q", r.Word))
	}
	for _, fact := range r.Facts {
		if fact.Value != "" {
			lines = append(lines, fmt.Sprintf("  fact %s = %s, %s", fact.Name, fact.Value, fact.At))
		} else {
			lines = append(lines, fmt.Sprintf("  no fact %s: %s, %s", fact.Name, fact.Dropped, fact.At))
		}
	}
	return lines
}

// Lines returns the results as text.
func (r Reading) Lines() []string {
	var lines []string
	for _, element := range r.Elements {
		lines = append(lines, "result "+element.ID)
		if element.Unreadable != "" {
			lines = append(lines, "  unreadable: "+element.Unreadable)
		}
		if element.Incomplete != "" {
			lines = append(lines, "  incomplete: "+element.Incomplete)
		}
		for _, fact := range element.Facts {
			lines = append(lines, fmt.Sprintf("  %s = %s", fact.Name, fact.Value))
		}
	}
	if r.Damage != "" {
		lines = append(lines, "the output is unreadable: "+r.Damage)
	}
	return lines
}
