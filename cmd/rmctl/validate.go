package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/diagnostics"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/internal/terminal"
)

func newValidate(a *app) *cobra.Command {
	var strict, lenient, sarif bool
	c := &cobra.Command{
		Use:   "validate FILE|NAME|TARGET|DIR...",
		Short: "Check definitions and show every problem with its line",
		Long: `Check definitions, and print every problem with its line: files, directories of .xml files,
shipped definitions, and definitions of targets.

rmctl exits with 2 if a definition is invalid. docs/reference/diagnostics.md explains the
problems. PTP ignores unknown elements and attributes: --lenient lists them as warnings,
and x:lenient="true" on the root element makes rmctl ignore them, too. With -v, rmctl also
prints the engine of each regular expression.`,
		Example: `  rmctl validate mysite.xml
  rmctl validate --strict slurm pbs local
  rmctl validate --sarif definitions/ >problems.sarif`,
		Args:              atLeast(1, "the definition"),
		ValidArgsFunction: a.completeDefinitions,
		RunE: func(_ *cobra.Command, arguments []string) error {
			if sarif && a.json {
				return usage("--json and --sarif exclude each other")
			}
			if strict && lenient {
				return usage("--strict and --lenient exclude each other")
			}
			names, err := a.definitionsIn(arguments)
			if err != nil {
				return err
			}
			v := &validation{app: a, strict: strict, lenient: lenient, sarif: sarif}
			v.show = v.showText
			switch {
			case sarif:
				v.show = v.collect
			case a.json:
				v.show = v.showJSON
			}
			for _, name := range names {
				if err := v.check(name); err != nil {
					return err
				}
			}
			return v.finish()
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	c.Flags().BoolVar(&lenient, "lenient", false, "accept and list unknown elements and attributes")
	c.Flags().BoolVar(&sarif, "sarif", false, "print a SARIF 2.1.0 document for code review tools")
	return c
}

// definitionsIn replaces each directory by the definitions in it, and each target by its
// definition.
func (a *app) definitionsIn(arguments []string) ([]string, error) {
	var names []string
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		if err != nil || !info.IsDir() {
			name, err := a.definitionNamed(argument)
			if err != nil {
				return nil, err
			}
			names = append(names, name) // reading it finds errors
			continue
		}
		files, err := os.ReadDir(argument)
		if err != nil {
			return nil, usage("looking for definitions: %v", err)
		}
		found := 0
		for _, file := range files {
			if strings.EqualFold(filepath.Ext(file.Name()), ".xml") && !file.IsDir() {
				names = append(names, filepath.Join(argument, file.Name()))
				found++
			}
		}
		if found == 0 {
			return nil, usage("no .xml files in directory %q", argument)
		}
	}
	return names, nil
}

// A validation is one run of validate over several definitions.
type validation struct {
	*app
	strict, lenient  bool
	sarif            bool
	show             func(config.Diagnostic) error
	files            int
	errors, warnings int
	collected        []config.Diagnostic
	unreadable       []string // why files could not be read
}

// check loads one definition and shows its problems.
func (v *validation) check(name string) error {
	file, source, err := check.ReadDefinition(name)
	if err != nil { // the others are still checked
		v.unreadable = append(v.unreadable, err.Error())
		v.say("%v", err)
		return nil
	}
	v.files++
	definition, problems := check.Load(file, source, check.ReadBase)
	if v.lenient {
		problems = problems.Lenient()
	}
	before := v.errors
	for _, problem := range problems {
		if v.strict {
			problem.Severity = config.Error
		}
		if problem.Severity == config.Error {
			v.errors++
		} else {
			v.warnings++
		}
		if err := v.show(problem); err != nil {
			return err
		}
	}
	if v.json || v.sarif || definition == nil {
		return nil
	}
	if v.errors == before {
		fmt.Fprintf(v.stdout, "%s: %q is valid: %s, %s\n", printable(file), printable(definition.Name),
			counted(len(definition.Attributes), "attribute"), counted(len(definition.Commands), "command"))
	}
	if v.verbose > 0 {
		v.showEngines(definition)
	}
	return nil
}

// finish prints the summary of all definitions.
func (v *validation) finish() error {
	switch {
	case v.sarif:
		if err := terminal.IndentedJSON(v.stdout, diagnostics.SARIF(v.collected, v.unreadable, buildVersion().Version), "  "); err != nil {
			return err
		}
	case !v.json && v.errors+v.warnings > 0:
		in := ""
		if v.files > 1 {
			in = " in " + counted(v.files, "definition")
		}
		fmt.Fprintf(v.stdout, "%s, %s%s\n", counted(v.errors, "error"), counted(v.warnings, "warning"), in)
	}
	if v.errors > 0 || len(v.unreadable) > 0 {
		return &exitError{code: exitUsage}
	}
	return nil
}

func counted(number int, what string) string {
	if number == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", number, what)
}

func (v *validation) collect(problem config.Diagnostic) error {
	v.collected = append(v.collected, problem)
	return nil
}

func (v *validation) showJSON(problem config.Diagnostic) error {
	return terminal.JSON(v.stdout, diagnostics.JSON(problem))
}

func (v *validation) showText(problem config.Diagnostic) error {
	_, err := fmt.Fprintln(v.stdout, diagnostics.Text(problem, terminal.WantsColour(v.stdout)))
	return err
}

func (a *app) showEngines(definition *config.Definition) {
	for _, x := range inspect.Expressions(definition) {
		engine := "unknown engine"
		if compiled, err := javaregex.Compile(x.Text, x.Flags); err == nil {
			engine, _ = compiled.Engine()
		}
		fmt.Fprintf(a.stdout, "%s: %s runs %s\n", x.Position, engine, oneLine(x.Text))
	}
}
