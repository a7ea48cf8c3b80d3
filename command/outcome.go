package command

import (
	"slices"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

// classify returns the kind of the first outcome that fits how a command
// ended: its exit code, and an expression found in its standard error or else
// in its standard output.
func classify(outcomes []*config.Outcome, result *Result, compiled *tokenizer.Expressions) config.OutcomeKind {
	for _, outcome := range outcomes {
		if len(outcome.ExitCodes) == 0 && result.ExitCode == 0 {
			continue
		}
		if len(outcome.ExitCodes) > 0 && !slices.Contains(outcome.ExitCodes, result.ExitCode) {
			continue
		}
		if outcome.Expression == nil || found(compiled, outcome.Expression, result.Stderr) || found(compiled, outcome.Expression, result.Stdout) {
			return outcome.Kind
		}
	}
	return ""
}

// found searches text for an expression. Expressions that do not compile were
// reported when the definition was loaded; one that takes too long finds nothing.
func found(compiled *tokenizer.Expressions, x *config.Expression, text string) bool {
	expression, err := compiled.Compile(x.Text, x.Flags)
	if err != nil {
		return false
	}
	_, matched, err := expression.Find(nil, []byte(text), 0)
	return err == nil && matched
}
