package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/xmltree"
	"github.com/rmctl/rmctl/rms"
	"github.com/rmctl/rmctl/schemas"
)

// readBase finds bases in the folder of the definition that extends them.
func readBase(name, from string) (string, []byte, error) {
	if source, shipped := rms.Source(name); shipped {
		return name, source, nil
	}
	file := filepath.Join(filepath.Dir(from), name)
	source, err := os.ReadFile(file)
	return filepath.ToSlash(file), source, err
}

// Each folder of testdata/extends has a definition, site.xml, that extends another one, the
// merged definition and the problems.
func TestDefinitionsAreMergedWithTheirBases(t *testing.T) {
	files, err := filepath.Glob("testdata/extends/*/site.xml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			_, problems := check.Load(file, source, readBase)
			var text strings.Builder
			for _, problem := range problems {
				text.WriteString(problem.Excerpt() + "\n")
			}
			requireGolden(t, filepath.Join(folder, "problems.txt"), text.String())

			merged, problems := config.Merge(file, source, readBase)
			if problems.Err() != nil {
				require.Nil(t, merged)
				return
			}
			requireGolden(t, filepath.Join(folder, "merged.xml"), merged.XML)
		})
	}
}

// requireGolden compares with a file that is absent where nothing is expected.
func requireGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.RemoveAll(file))
		if got != "" {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
	}
	want, err := os.ReadFile(file)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	require.Equal(t, string(want), got)
}

// withoutPositions returns a definition without the positions of its elements.
func withoutPositions(t *testing.T, d *config.Definition) string {
	t.Helper()
	var text strings.Builder
	merged := *d
	merged.Files, merged.Sources = nil, nil
	write(t, &text, reflect.ValueOf(&merged), 0)
	return text.String()
}

func write(t *testing.T, text *strings.Builder, v reflect.Value, depth int) {
	require.Less(t, depth, 100)
	if v.Kind() == reflect.Pointer && v.Type() == reflect.TypeFor[*attribute.Attribute]() {
		a := v.Interface().(*attribute.Attribute)
		for _, name := range attribute.FieldNames() {
			field, _ := attribute.ParseField(name)
			fmt.Fprintf(text, "%s=%q ", name, attribute.Text(a.Field(field)))
		}
		if validator := a.Validator; validator != nil {
			if validator.Regex != nil {
				fmt.Fprintf(text, "%s %d ", validator.Regex.Text, validator.Regex.Flags)
			}
			fmt.Fprintf(text, "%v %+v %q", validator.Ranges, validator.File, validator.Message)
		}
		text.WriteString("\n")
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			text.WriteString("nil\n")
			return
		}
		write(t, text, v.Elem(), depth+1)
	case reflect.Slice:
		fmt.Fprintf(text, "%d:\n", v.Len())
		for i := range v.Len() {
			write(t, text, v.Index(i), depth+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[config.Position]() {
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				text.WriteString(field.Name + " ")
				write(t, text, v.Field(i), depth+1)
			}
		}
	default:
		fmt.Fprintf(text, "%#v\n", v.Interface())
	}
}

// requireSameWhenMerged requires that a printed definition is the same one, and as valid. Only
// the schema is checked, since other checks take long and see the same.
func requireSameWhenMerged(t *testing.T, file string, source []byte) {
	t.Helper()
	original, err := config.Read(file, source, readBase)
	require.NoError(t, err, file)
	merged, problems := config.Merge(file, source, readBase)
	require.NoError(t, problems.Err(), file)
	reloaded, err := config.Read("merged.xml", []byte(merged.XML), nil)
	require.NoError(t, err, file)
	require.Equal(t, withoutPositions(t, original), withoutPositions(t, reloaded), file)
	requireValidBySchema(t, merged, file)
}

func requireValidBySchema(t *testing.T, merged *config.Merged, name string) {
	t.Helper()
	document, err := xmltree.Read(name, []byte(merged.XML))
	require.NoError(t, err, name)
	for _, violation := range schemas.Validate(document.Root) {
		require.Equal(t, "misplaced-element", violation.Code, "%s: %v", name, violation)
	}
}

