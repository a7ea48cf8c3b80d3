package submission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
)

// script generates the job script: the lines of the definition that have a
// text, with the user's environment after the line that the definition names.
func script(s *config.Script, scope config.Scope, launch job.Environment) (string, error) {
	var text strings.Builder
	first := ""
	after := insertionLine(s)
	for i, line := range s.Lines {
		resolved, err := scope.Line(line.Arguments)
		if err != nil {
			return "", fmt.Errorf("generating the script: %w", err)
		}
		if i == 0 {
			first = resolved
		}
		if resolved != "" {
			text.WriteString(resolved)
			text.WriteByte('\n')
		}
		if i == after {
			exports, err := exportLines(first, launch.Variables)
			if err != nil {
				return "", err
			}
			text.WriteString(exports)
		}
	}
	return text.String(), nil
}

// insertionLine returns the index of the line that the environment follows; -1
// for none. One beyond the script means the second line, as in the reference.
func insertionLine(s *config.Script) int {
	if s.InsertEnvironmentAfter < len(s.Lines) {
		return s.InsertEnvironmentAfter
	}
	return min(1, len(s.Lines)-1)
}

// A VariableNameError reports an environment variable with an invalid name.
type VariableNameError struct{ Name string }

func (e *VariableNameError) Error() string {
	return fmt.Sprintf("invalid environment variable %q: use letters, digits and underscores, not beginning with a digit", e.Name)
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func exportLines(firstLine string, variables []job.Variable) (string, error) {
	sorted := slices.Clone(variables)
	sorting.Stable(sorted, func(a, b job.Variable) int { return strings.Compare(a.Name, b.Name) })
	var text strings.Builder
	for _, variable := range sorted {
		if !variableName.MatchString(variable.Name) {
			return "", &VariableNameError{variable.Name}
		}
		switch {
		case variable.Value == "":
		case strings.Contains(firstLine, "csh"):
			fmt.Fprintf(&text, "setenv %s %s\n", variable.Name, quoteForCsh(variable.Value))
		default:
			fmt.Fprintf(&text, "export %s=%s\n", variable.Name, quoteForShell(variable.Value))
		}
	}
	return text.String(), nil
}

// quoteForShell quotes as the reference does, with double quotes, but so that
// nothing in the value is interpreted.
func quoteForShell(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(value) + `"`
}

// quoteForCsh quotes for a shell that has no escapes within double quotes.
func quoteForCsh(value string) string {
	if !strings.ContainsAny(value, "\"$`\\!\n'") {
		return `"` + value + `"`
	}
	return "'" + strings.NewReplacer("'", `'\''`, "!", `\!`, "\n", "\\\n").Replace(value) + "'"
}
