package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/terminal"
)

func newDescribe(a *app) *cobra.Command {
	var page, merged bool
	c := &cobra.Command{
		Use:   "describe FILE|NAME|TARGET",
		Short: "Describe a definition: its attributes, commands and form",
		Long: `describe shows what a definition offers: the attributes that -s sets, with
defaults, limits and help, and the commands that it runs. With -v it also shows
attributes that only parsers set, how outputs are read, the script and the form.

--html writes a page of all that, for a browser or to be printed. --merged prints
the definition as one document, with all that it extends put into it, and tells
where each part comes from.`,
		Example: `  rmctl describe slurm
  rmctl describe --json mysite.xml
  rmctl describe --html mysite.xml >mysite.html
  rmctl describe --merged mysite.xml`,
		Args:              exactly(1, "a definition"),
		ValidArgsFunction: a.completeOneDefinition,
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
			d := describe(definition)
			switch {
			case page:
				return d.writePage(a.stdout)
			case a.json:
				return terminal.JSON(a.stdout, d)
			}
			_, err = fmt.Fprint(a.stdout, printable(d.text(a.verbose > 0)))
			return err
		},
	}
	c.Flags().BoolVar(&page, "html", false, "write a page for a browser")
	c.Flags().BoolVar(&merged, "merged", false, "print the definition with all that it extends put into it")
	return c
}

type mergedJSON struct {
	Files []string   `json:"files"` // the definition's own, and each base after the one that extends it
	Parts []partJSON `json:"parts"`
	Gone  []goneJSON `json:"gone"` // what bases have and the definition has not
	XML   string     `json:"xml"`
}

type partJSON struct {
	Path      string         `json:"path"`
	Position  string         `json:"position"`
	Sets      []string       `json:"sets,omitempty"`
	Overrides []overrideJSON `json:"overrides,omitempty"`
}

type overrideJSON struct {
	Effect   string `json:"effect"`
	Position string `json:"position"`
}

type goneJSON struct {
	Element  string `json:"element"`
	Effect   string `json:"effect"`
	Position string `json:"position"`
	By       string `json:"by"`
}

// describeMerged prints a definition with all that it extends put into it. It
// need not be valid: this shows what validate complains of.
func (a *app) describeMerged(name string) error {
	file, source, err := control.ReadDefinition(name)
	if err != nil {
		return &usageError{err}
	}
	merged, problems := config.Merge(file, source, control.ReadBase)
	if err := problems.Err(); err != nil {
		return fmt.Errorf("%w\nrmctl validate %s shows each with its line", err, name)
	}
	for _, problem := range problems {
		fmt.Fprintln(a.stderr, printable(problem.String()))
	}
	if !a.json {
		_, err = fmt.Fprint(a.stdout, printable(string(merged.XML())))
		return err
	}
	printed := mergedJSON{Files: merged.Files(), Parts: []partJSON{}, Gone: []goneJSON{}, XML: string(merged.XML())}
	for _, part := range merged.Parts() {
		one := partJSON{Path: part.Path, Position: part.Position.String(), Sets: part.Sets}
		for _, override := range part.Overrides {
			one.Overrides = append(one.Overrides, overrideJSON{string(override.Effect), override.Position.String()})
		}
		printed.Parts = append(printed.Parts, one)
	}
	for _, lost := range merged.Lost() {
		printed.Gone = append(printed.Gone, goneJSON{lost.Path, string(lost.Effect), lost.Override.Position.String(), lost.By.String()})
	}
	return terminal.JSON(a.stdout, printed)
}
