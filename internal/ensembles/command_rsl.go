package ensembles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/rsl"
)

// NewRSLCommand returns the command that checks and prints requests in RSL.
func NewRSLCommand(e Environment) *cobra.Command {
	var evaluate, check bool
	var define []string
	c := &cobra.Command{
		Use:   "rsl FILE",
		Short: "Check and print a request in RSL",
		Long: `Check a request in RSL, the Resource Specification Language of the Globus Toolkit, and
print it in canonical form. FILE may be - for standard input.

rmctl prints each error with its place, and exits with 2 if the request is invalid. With
--json, it prints the syntax tree. --check connects to the targets but submits nothing,
and exits with 1 if a part cannot be submitted. docs/reference/rsl.md describes the
language.`,
		Example: "  rmctl rsl job.rsl\n  rmctl rsl --eval -D HOME=/home/ann job.rsl\n  rmctl rsl --json - <job.rsl",
		Args:    arguments("FILE"),
		RunE: func(c *cobra.Command, words []string) error {
			if len(define) > 0 && !evaluate {
				return usage("--define requires --eval")
			}
			if check && evaluate {
				return usage("--check excludes --eval")
			}
			symbols := map[string]string{}
			for _, definition := range define {
				name, value, isPair := strings.Cut(definition, "=")
				if !isPair || name == "" {
					return usage("--define %q is not NAME=VALUE", definition)
				}
				symbols[name] = value
			}
			text, err := e.readRSL(words[0])
			if err != nil {
				return err
			}
			if check {
				return e.checkRSL(c.Context(), words[0], text)
			}
			spec, err := rsl.Parse(text)
			if err == nil && evaluate {
				var warnings rsl.Problems
				spec, warnings, err = rsl.Evaluate(spec, symbols)
				for _, warning := range warnings {
					e.say("warning: %s", warning.Excerpt(words[0], text))
				}
			}
			if err != nil {
				return e.showRSLProblems(err, words[0], text)
			}
			if evaluate {
				rsl.Canonicalize(spec)
			}
			return e.printRSL(spec)
		},
	}
	c.Flags().BoolVar(&evaluate, "eval", false, "replace variables by their values, and normalize attribute names")
	c.Flags().BoolVar(&check, "check", false, "check each part with its target")
	c.Flags().StringArrayVarP(&define, "define", "D", nil, "variable for --eval, as `NAME=VALUE`; repeatable")
	return c
}

// checkRSL checks the parts of a request against their targets.
func (e *Environment) checkRSL(ctx context.Context, name, text string) error {
	service, err := e.Service()
	if err != nil {
		return err
	}
	request, err := coalloc.ReadRequest(ctx, []byte(text), service.Sources)
	if err != nil {
		return e.showRSLProblems(err, name, text)
	}
	isPossible, err := printPlans(e.Stdout, coalloc.Plan(ctx, service.Client, request, false), e.IsJSON(), false)
	if err == nil && !isPossible {
		return e.Exit(1)
	}
	return err
}

// exitUsage is the exit code for wrong arguments.
const exitUsage = 2

// readRSL reads a request, up to one byte beyond the limit.
func (e *Environment) readRSL(name string) (string, error) {
	from := e.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("reading the request: %w", err)
		}
		defer file.Close() //nolint:errcheck // nothing was written
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, rsl.MaxSize+1))
	if err != nil {
		return "", fmt.Errorf("reading the request: %w", err)
	}
	return string(text), nil
}

// showRSLProblems shows all problems of a request, and returns the error of the command.
func (e *Environment) showRSLProblems(err error, name, text string) error {
	problems, isInvalid := errors.AsType[rsl.Problems](err)
	if !isInvalid {
		return err
	}
	var lines []error
	for _, problem := range problems {
		if e.IsJSON() {
			lines = append(lines, usage("%s: %s\n%s", name, problem.Error(), problem.Hint))
		} else {
			e.say("%s", problem.Excerpt(name, text))
		}
	}
	if e.IsJSON() {
		return errors.Join(lines...)
	}
	return e.Exit(exitUsage)
}

func (e *Environment) printRSL(spec rsl.Spec) error {
	if e.IsJSON() {
		tree, err := rsl.EncodeJSON(spec)
		if err != nil {
			return err
		}
		return terminal.JSON(e.Stdout, json.RawMessage(tree))
	}
	text := rsl.Print(spec)
	if terminal.Is(e.Stdout) {
		text = tui.Printable(text)
	}
	_, err := fmt.Fprintln(e.Stdout, text)
	return err
}
