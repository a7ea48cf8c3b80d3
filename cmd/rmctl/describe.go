package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/definitionformat"
	"github.com/rmctl/rmctl/internal/describe"
	"github.com/rmctl/rmctl/internal/editors"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/starter"
	"github.com/rmctl/rmctl/internal/terminal"
)

func newDescribe(a *app) *cobra.Command {
	var page, merged bool
	c := &cobra.Command{
		Use:   "describe FILE|NAME|TARGET",
		Short: "Describe a definition: its attributes, commands and form",
		Long: `Describe a definition: the attributes that -s sets, with defaults and limits, and its
commands. With -v, also print attributes that only parsers set, the parsers, the script
and the form.`,
		Example: `  rmctl describe slurm
  rmctl describe --json mysite.xml
  rmctl describe --html mysite.xml >mysite.html
  rmctl describe --merged mysite.xml`,
		Args:              exactly(1, "the definition"),
		ValidArgsFunction: a.completeOneDefinition(),
		RunE: func(c *cobra.Command, arguments []string) error {
			if page && (merged || a.json) {
				return usage("--html cannot be used together with --merged or --json")
			}
			if merged {
				return a.describeMerged(arguments[0])
			}
			target, isTarget, err := a.configuredTarget(arguments[0])
			if err != nil {
				return err
			}
			if !isTarget {
				target = settings.Target{Definition: arguments[0]}
			}
			definition, err := a.targetDefinition(c.Context(), target)
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
	c.Flags().BoolVar(&page, "html", false, "print an HTML page")
	c.Flags().BoolVar(&merged, "merged", false, "print the definition merged with all that it extends, with the origin of each part")
	return c
}

// describeMerged prints a definition merged with all that it extends. It need not be valid:
// this helps to understand what validate reports.
func (a *app) describeMerged(name string) error {
	name, err := a.definitionNamed(name)
	if err != nil {
		return err
	}
	file, source, err := check.ReadDefinition(name)
	if err != nil {
		return &usageError{err}
	}
	merged, problems := config.Merge(file, source, check.ReadBase)
	if err := problems.Err(); err != nil {
		return fmt.Errorf("%w\nrun rmctl validate %s to see each problem with its line", err, name)
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
	if target.Agent != nil {
		return "", noDefinition(name)
	}
	return target.Definition, nil
}

func newDefinition(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "definition",
		Short: "Create and format definitions, and set up editors",
		Long:  "Create and format definitions, and set up editors that check and complete them.",
		Example: `  rmctl definition new mysite --like slurm
  rmctl definition fmt ~/.config/rmctl
  rmctl definition schema`,
		RunE: noArguments,
	}
	c.AddCommand(newDefinitionNew(a), newDefinitionFmt(a), newDefinitionSchema(a))
	return c
}

func newDefinitionNew(a *app) *cobra.Command {
	var like, into string
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a definition",
		Long: `Create a definition as NAME.xml in the configuration directory. Existing files stay.

With --like, the new definition extends another one; its comments show what sites usually
change. Otherwise it is a template whose commands you replace with those of your
scheduler. Then add a target with rmctl targets add.`,
		Example: "  rmctl definition new mysite --like slurm\n  rmctl targets add mysite --definition ~/.config/rmctl/mysite.xml\n  rmctl definition new mysched --into .",
		Args:    exactly(1, "NAME"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			folder, err := a.configurationFolder(into)
			if err != nil {
				return err
			}
			if like == "" {
				return a.createDefinition(starter.Whole(folder, arguments[0]))
			}
			name, err := a.definitionNamed(like)
			if err != nil {
				return err
			}
			base, err := a.definition(name)
			if err != nil {
				return err
			}
			return a.createDefinition(starter.Extending(folder, arguments[0], name, base))
		},
	}
	c.Flags().StringVar(&like, "like", "", "`DEFINITION` to extend: a shipped one, a file or a target's")
	c.Flags().StringVar(&into, "into", "", "output directory `DIR` (default: the configuration directory)")
	completeFlag(c, "like", a.completeDefinitions)
	return c
}

// configurationFolder returns a folder, or the configuration folder for none.
func (a *app) configurationFolder(folder string) (string, error) {
	if folder != "" {
		return folder, nil
	}
	folders, err := a.folders()
	return folders.User, err
}

// createDefinition writes a new definition and prints its file.
func (a *app) createDefinition(draft starter.Draft, err error) error {
	if err == nil {
		err = draft.Write()
	}
	if err != nil {
		return &usageError{err}
	}
	return a.printFile(draft.File)
}

func (a *app) printFile(name string) error {
	if a.json {
		return terminal.JSON(a.stdout, map[string]string{"file": name})
	}
	_, err := fmt.Fprintln(a.stdout, printable(name))
	return err
}

func newDefinitionFmt(a *app) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "fmt FILE|DIR...",
		Short: "Format the XML of definitions",
		Long: `Indent the elements of definitions in place, and print the names of changed files.

Comments, texts and the order of elements stay. Files become UTF-8. "-" formats standard
input.`,
		Example: "  rmctl definition fmt mysite.xml\n  rmctl definition fmt --check definitions/\n  rmctl definition fmt - <mysite.xml",
		Args:    atLeast(1, "FILE"),
		RunE: func(c *cobra.Command, arguments []string) error {
			if slices.Equal(arguments, []string{"-"}) {
				return formatStream(c.InOrStdin(), a.stdout)
			}
			files, err := a.definitionsIn(arguments)
			if err != nil {
				return err
			}
			changed := false
			for _, file := range files {
				isChanged, err := definitionformat.File(file, !check)
				if err != nil {
					return &usageError{err}
				}
				if isChanged {
					changed = true
					err = a.printFile(file)
				}
				if err != nil {
					return err
				}
			}
			if check && changed {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "list unformatted files without changing them; exit with 1 if there are any")
	return c
}

func newDefinitionSchema(a *app) *cobra.Command {
	var into string
	c := &cobra.Command{
		Use:   "schema",
		Short: "Write schemas and print the settings of editors",
		Long: `Write the XML schemas (XSD), a RELAX NG schema and a catalog for editors and validators.

rmctl prints the settings for VS Code and Emacs, and the command line of xmllint.`,
		Example: "  rmctl definition schema\n  rmctl definition schema --into schemas",
		Args:    exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			folder, err := a.configurationFolder(into)
			if err != nil {
				return err
			}
			if into == "" {
				folder = filepath.Join(folder, "schemas")
			}
			if folder, err = filepath.Abs(folder); err != nil {
				return err
			}
			if err := editors.Write(folder); err != nil {
				return err
			}
			_, err = fmt.Fprint(a.stdout, printable(editors.Settings(folder)))
			return err
		},
	}
	c.Flags().StringVar(&into, "into", "", "output directory `DIR` (default: schemas in the configuration directory)")
	return c
}

func formatStream(in io.Reader, out io.Writer) error {
	source, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	text, err := definitionformat.Format("standard input", source)
	if err != nil {
		return &usageError{err}
	}
	_, err = out.Write(text)
	return err
}

// noDefinition is the error of what is done to definitions, for a target that has an agent.
func noDefinition(target string) error {
	return usage("target %q has an agent instead of a definition\nrun rmctl describe %s to see what it offers", target, target)
}
