package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/importer"
	"github.com/rmctl/rmctl/internal/settings"
)

func newImport(a *app) *cobra.Command {
	var format, name, output string
	var dryRun bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Make targets and definitions of files of other programs",
		Long: `import reads a definition written for PTP, a cluster file of Open OnDemand or a site
file of Troika. It writes definitions, and targets into targets.toml, and reports what
was carried over and what could not be. What exists is never overwritten.
FILE may be - for standard input.`,
		Example: "  rmctl import torque.xml\n  rmctl import clusters.d/owens.yml --dry-run\n  rmctl import troika.yml --output site",
		Args:    exactly(1, "FILE"),
		RunE: func(c *cobra.Command, arguments []string) error {
			source, err := readImported(c.InOrStdin(), arguments[0])
			if err != nil {
				return err
			}
			result, err := importer.Import(arguments[0], source, importer.Format(format), name)
			if err != nil {
				return &usageError{err}
			}
			if output == "" {
				if output, err = a.configuration(); err != nil {
					return err
				}
			}
			if !dryRun {
				if err := saveImported(c.Context(), output, result); err != nil {
					return err
				}
			}
			return a.printImported(arguments[0], output, result, dryRun)
		},
	}
	c.Flags().StringVar(&format, "format", "", "the `FORMAT` of FILE: ptp, open-ondemand or troika; found out without it")
	c.Flags().StringVar(&name, "name", "", "the `NAME` of target and definition, instead of what FILE says")
	c.Flags().StringVarP(&output, "output", "o", "", "the folder `DIR` to write into, instead of the configuration folder")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be written, and write nothing")
	var formats []cobra.Completion
	for _, known := range importer.Formats() {
		formats = append(formats, string(known))
	}
	completeFlag(c, "format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// maxImported is the size up to which a file is read.
const maxImported = 17 << 20

func readImported(stdin io.Reader, name string) ([]byte, error) {
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
		return nil, &usageError{fmt.Errorf("importing %s: it has more than %d bytes", name, maxImported)}
	}
	return source, nil
}

// importedTarget is a target as targets.toml has it.
type importedTarget struct {
	Definition string            `toml:"definition" json:"definition"`
	Transport  string            `toml:"transport,omitempty" json:"transport"`
	Host       string            `toml:"host,omitempty" json:"host,omitempty"`
	Attributes map[string]string `toml:"attributes,omitempty" json:"attributes,omitempty"`
}

// targetsText returns the targets as they are added to targets.toml.
func targetsText(targets []importer.Target) ([]byte, error) {
	tables := map[string]importedTarget{}
	for _, target := range targets {
		tables[target.Name] = importedTarget{target.Definition, target.Transport, target.Host, target.Attributes}
	}
	text, err := toml.Marshal(map[string]any{"targets": tables})
	if err != nil {
		return nil, fmt.Errorf("writing targets: %w", err)
	}
	// The table that holds the others may stand in the file already.
	return bytes.TrimPrefix(text, []byte("[targets]\n")), nil
}

// saveImported writes the definitions, then the targets. Nothing is written where
// something of it exists, and nothing stays where something cannot be written.
func saveImported(ctx context.Context, folder string, result *importer.Result) (err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	known, err := settings.LoadTargets(folder)
	if err != nil {
		return err
	}
	for _, target := range result.Targets {
		if there, err := known.Find(target.Name); err == nil && !there.Shipped {
			return fmt.Errorf("importing: there is a target %q already in %s; --name gives another name", target.Name, filepath.Join(folder, settings.TargetsFile))
		}
	}
	for _, file := range result.Files {
		if _, err := os.Lstat(filepath.Join(folder, file.Name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("importing: %s is there already; --name gives another name", filepath.Join(folder, file.Name))
		}
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, file := range result.Files {
		path := filepath.Join(folder, file.Name)
		if err := writeNew(path, file.Text); err != nil {
			return err
		}
		written = append(written, path)
	}
	var targets []settings.Target
	for _, target := range result.Targets {
		targets = append(targets, settings.Target{Name: target.Name, Definition: target.Definition, Transport: target.Transport, Host: target.Host, Attributes: target.Attributes})
	}
	if err := settings.AddTargets(ctx, folder, targets...); err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	return nil
}

func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("importing: writing %s: %w", path, err), os.Remove(path))
	}
	return nil
}

// importedJSON is how an import is printed as JSON; the names are a contract.
type importedJSON struct {
	Format  importer.Format           `json:"format"`
	Folder  string                    `json:"folder"`
	Files   []importedFileJSON        `json:"files"`
	Targets map[string]importedTarget `json:"targets"`
	Report  []remarkJSON              `json:"report"`
}

type importedFileJSON struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"` // with --dry-run
}

type remarkJSON struct {
	Kind    importer.Kind `json:"kind"` // carried, added, changed or lost
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Subject string        `json:"subject"`
	Text    string        `json:"text"`
}

func (a *app) printImported(file, folder string, result *importer.Result, dryRun bool) error {
	if a.json {
		shown := importedJSON{Format: result.Format, Folder: folder, Targets: map[string]importedTarget{}}
		for _, one := range result.Files {
			text := ""
			if dryRun {
				text = string(one.Text)
			}
			shown.Files = append(shown.Files, importedFileJSON{one.Name, text})
		}
		for _, target := range result.Targets {
			shown.Targets[target.Name] = importedTarget{target.Definition, target.Transport, target.Host, target.Attributes}
		}
		for _, remark := range result.Report {
			shown.Report = append(shown.Report, remarkJSON{remark.Kind, remark.Line, remark.Column, remark.Subject, remark.Text})
		}
		return printJSON(a.stdout, shown)
	}
	if dryRun {
		if err := a.printDryImport(result); err != nil {
			return err
		}
	} else {
		for _, target := range result.Targets {
			if _, err := fmt.Fprintf(a.stdout, "target %s, definition %s, in %s\n", oneLine(target.Name), oneLine(target.Definition), oneLine(folder)); err != nil {
				return err
			}
		}
	}
	for _, remark := range result.Report {
		place := ""
		if remark.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d: ", file, remark.Line, max(remark.Column, 1))
		}
		if _, err := fmt.Fprintln(a.stderr, oneLine(fmt.Sprintf("%s%s: %s: %s", place, remark.Kind, remark.Subject, remark.Text))); err != nil {
			return err
		}
	}
	return nil
}

// printDryImport prints the files, each below its name in a comment.
func (a *app) printDryImport(result *importer.Result) error {
	text, err := targetsText(result.Targets)
	if err != nil {
		return err
	}
	for _, file := range append(result.Files, importer.File{Name: settings.TargetsFile, Text: text}) {
		shown := strings.TrimRight(string(file.Text), "\n")
		if _, err := fmt.Fprintf(a.stdout, "# %s\n%s\n\n", file.Name, printable(shown)); err != nil {
			return err
		}
	}
	return nil
}
