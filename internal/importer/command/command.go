// Package command is the command line of imports.
package command

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/importer"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/internal/tui"
)

// An Environment is what the command needs of the command line that it belongs to.
type Environment struct {
	Stdout, Stderr io.Writer
	IsJSON         func() bool
	Folders        func() (settings.Folders, error)
	Usage          func(error) error // marks a mistake in how the command is used
	Arguments      cobra.PositionalArgs
}

// NewCommand returns the command.
func NewCommand(e Environment) *cobra.Command {
	var format, name, into string
	var dryRun bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Convert other tools' configuration into targets and definitions",
		Long: `Convert a definition of PTP, a cluster file of Open OnDemand or a site file of Troika into
definitions and targets. FILE may be - for standard input.

rmctl reports what it converted and what it could not. It overwrites nothing.`,
		Example: "  rmctl import torque.xml\n  rmctl import clusters.d/owens.yml --dry-run\n  rmctl import troika.yml --into site",
		Args:    e.Arguments,
		RunE: func(c *cobra.Command, arguments []string) error {
			source, err := e.readImported(c.InOrStdin(), arguments[0])
			if err != nil {
				return err
			}
			result, err := importer.Import(arguments[0], source, importer.Format(format), name)
			if err != nil {
				return e.Usage(err)
			}
			folders := settings.Folders{User: into}
			if into == "" {
				if folders, err = e.Folders(); err != nil {
					return err
				}
			}
			if !dryRun {
				if err := result.Save(c.Context(), folders); err != nil {
					return err
				}
			}
			return e.printImported(arguments[0], folders.User, result, dryRun)
		},
	}
	c.Flags().StringVar(&format, "format", "", "`FORMAT` of FILE: ptp, open-ondemand or troika (default: detected)")
	c.Flags().StringVar(&name, "name", "", "`NAME` of target and definition (default: the name of FILE)")
	c.Flags().StringVar(&into, "into", "", "output directory `DIR` (default: the configuration directory)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the result without writing it")
	var formats []cobra.Completion
	for _, known := range importer.Formats() {
		formats = append(formats, string(known))
	}
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

// maxImported is the largest file that is imported, in bytes.
const maxImported = 17 << 20

func (e *Environment) readImported(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("importing: %w", err)
		}
		defer file.Close() //nolint:errcheck // nothing was written
		from = file
	}
	source, err := io.ReadAll(io.LimitReader(from, maxImported+1))
	if err != nil {
		return nil, fmt.Errorf("importing %s: %w", name, err)
	}
	if len(source) > maxImported {
		return nil, e.Usage(fmt.Errorf("importing %s: larger than %d bytes", name, maxImported))
	}
	return source, nil
}

// importedJSON is an import in JSON; the names are a contract.
type importedJSON struct {
	Format  importer.Format            `json:"format"`
	Folder  string                     `json:"folder"`
	Files   []importer.File            `json:"files"` // with their text after a dry run
	Targets map[string]importer.Target `json:"targets"`
	Report  []importer.Remark          `json:"report"`
}

func (e *Environment) printImported(file, folder string, result *importer.Result, dryRun bool) error {
	if e.IsJSON() {
		files := slices.Clone(result.Files)
		for i := range files {
			if !dryRun {
				files[i].Text = ""
			}
		}
		return terminal.JSON(e.Stdout, importedJSON{result.Format, folder, files, result.TargetsByName(), result.Report})
	}
	if dryRun {
		if err := e.printDryImport(result); err != nil {
			return err
		}
	} else {
		for _, target := range result.Targets {
			if _, err := fmt.Fprintf(e.Stdout, "target %s, definition %s, in %s\n", tui.OneLine(target.Name), tui.OneLine(target.Definition), tui.OneLine(folder)); err != nil {
				return err
			}
		}
	}
	for _, remark := range result.Report {
		place := ""
		if remark.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d: ", file, remark.Line, max(remark.Column, 1))
		}
		if _, err := fmt.Fprintln(e.Stderr, tui.OneLine(fmt.Sprintf("%s%s: %s: %s", place, remark.Kind, remark.Subject, remark.Text))); err != nil {
			return err
		}
	}
	return nil
}

// printDryImport prints the files, each below its name in a comment.
func (e *Environment) printDryImport(result *importer.Result) error {
	text, err := result.TargetsText()
	if err != nil {
		return err
	}
	for _, file := range append(result.Files, importer.File{Name: settings.TargetsFile, Text: text}) {
		shown := strings.TrimRight(file.Text, "\n")
		if _, err := fmt.Fprintf(e.Stdout, "# %s\n%s\n\n", file.Name, tui.Printable(shown)); err != nil {
			return err
		}
	}
	return nil
}
