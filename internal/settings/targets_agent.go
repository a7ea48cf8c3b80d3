package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/rmctl/rmctl/attribute"
)

// An Agent is the program and the arguments of an agent of the proxy protocol, which a target
// may name in place of a definition.
type Agent []string

// ownAgent is the text that means rmctl on the target.
const ownAgent = "rmctl"

// The ways to talk to an agent.
const (
	ProxyStdio = "stdio" // over its standard input and output, as without a setting
	ProxyTCP   = "tcp"   // the agent connects to a port
)

// OwnAgent returns the agent of an rmctl on the target.
func OwnAgent() Agent { return Agent{ownAgent, "agent", "--proxy=stdio"} }

// Set parses a flag: "rmctl", or the program and its arguments with quotes as in definitions.
func (a *Agent) Set(text string) error {
	if text == ownAgent {
		*a = OwnAgent()
		return nil
	}
	*a = append(Agent{}, attribute.Words(text)...)
	if problem := a.problem(); problem != "" {
		return errors.New("it " + problem)
	}
	return nil
}

// String returns the program and its arguments as a text to show.
func (a *Agent) String() string { return strings.Join(*a, " ") }

// Type returns what help texts call the value of a flag.
func (a *Agent) Type() string { return "command" }

// UnmarshalText parses the text "rmctl"; all other agents are lists.
func (a *Agent) UnmarshalText(text []byte) error {
	if string(text) != ownAgent {
		return fmt.Errorf("invalid agent %.100q: use %q, or a list of a program and its arguments", text, ownAgent)
	}
	*a = OwnAgent()
	return nil
}

// UnmarshalJSON parses the text "rmctl" or a list.
func (a *Agent) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		return a.UnmarshalText([]byte(word))
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// maxAgentBytes bounds an agent: systems bound their command lines.
const maxAgentBytes = 64 << 10

// problem returns the problem of an agent, empty if it is valid.
func (a Agent) problem() string {
	size := 0
	for _, argument := range a {
		size += len(argument)
	}
	switch {
	case a == nil:
		return ""
	case len(a) == 0 || a[0] == "":
		return "the agent has no program"
	case strings.HasPrefix(a[0], "-") || strings.HasPrefix(a[0], "@"):
		return fmt.Sprintf("invalid program %.100q of the agent: enter a name or a path", a[0])
	case size > maxAgentBytes || slices.ContainsFunc(a, func(argument string) bool { return strings.ContainsRune(argument, 0) }):
		return fmt.Sprintf("the arguments of the agent have more than %d bytes, or a NUL", maxAgentBytes)
	}
	return ""
}

// checkAgent refuses an agent beside a definition, and one that cannot be started. It returns
// the setting that is wrong.
func (t *Target) checkAgent() (setting string, err error) {
	if problem := t.Agent.problem(); problem != "" {
		return settingAgent, errors.New(problem)
	}
	switch {
	case t.Agent != nil && t.Definition != "":
		return settingAgent, errors.New("definition and agent exclude each other")
	case t.Proxy != "" && t.Proxy != ProxyStdio && t.Proxy != ProxyTCP:
		return settingProxy, fmt.Errorf("unknown proxy %.100q: use %q or %q", t.Proxy, ProxyStdio, ProxyTCP)
	case t.Proxy == ProxyTCP && slices.Equal(t.Agent, OwnAgent()):
		return settingProxy, fmt.Errorf("invalid proxy %q: agent = %q supports only %q", t.Proxy, ownAgent, ProxyStdio)
	}
	return "", nil
}

// checkComplete refuses a target that results from all files without a definition and an agent.
func (t *Target) checkComplete() (setting string, err error) {
	switch {
	case t.Agent == nil && t.Proxy != "":
		return settingProxy, errors.New("proxy requires an agent")
	case t.Definition == "" && t.Agent == nil:
		return "", errors.New("definition or agent is missing")
	}
	return t.checkAgent()
}

// replaceScheduler sets the definition or the agent that a later file names.
func (t *Target) replaceScheduler(given Target) {
	switch {
	case given.Agent != nil:
		t.Definition, t.Agent, t.Proxy = "", given.Agent, ""
	case given.Definition != "":
		t.Definition, t.Agent, t.Proxy = given.Definition, nil, ""
	}
	if given.Proxy != "" {
		t.Proxy = given.Proxy
	}
}

// targetErrorAt is targetError at the line of a setting, or else of the target.
func targetErrorAt(text *targetsText, name, setting string, err error) error {
	problem := &ConfigurationError{File: text.file, Reason: fmt.Sprintf("target %q: %v", name, err), Err: err}
	problem.Line, problem.Column = positionOf(text.text, "targets", name, setting)
	return problem
}

// positionOf returns the line and column of a key, or of the table around it; 0 without either.
func positionOf(text []byte, path ...string) (line, column int) {
	var parser unstable.Parser
	parser.Reset(text)
	var table []string
	for parser.NextExpression() {
		node := parser.Expression()
		key := keyOf(node)
		if node.Kind == unstable.Table || node.Kind == unstable.ArrayTable {
			table = key
			key = nil
		}
		whole := slices.Concat(table, key)
		isTable := key == nil && slices.Equal(whole, path[:len(path)-1])
		if !isTable && !slices.Equal(whole, path) {
			continue
		}
		first := node.Key()
		first.Next()
		start := parser.Shape(first.Node().Raw).Start
		if line, column = start.Line, start.Column; !isTable {
			return line, column
		}
	}
	return line, column
}
