package doctor

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/excerpt"
)

// ExamineAgent describes the agent of a target by the definition that it has, or by the error
// of reaching it.
func ExamineAgent(agent []string, definition *config.Definition, err error) Finding {
	finding := Finding{Name: "agent", Verdict: Fine, Seen: excerpt.Line(strings.Join(agent, " "))}
	if err != nil {
		finding.Verdict, finding.Seen = Problem, excerpt.Line(err.Error())
		finding.Impact = "jobs cannot be submitted and states are unknown"
		finding.Fix = "run the agent on the target yourself, and set the target's agent to the path that works"
		return finding
	}
	visible := 0
	for _, attribute := range definition.Attributes {
		if attribute.Visible() {
			visible++
		}
	}
	finding.Seen += fmt.Sprintf(", %d attributes", visible)
	return finding
}
