package main

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
	"github.com/rmctl/rmctl/internal/ensembles"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/rsl"
)

func newRSL(a *app) *cobra.Command {
	var evaluate, check bool
	var define []string
	c := &cobra.Command{
		Use:   "rsl FILE",
		Short: "Check and print a request in RSL",
		Long: `rsl reads a request in RSL, the Resource Specification Language of the Globus Toolkit,
and prints it in canonical form: on one line, with all text in double quotes. FILE may be
- for standard input. If the request is invalid, rsl shows the errors with their places
and exits with 2.

With --eval it replaces references to variables by their values, and prints attribute
names in lower case without underscores. With --json it prints the syntax tree.
With --check it checks each part against its target, and exits with 1 if one cannot be
submitted. It connects to the targets but submits nothing.
docs/rsl.md describes the language.`,
		Example: "  rmctl rsl job.rsl\n  rmctl rsl --eval -D HOME=/home/ann job.rsl\n  rmctl rsl --json - <job.rsl",
		Args:    exactly(1, "FILE"),
		RunE: func(c *cobra.Command, arguments []string) error {
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
			text, err := a.readRSL(arguments[0])
			if err != nil {
				return err
			}
			if check {
				return a.checkRSL(c.Context(), arguments[0], text)
			}
			spec, err := rsl.Parse(text)
			if err == nil && evaluate {
				var warnings rsl.Problems
				spec, warnings, err = rsl.Evaluate(spec, symbols)
				for _, warning := range warnings {
					a.say("warning: %s", warning.Excerpt(arguments[0], text))
				}
			}
			if err != nil {
				return a.showRSLProblems(err, arguments[0], text)
			}
			if evaluate {
				rsl.Canonicalize(spec)
			}
			return a.printRSL(spec)
		},
	}
	c.Flags().BoolVar(&evaluate, "eval", false, "replace references to variables by their values")
	c.Flags().BoolVar(&check, "check", false, "check each part against its target")
	c.Flags().StringArrayVarP(&define, "define", "D", nil, "variable for --eval, as `NAME=VALUE`; may be repeated")
	return c
}

// checkRSL checks the parts of a request against their targets.
func (a *app) checkRSL(ctx context.Context, name, text string) error {
	folders, err := a.folders()
	if err != nil {
		return err
	}
	from, err := coalloc.SourcesOf(a.client(), folders.User)
	if err != nil {
		return err
	}
	request, err := coalloc.ReadRequest(ctx, []byte(text), from)
	if err != nil {
		return a.showRSLProblems(err, name, text)
	}
	isPossible, err := ensembles.PrintPlans(a.stdout, coalloc.Plan(ctx, a.client(), request, false), a.json, false)
	if err == nil && !isPossible {
		return &exitError{code: exitFailed}
	}
	return err
}

// readRSL reads a request of at most one byte more than is valid.
func (a *app) readRSL(name string) (string, error) {
	from := a.stdin
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
func (a *app) showRSLProblems(err error, name, text string) error {
	problems, isInvalid := errors.AsType[rsl.Problems](err)
	if !isInvalid {
		return err
	}
	var lines []error
	for _, problem := range problems {
		if a.json {
			lines = append(lines, usage("%s: %s\n%s", name, problem.Error(), problem.Hint))
		} else {
			a.say("%s", problem.Excerpt(name, text))
		}
	}
	if a.json {
		return errors.Join(lines...)
	}
	return &exitError{code: exitUsage}
}

func (a *app) printRSL(spec rsl.Spec) error {
	if a.json {
		tree, err := rsl.EncodeJSON(spec)
		if err != nil {
			return err
		}
		return terminal.JSON(a.stdout, json.RawMessage(tree))
	}
	text := rsl.Print(spec)
	if isTerminal(a.stdout) {
		text = printable(text)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}
