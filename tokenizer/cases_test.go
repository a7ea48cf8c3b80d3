package tokenizer_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/initial"
	"github.com/rmctl/rmctl/tokenizer"
)

// A goldenCase is a folder with a definition, an environment, a stream and the expected result.
type goldenCase struct {
	name       string
	definition *config.Definition
	initial    initial.Environment
	stream     []byte
	expected   expectation
}

type expectation struct {
	Status struct {
		State string `json:"state"`
	} `json:"status"`
	Attributes map[string]map[string]any `json:"attributes"`
	Discovered map[string]map[string]any `json:"discovered"`
}

// notSupported names the cases that need features javaregex does not support. They run once it does.
var notSupported = map[string]string{
	"353-regex-flag-canon-eq":  "CANON_EQ",
	"368-regex-unicode-script": "a script",
	"388-regex-X-N":            `\X`,
}

func TestGoldenCases(t *testing.T) {
	for _, folder := range goldenFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) { readGoldenCase(t, folder).run(t) })
	}
}

func TestDocumentedExamples(t *testing.T) {
	folders, err := exampleFolders()
	if err != nil {
		t.Skipf("the documented examples are not part of the project and not here: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) { readGoldenCase(t, folder).run(t) })
	}
}

// goldenFolders returns the folders of the project's own cases.
func goldenFolders(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "tokenizer", "*", "tokenizer.xml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return foldersOf(files)
}

// exampleFolders returns the folders of the documented examples. They lie next to the repository or in
// RMCTL_SHARED.
func exampleFolders() ([]string, error) {
	shared := os.Getenv("RMCTL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	cases := filepath.Join(shared, "tokenizer-cases")
	if _, err := os.Stat(cases); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(cases, "example-*", "tokenizer.xml"))
	return foldersOf(files), err
}

func foldersOf(files []string) []string {
	folders := make([]string, 0, len(files))
	for _, file := range files {
		folders = append(folders, filepath.Dir(file))
	}
	return folders
}

func readGoldenCase(t testing.TB, folder string) goldenCase {
	source, err := os.ReadFile(filepath.Join(folder, "tokenizer.xml"))
	require.NoError(t, err)
	c := goldenCase{name: filepath.Base(folder)}
	c.definition, _ = check.Load(filepath.Join(folder, "tokenizer.xml"), source, nil)
	require.NotNil(t, c.definition)
	readJSON(t, filepath.Join(folder, "env.json"), &c.initial)
	readJSON(t, filepath.Join(folder, "expected.json"), &c.expected)
	c.stream = readStream(t, folder)
	return c
}

func readJSON(t testing.TB, file string, into any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), file)
}

func readStream(t testing.TB, folder string) []byte {
	file := filepath.Join(folder, "input.txt")
	if stream, err := os.ReadFile(file); err == nil {
		return stream
	}
	packed, err := os.Open(file + ".gz")
	require.NoError(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	require.NoError(t, err)
	stream, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	return stream
}

// parser returns the parser that the case is about.
func (c goldenCase) parser(t testing.TB) *config.Parser {
	_, parser, err := c.definition.Select(c.initial.Selector)
	require.NoError(t, err)
	return parser
}

// environment returns the attributes as they are before the run.
func (c goldenCase) environment() *attribute.Environment {
	environment := attribute.NewEnvironment()
	if c.initial.UseDefinition {
		for _, one := range c.definition.Attributes {
			defined := one.Clone()
			if defined.Value() == nil {
				defined.SetValue(defined.Field(attribute.FieldDefault))
			}
			environment.Define(defined.Name(), defined)
		}
	}
	c.initial.Define(environment)
	return environment
}

// run feeds the stream in one piece and compares the outcome with the expected one.
func (c goldenCase) run(t *testing.T) {
	environment := c.environment()
	run, err := tokenizer.Options{}.Compile(c.parser(t), environment, c.initial.Job)
	if err == nil {
		err = run.Run(bytes.NewReader(c.stream))
	}
	if construct := notSupported[c.name]; construct != "" && err != nil {
		require.ErrorContains(t, err, construct+" is not supported")
		t.Skipf("javaregex does not support %s: %v", construct, err)
	}
	if c.expected.Status.State != "OK" {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)

	var actual expectation
	text, err := json.Marshal(environment)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &actual))
	require.Equal(t, comparable(c.expected.Attributes, actual.Attributes), comparable(actual.Attributes, nil))
	require.Equal(t, comparable(c.expected.Discovered, actual.Discovered), comparable(actual.Discovered, nil))
}

var replacements = regexp.MustCompile("\ufffd+")

// comparable removes permitted differences: null, unset and absent fields, and the number of U+FFFD for
// broken bytes.
func comparable(attributes, actual map[string]map[string]any) map[string]map[string]any {
	kept := map[string]map[string]any{}
	for key, fields := range attributes {
		kept[key] = map[string]any{}
		unset, _ := fields["unset"].([]any)
		for name, value := range fields {
			_, isThere := actual[key][name]
			if name == "unset" || value == nil || contains(unset, name) && !isThere {
				continue
			}
			kept[key][name] = foldReplacements(value)
		}
	}
	return kept
}

func contains(names []any, name string) bool {
	for _, each := range names {
		if each == name {
			return true
		}
	}
	return false
}

func foldReplacements(value any) any {
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, '\ufffd') {
			return replacements.ReplaceAllString(v, "\ufffd")
		}
	case []any:
		for i := range v {
			v[i] = foldReplacements(v[i])
		}
	}
	return value
}
