// Package starter writes the first version of a definition.
package starter

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/rms"
)

// whole is a definition of a scheduler that does not exist.
//
//go:embed whole.xml
var whole string

// A Draft is the text of a new definition and the file that it is for.
type Draft struct{ File, Text string }

// validName is what definitions may be called, so that their files and targets can be, too.
var validName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// draftNamed returns a draft in a folder, without a text.
func draftNamed(folder, name string) (Draft, error) {
	if !validName.MatchString(name) {
		return Draft{}, fmt.Errorf("invalid name %q: use letters, digits and . _ -", name)
	}
	if slices.Contains(rms.Names(), name) {
		return Draft{}, fmt.Errorf("rmctl has a definition named %q, and would use that one\nchoose another name, such as my-%s", name, name)
	}
	return Draft{File: filepath.Join(folder, name+".xml")}, nil
}

// Write writes the draft to its file, which must not exist.
func (d Draft) Write() error {
	if err := os.MkdirAll(filepath.Dir(d.File), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(d.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(d.Text)
	return errors.Join(err, file.Close())
}

// Whole returns a definition of all that a scheduler needs, to be adapted.
func Whole(folder, name string) (Draft, error) {
	draft, err := draftNamed(folder, name)
	draft.Text = strings.ReplaceAll(whole, `name="NAME"`, `name="`+name+`"`)
	return draft, err
}

// Extending returns a definition that extends a base, which a shipped name or a file names,
// and changes nothing. Comments have examples of changes that the base allows.
func Extending(folder, name, baseName string, base *config.Definition) (Draft, error) {
	draft, err := draftNamed(folder, name)
	if err != nil {
		return draft, err
	}
	if !slices.Contains(rms.Names(), baseName) {
		if baseName, err = relative(folder, baseName); err != nil {
			return draft, err
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, `<?xml version="1.0" encoding="UTF-8"?>
<!-- Everything else is as in the base. Remove the comments around what you need. -->
<resource-manager-builder xmlns="%s" xmlns:x="%s" name="%s" x:extends="%s">
  <control-data>
`, xmltree.CoreNamespace, xmltree.ExtensionNamespace, name, xmltree.Escape(baseName))
	for _, example := range examples(base) {
		fmt.Fprintf(&text, "    <!-- %s:\n    %s\n    -->\n", example.purpose, strings.ReplaceAll(example.xml, "\n", "\n    "))
	}
	text.WriteString("  </control-data>\n</resource-manager-builder>\n")
	draft.Text = text.String()
	return draft, nil
}

// relative returns how a definition in a folder names another file.
func relative(folder, file string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	if inside, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(inside) {
		return "./" + filepath.ToSlash(inside), nil
	}
	return file, nil
}

// An example is a change that a definition allows.
type example struct{ purpose, xml string }

func examples(base *config.Definition) []example {
	var found []example
	if queue := attributeOf(base, "queue"); accepts(base, queue, someQueue) {
		found = append(found, example{"another default", fmt.Sprintf(`<attribute name="%s"><default>%s</default></attribute>`, xmltree.Escape(queue), someQueue)})
	}
	if account := attributeOf(base, "account"); account != "" {
		found = append(found, example{"a value that users cannot change", fmt.Sprintf(`<attribute name="%s" visible="false"><default>site</default></attribute>`, xmltree.Escape(account))})
	}
	if startsProgram(base.Script) {
		found = append(found, example{"a line of the job script, before the program starts", `<script>
  <line x:before="exec"><arg>module load site</arg></line>
</script>`})
	}
	if base.Command(config.GetJobStatus) != nil {
		found = append(found, example{"more time for a slow scheduler", `<get-job-status x:timeout="2m"/>`})
	}
	return append(found, example{"a variable for all commands", `<x:environment name="PATH" value="/opt/site/bin:/usr/bin:/bin"/>`})
}

// attributeOf returns the attribute that a portable name sets, empty for none.
func attributeOf(d *config.Definition, portable string) string {
	for _, link := range d.PortableLinks(portable) {
		if link.Attribute != "" {
			return link.Attribute
		}
	}
	return ""
}

// someQueue is the name of a queue in an example.
const someQueue = "batch"

// accepts reports whether a definition has an attribute that takes a value.
func accepts(d *config.Definition, name, value string) bool {
	return slices.ContainsFunc(d.Attributes, func(a *config.Attribute) bool {
		return a.Name() == name && a.Check(value, nil) == nil
	})
}

// startsProgram reports whether exactly one line of a script begins with exec.
func startsProgram(script *config.Script) bool {
	if script == nil {
		return false
	}
	count := 0
	for _, line := range script.Lines {
		if len(line.Arguments) > 0 && strings.HasPrefix(strings.TrimSpace(line.Arguments[0].Text), "exec") {
			count++
		}
	}
	return count == 1
}
