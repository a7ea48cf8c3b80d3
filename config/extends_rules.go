package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// A kindOfPart determines which element of the base a repeated element changes.
type kindOfPart int

const (
	singlePart kindOfPart = iota // there is one at most: the one of the same element name
	namedPart                    // the one of the same element name and name
	listedPart                   // the one whose text begins with x:at
)

// A partRule is the effect of a repeated element.
type partRule struct {
	kind   kindOfPart
	merged bool // it changes only what it mentions; otherwise it replaces the whole
}

// partRules are the elements that are not both single and replaced as a whole.
var partRules = sync.OnceValue(func() map[string]partRule {
	rules := map[string]partRule{
		"site-data": {merged: true}, "control-data": {merged: true}, "monitor-data": {merged: true},
		"script": {merged: true}, "launch-tab": {merged: true},
		"attribute":     {kind: namedPart, merged: true},
		"managed-files": {kind: namedPart, merged: true},
		"file":          {kind: namedPart, merged: true},
		"environment":   {kind: namedPart},
		"dynamic":       {kind: namedPart},
		"arg":           {kind: listedPart}, "input": {kind: listedPart}, "line": {kind: listedPart},
		"pre-launch-cmd": {kind: listedPart}, "post-launch-cmd": {kind: listedPart},
		"driver": {kind: listedPart}, "workflow": {kind: listedPart}, "x:process-mark": {kind: listedPart},
		"x:outcome":  {kind: listedPart},
		"x:portable": {kind: namedPart}, "x:proven": {kind: namedPart},
		"x:fallback": {kind: namedPart, merged: true}, "x:probe": {kind: namedPart, merged: true}, "x:on-nodes": {kind: namedPart, merged: true},
		"x:reader": {kind: namedPart, merged: true}, "x:states": {merged: true}, "x:state": {kind: listedPart},
		"x:fact": {kind: namedPart}, "x:join": {kind: namedPart}, "x:environment": {kind: namedPart}, "x:validator": {kind: namedPart},
		"x:find-job": {merged: true}, "x:list-jobs": {merged: true}, "x:list-ended": {merged: true}, "x:list-nodes": {merged: true}, "x:list-queues": {merged: true},
	}
	for _, command := range commandElements {
		rules[string(command)] = partRule{merged: true}
	}
	for _, several := range []CommandElement{StartUpCommand, ShutDownCommand, ButtonAction} {
		rules[string(several)] = partRule{kind: namedPart, merged: true}
	}
	return rules
})

// partOrders gives the schema order of the children of merged elements, for added ones.
// Elements of rmctl follow those of the format.
var partOrders = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		rootElement: {"site-data", "control-data", "monitor-data"},
		"site-data": {"remote-services", "connection-name", "control-connection", "monitor-connection"},
		"control-data": {"attribute", "managed-files", "script", "start-up-command", "submit-interactive", "submit-interactive-debug",
			"submit-batch", "submit-batch-debug", "get-job-status", "terminate-job", "suspend-job", "resume-job", "hold-job",
			"release-job", "shut-down-command", "button-action", "launch-tab"},
		"monitor-data":  {"driver", "workflow", "layout"},
		"attribute":     {"description", "tooltip", "choice", "translateChoiceAs", "items-from", "default", "value", "link-value-to", "validator"},
		"managed-files": {"file-staging-location", "file"},
		"file":          {"line", "contents", "path"},
		"script":        {"file-staging-location", "line"},
		"launch-tab":    {"dynamic", "import"},
	}
})

// commandOrder is the order of the children of all commands.
var commandOrder = []string{"arg", "input", "environment", "stdout-parser", "stderr-parser", "redirect-parser", "pre-launch-cmd", "post-launch-cmd"}

// ruleOf returns the rule of an element. A table of states with its own expression replaces
// the whole table.
func ruleOf(e *xmltree.Element) partRule {
	rule := partRules()[e.QualifiedName()]
	if e.IsExtension("states") && e.Optional("of").Set && len(e.Children) > 0 {
		rule.merged = false
	}
	return rule
}

// rank returns where among its siblings an element belongs.
func rank(parent, e *xmltree.Element) int {
	order, ok := partOrders()[parent.QualifiedName()]
	if !ok {
		order = commandOrder
	}
	if at := slices.Index(order, e.QualifiedName()); at >= 0 {
		return at
	}
	return len(order)
}

// addressOf returns the text that identifies an element among those of the same element name:
// its name or, without one, its content.
func addressOf(e *xmltree.Element) string {
	switch e.QualifiedName() {
	case "line":
		texts := make([]string, 0, len(e.Children))
		for _, argument := range e.Children {
			texts = append(texts, argument.Text)
		}
		return onOneLine(strings.Join(texts, " "))
	case "arg", "input":
		return onOneLine(e.Text)
	case "dynamic":
		return strings.TrimSpace(e.ChildText("title").Text)
	case "managed-files":
		return ""
	case "x:outcome":
		return e.Value("expression")
	case "x:state":
		return onOneLine(e.Value("words") + e.Value("matches"))
	case "x:fact":
		return e.Value("name") + e.Value("attribute")
	case "x:process-mark":
		return onOneLine(e.Value("text"))
	case "pre-launch-cmd", "post-launch-cmd":
		return onOneLine(e.Value("exec"))
	case "driver":
		return strings.TrimSpace(e.ChildText("name").Text)
	}
	return e.Value("name")
}

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
