package ensembles

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// printPlans prints a line for each part of a request: a JSON document, or a text for people. With whole, what would be
// submitted follows the text. It returns whether all parts can be submitted.
func printPlans(w io.Writer, plans []coalloc.PartPlan, isJSON, whole bool) (isPossible bool, err error) {
	isPossible = !slices.ContainsFunc(plans, func(plan coalloc.PartPlan) bool { return plan.Problem != nil })
	for i, plan := range plans {
		switch {
		case isJSON:
			err = terminal.JSON(w, documentOf(plan))
		case whole:
			_, err = fmt.Fprintf(w, "%s==> %s <==\n%s", strings.Repeat("\n", btoi(i > 0)), planLine(plan), renderingText(plan))
		default:
			_, err = fmt.Fprintln(w, planLine(plan))
		}
		if err != nil {
			break
		}
	}
	return isPossible, err
}

func renderingText(plan coalloc.PartPlan) string {
	if plan.Problem != nil || plan.Rendering == nil {
		return ""
	}
	return tui.Printable(strings.TrimRight(plan.Rendering.Text(), "\n")) + "\n"
}

// planLine says on one line whether a part can be submitted, and when it would start.
func planLine(plan coalloc.PartPlan) string {
	p := plan.Part
	text := fmt.Sprintf("%s on %s: ", p.Label, p.Target)
	if plan.Problem != nil {
		return tui.OneLine(text + "cannot be submitted: " + joinLines(plan.Problem))
	}
	if p.Count == 1 {
		text += "1 process, "
	} else {
		text += fmt.Sprintf("%d processes, ", p.Count)
	}
	text += string(p.Kind)
	switch {
	case !plan.Start.IsZero():
		text += ", expected start " + terminal.Clock(plan.Start)
	case plan.NoStart != nil:
		text += ", expected start unknown: " + joinLines(plan.NoStart)
	}
	return tui.OneLine(text)
}

func joinLines(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// A planDocument is a plan of a part in JSON. The names are a contract with scripts.
type planDocument struct {
	Label     string       `json:"label"`
	Target    string       `json:"target"`
	Kind      coalloc.Kind `json:"kind"`
	Gate      coalloc.Gate `json:"barrier"`
	Count     int          `json:"count"`
	Problem   string       `json:"problem,omitempty"`
	Start     time.Time    `json:"start,omitzero"`    // that the scheduler expects
	NoStart   string       `json:"noStart,omitempty"` // why it is unknown
	Rendering any          `json:"submission,omitempty"`
}

func documentOf(plan coalloc.PartPlan) planDocument {
	p := plan.Part
	document := planDocument{Label: p.Label, Target: p.Target, Kind: p.Kind, Gate: p.Gate, Count: p.Count, Start: plan.Start}
	if plan.Problem != nil {
		document.Problem = plan.Problem.Error()
	}
	if plan.NoStart != nil {
		document.NoStart = plan.NoStart.Error()
	}
	if plan.Rendering != nil {
		document.Rendering = plan.Rendering.Document()
	}
	return document
}