func TestStatesOfASiteGoBeforeThoseOfTheBase(t *testing.T) {
	words := func(states string) []string {
		source := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site" x:extends="slurm">
			<control-data><x:reader name="scontrol">` + states + `</x:reader></control-data></resource-manager-builder>`
		definition, err := config.Read("site.xml", []byte(source), readBase)
		require.NoError(t, err)
		var words []string
		for _, row := range definition.Command(config.GetJobStatus).Read.States.Rows {
			words = append(words, strings.Join(row.Words, " "))
		}
		return words
	}
	base := words("")
	require.Equal(t, append([]string{"PROLOGUE", "EPILOGUE"}, base...),
		words(`<x:states><x:state is="RUNNING" words="PROLOGUE"/><x:state is="RUNNING" words="EPILOGUE"/></x:states>`))
	require.Equal(t, []string{"R"}, words(`<x:states of="Other"><x:state is="RUNNING" words="R"/></x:states>`), "a table of its own")
}

func TestThePrintedDefinitionIsTheSameDefinition(t *testing.T) {
	files, err := filepath.Glob("testdata/extends/*/site.xml")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		if _, problems := check.Load(file, source, readBase); problems.Err() == nil {
			requireSameWhenMerged(t, file, source)
		}
	}
	for _, name := range rms.Names() {
		source, _ := rms.Source(name)
		requireSameWhenMerged(t, name, source)
	}
}

func TestPTPDefinitionsArePrintedUnchanged(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "definitions"), "*.xml"))
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		requireSameWhenMerged(t, file, source)
	}
}

func TestExtendingNeedsAReaderOfBases(t *testing.T) {
	source := []byte(`<resource-manager-builder xmlns:x="urn:rmctl:definition:1" x:extends="slurm"/>`)
	definition, problems := check.Load("site.xml", source, nil)
	require.Nil(t, definition)
	require.Len(t, problems, 1)
	require.Equal(t, "unknown-base", problems[0].Code)
}

func TestChainsOfBasesEnd(t *testing.T) {
	deep := func(last int) config.Diagnostics {
		base := func(_, from string) (string, []byte, error) {
			next := from + "x"
			extends := `x:extends="next"`
			if len(next) == last {
				extends = ""
			}
			return next, []byte(`<resource-manager-builder xmlns:x="urn:rmctl:definition:1" ` + extends + `/>`), nil
		}
		_, problems := check.Load("", []byte(`<resource-manager-builder xmlns:x="urn:rmctl:definition:1" x:extends="x"/>`), base)
		return problems
	}
	require.Empty(t, deep(16))
	problems := deep(16 + 1)
	require.Len(t, problems, 1)
	require.Equal(t, "too-many-bases", problems[0].Code)
	require.Equal(t, strings.Repeat("x", 16), problems[0].File)
}

// The list in docs/write/adapt.md shows how to make common changes.
func TestDocumentedChangesOfABaseWork(t *testing.T) {
	documentation, err := os.ReadFile("../docs/write/adapt.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(documentation), "## Common changes\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n## ")
	rows := regexp.MustCompile("(?m)^- ([^:]*): `([^`]*)`$").FindAllStringSubmatch(list, -1)
	require.Greater(t, len(rows), 10)
	base := func(name, _ string) (string, []byte, error) {
		if source, shipped := rms.Source(name); shipped {
			return name, source, nil
		}
		return name, extending("slurm", `<launch-tab><dynamic><title>Basic Settings</title></dynamic></launch-tab>`), nil
	}
	for _, row := range rows {
		change := strings.ReplaceAll(row[2], "…", "")
		if strings.HasPrefix(change, "<line") {
			change = "<script>" + change + "</script>"
		}
		merged, problems := config.Merge("site.xml", extending("with-form", change), base)
		require.Empty(t, problems, row[1])
		require.NotEmpty(t, merged.Parts)
		requireValidBySchema(t, merged, row[1])
	}
}

func extending(base, controlData string) []byte {
	return fmt.Appendf(nil, `<resource-manager-builder xmlns:x="urn:rmctl:definition:1" name="n" x:extends="%s"><control-data>%s</control-data></resource-manager-builder>`, base, controlData)
}

// Merging any two documents ends, and the printed result reads back the same.
func FuzzMerge(f *testing.F) {
	base, err := os.ReadFile("testdata/extends/base.xml")
	require.NoError(f, err)
	sites, err := filepath.Glob("testdata/extends/*/site.xml")
	require.NoError(f, err)
	for _, site := range sites {
		source, err := os.ReadFile(site)
		require.NoError(f, err)
		f.Add(source, base)
	}
	f.Fuzz(func(t *testing.T, site, base []byte) {
		read := func(name, from string) (string, []byte, error) {
			return from + "<", base, nil
		}
		_, problems := check.Load("site.xml", site, read)
		merged, mergeProblems := config.Merge("site.xml", site, read)
		require.True(t, merged != nil || mergeProblems.Err() != nil)
		if problems.Err() != nil {
			return
		}
		reread, again := check.Load("merged.xml", []byte(merged.XML), nil)
		require.NoError(t, again.Err(), "%s", merged.XML)
		original, _ := check.Load("site.xml", site, read)
		require.Equal(t, withoutPositions(t, original), withoutPositions(t, reread))
	})
}
