// Package planned prints plans of ensembles: what each part would submit, and when it would start.
package planned

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/tui"
)

// HasProblem reports whether a part cannot be submitted.
func HasProblem(plans []coalloc.PartPlan) bool {
	return slices.ContainsFunc(plans, func(plan coalloc.PartPlan) bool { return plan.Problem != nil })
}

// Text returns plans for people: a line for each part. With whole, the files and commands of the part follow.
func Text(plans []coalloc.PartPlan, whole bool) string {
	var text strings.Builder
	for _, plan := range plans {
		fmt.Fprintf(&text, "%s on %s: %s\n", tui.Printable(plan.Part.Label), tui.Printable(plan.Part.Target), tui.Printable(verdict(plan)))
		if whole && plan.Rendering != nil {
			for line := range strings.Lines(plan.Rendering.Text()) {
				fmt.Fprintf(&text, "    %s\n", tui.Printable(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	return text.String()
}

// verdict says on one line whether a part can be submitted, and when it would start.
func verdict(plan coalloc.PartPlan) string {
	processes := "1 process"
	if plan.Part.Count != 1 {
		processes = fmt.Sprintf("%d processes", plan.Part.Count)
	}
	accepted := fmt.Sprintf("%s, %s", processes, plan.Part.Kind)
	switch {
	case plan.Problem != nil:
		return "cannot be submitted: " + oneLine(plan.Problem)
	case !plan.Start.IsZero():
		return accepted + ", expected to start at " + plan.Start.Format(time.DateTime)
	case plan.NoStart != nil:
		return accepted + ", expected start unknown: " + oneLine(plan.NoStart)
	}
	return accepted
}

// oneLine returns an error on one line.
func oneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }

// A Document is a plan of a part in JSON. The names are a contract with scripts.
type Document struct {
	Label     string       `json:"label"`
	Target    string       `json:"target"`
	Kind      coalloc.Kind `json:"kind"`
	Gate      coalloc.Gate `json:"barrier"`
	Count     int          `json:"count"`
	Problem   string       `json:"problem,omitempty"`
	Start     time.Time    `json:"start,omitzero"`
	NoStart   string       `json:"noStart,omitempty"` // why the expected start is unknown
	Rendering any          `json:"submission,omitempty"`
}

// Documents returns plans for JSON.
func Documents(plans []coalloc.PartPlan) []Document {
	documents := make([]Document, len(plans))
	for i, plan := range plans {
		documents[i] = Document{Label: plan.Part.Label, Target: plan.Part.Target, Kind: plan.Part.Kind, Gate: plan.Part.Gate, Count: plan.Part.Count, Start: plan.Start}
		if plan.Problem != nil {
			documents[i].Problem = plan.Problem.Error()
		}
		if plan.NoStart != nil {
			documents[i].NoStart = plan.NoStart.Error()
		}
		if plan.Rendering != nil {
			documents[i].Rendering = plan.Rendering.Document()
		}
	}
	return documents
}
