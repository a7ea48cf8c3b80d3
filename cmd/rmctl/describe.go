package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/describe"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
)

func newDescribe(a *app) *cobra.Command {
	var page, merged bool
	c := &cobra.Command{
		Use:   "describe FILE|NAME|TARGET",
		Short: "Describe a definition: its attributes, commands and form",
		Long: `describe prints what a definition offers: the attributes that -s sets, with defaults,
limits and help, and the commands that it runs. With -v it also prints attributes that
only parsers set, how outputs are parsed, the script and the form.

--html writes all that as a page for a browser or printer. --merged prints the definition
merged with all that it extends, and where each part comes from.`,
		Example: `  rmctl describe slurm
  rmctl describe --json mysite.xml
  rmctl describe --html mysite.xml >mysite.html
  rmctl describe --merged mysite.xml`,
		Args:              exactly(1, "a definition"),
		ValidArgsFunction: a.completeOneDefinition(),
		RunE: func(_ *cobra.Command, arguments []string) error {
			if page && (merged || a.json) {
				return usage("--html can be combined neither with --merged nor with --json")
			}
			name, err := a.definitionNamed(arguments[0])
			if err != nil {
				return err
			}
			if merged {
				return a.describeMerged(name)
			}
			definition, err := a.definition(name)
			if err != nil {
				return err
			}
			d := describe.Of(definition)
			switch {
			case page:
				return d.WritePage(a.stdout)
			case a.json:
				return terminal.JSON(a.stdout, d)
			}
			_, err = fmt.Fprint(a.stdout, printable(d.Text(a.verbose > 0)))
			return err
		},
	}
	c.Flags().BoolVar(&page, "html", false, "write a page for a browser")
	c.Flags().BoolVar(&merged, "merged", false, "print the definition merged with all that it extends")
	return c
}

// describeMerged prints a definition merged with all that it extends. It need not be valid:
// this helps to understand what validate reports.
func (a *app) describeMerged(name string) error {
	file, source, err := check.ReadDefinition(name)
	if err != nil {
		return &usageError{err}
	}
	merged, problems := config.Merge(file, source, check.ReadBase)
	if err := problems.Err(); err != nil {
		return fmt.Errorf("%w\nrmctl validate %s shows each with its line", err, name)
	}
	for _, problem := range problems {
		fmt.Fprintln(a.stderr, printable(problem.String()))
	}
	if !a.json {
		_, err = fmt.Fprint(a.stdout, printable(merged.XML))
		return err
	}
	return terminal.JSON(a.stdout, merged)
}

// configuredTarget returns a target of targets.toml. It returns false for a path and for an
// unknown name.
func (a *app) configuredTarget(name string) (settings.Target, bool, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".xml") {
		return settings.Target{}, false, nil
	}
	targets, err := a.client().Targets()
	if err != nil {
		return settings.Target{}, false, err
	}
	target, err := targets.Find(name)
	if err != nil || target.Shipped {
		return settings.Target{}, false, nil //nolint:nilerr // no target, so a shipped name or a file
	}
	return target, true, nil
}

// definitionNamed returns the shipped name or the file of a definition, which a target may
// name.
func (a *app) definitionNamed(name string) (string, error) {
	target, isTarget, err := a.configuredTarget(name)
	if err != nil || !isTarget {
		return name, err
	}
	return target.Definition, nil
}
