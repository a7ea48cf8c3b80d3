package wording

import "fmt"

// AgentType is the scheduler's type in the definition that an agent gives its target.
const AgentType = "AGENT"

// Subject names a definition by what users can change: that of an agent by the target, which
// is its file.
func Subject(name, file, schedulerType string) string {
	if schedulerType == AgentType {
		return fmt.Sprintf("the agent of %q", file)
	}
	return fmt.Sprintf("definition %q", name)
}
