package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/javaregex"
)

func newValidate(a *app) *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use:   "validate FILE|NAME...",
		Short: "Check definitions and show every problem with its line",
		Long: `validate checks definitions, files or shipped ones, and shows all problems of each
in one run. It exits with 0 when there is no error, and with 2 otherwise.
With -v it also shows which engine runs each regular expression.`,
		Example: `  rmctl validate mysite.xml
  rmctl validate --strict slurm pbs local
  rmctl validate --json mysite.xml`,
		Args: atLeast(1, "a definition"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			failed := false
			for _, name := range arguments {
				good, err := a.validate(name, strict)
				if err != nil {
					return &usageError{err}
				}
				failed = failed || !good
			}
			if failed {
				return &exitError{code: exitUsage}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	return c
}

type diagnosticJSON struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Severity   string `json:"severity"`
	Code       string `json:"code"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// validate shows the problems of one definition and reports whether it is good.
func (a *app) validate(name string, strict bool) (bool, error) {
	file, source, err := control.ReadDefinition(name)
	if err != nil {
		return false, err
	}
	definition, problems := config.LoadWith(file, source, config.Options{Base: control.ReadBase})
	for _, problem := range problems {
		if strict {
			problem.Severity = config.Error
		}
		if a.json {
			err = printJSON(a.stdout, diagnosticJSON{problem.File, problem.Line, problem.Column, string(problem.Severity), problem.Code, problem.Message, problem.Suggestion})
		} else {
			_, err = fmt.Fprintln(a.stdout, printable(problem.Excerpt(problem.Source())))
		}
		if err != nil {
			return false, err
		}
	}
	good := !problems.HasErrors() && (!strict || len(problems) == 0)
	if good && !a.json {
		fmt.Fprintf(a.stdout, "%s: %q is valid: %d attributes, %d commands\n", file, definition.Name, len(definition.Attributes), len(definition.Commands))
	}
	if definition != nil && a.verbose > 0 && !a.json {
		a.showEngines(definition)
	}
	return good, nil
}

func (a *app) showEngines(definition *config.Definition) {
	for _, x := range definition.Expressions() {
		engine := "known when its references are"
		if compiled, err := javaregex.Compile(x.Text, x.Flags); err == nil {
			engine = compiled.Engine()
		}
		fmt.Fprintf(a.stdout, "%s: %s runs %s\n", x.Position, engine, oneLine(x.Text))
	}
}
