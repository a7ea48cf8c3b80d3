package document_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/internal/document"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

// whole is a submission with every key that documents support.
var whole = job.Submission{
	Tab: "Basic", Executable: "./a.out", Arguments: []string{"", "a b", "$(x)\n\"'"}, Directory: "/tmp/x y", Script: "/home/job.sh", Debug: true,
	Values: []job.Assignment{
		{Name: "", Value: "no name"}, {Name: "list", Value: "a"}, {Name: "list", Value: ""}, {Name: "list", Value: "b"}, {Name: "none", Value: ""}, {Name: "number", Value: "-7"}, {Name: "with.dots", Value: "x"}, {Name: "yes", Value: "true"}, {Name: "ümläut", Value: "<\u0001\t>"},
	},
	Environment: job.Environment{Variables: []job.Variable{{Name: "A.B", Value: ""}, {Name: "PATH", Value: "/x:$PATH"}, {Name: "QUOTES", Value: `"'\`}}},
}

const wholeJSON = `{"tab": "Basic", "executable": "./a.out", "arguments": ["", "a b", "$(x)\n\"'"], "directory": "/tmp/x y", "script": "/home/job.sh", "debug": true,
	"attributes": {"": "no name", "list": ["a", "", "b"], "none": [], "number": -7, "with.dots": "x", "yes": true, "ümläut": "<\u0001\t>"},
	"environment": {"A.B": "", "PATH": "/x:$PATH", "QUOTES": "\"'\\"}}`

const wholeTOML = `tab = 'Basic'
executable = './a.out'
arguments = ['', 'a b', "$(x)\n\"'"]
directory = '/tmp/x y'
script = '/home/job.sh'
debug = true

[attributes]
'' = 'no name'
list = ['a', '', 'b']
none = []
number = -7
with.dots = 'x'
yes = true
"ümläut" = "<\u0001\t>"
[environment]
A.B = ''
PATH = '/x:$PATH'
QUOTES = "\"'\\"
`

const wholeLists = `tab = 'Basic'
executable = './a.out'
arguments = ['', 'a b', "$(x)\n\"'"]
directory = '/tmp/x y'
script = '/home/job.sh'
debug = true
attributes = {'' = 'no name'}
set = ['list=a', 'list=', 'list=b', 'none=', 'number=-7', 'with.dots=x', 'yes=true', "ümläut=<\u0001\t>"]
environment = ['A.B=', 'PATH=/x:$PATH', "QUOTES=\"'\\"]
`

// read reads only a submission.
func read(parse func([]byte) (*document.Table, error), text string) (job.Submission, *document.Table, error) {
	table, err := parse([]byte(text))
	if err != nil {
		return job.Submission{}, nil, err
	}
	s := table.Submission()
	return s, table, table.Err()
}

func TestASubmissionIsTheSameInAllFormats(t *testing.T) {
	for form, text := range map[string]string{"TOML": wholeTOML, "lists": wholeLists} {
		s, _, err := read(document.ParseTOML, text)
		require.NoError(t, err, form)
		require.Equal(t, whole, s, form)
	}
	s, _, err := read(document.ParseJSON, wholeJSON)
	require.NoError(t, err)
	require.Equal(t, whole, s)
}

func TestASubmissionSurvivesWritingAndReading(t *testing.T) {
	for name, encode := range encodings {
		s, _, err := encode(t, whole, nil)
		require.NoError(t, err, name)
		require.Equal(t, whole, s, name)
	}
	empty, err := document.EncodeTOML(document.Settings(job.Submission{Tag: "tag"}, nil))
	require.NoError(t, err)
	require.Empty(t, empty)
	empty, err = document.EncodeJSON(document.Settings(job.Submission{Hosted: true}, nil))
	require.NoError(t, err)
	require.Equal(t, "{}", string(empty))
	_, err = document.EncodeTOML(document.Settings(job.Submission{Values: []job.Assignment{{Name: "a", Value: "x"}, {Name: "a", Value: "\xff"}}}, nil))
	require.EqualError(t, err, `attributes "a": "\xff" is not UTF-8`)
}

func TestValuesKeepTheirTypes(t *testing.T) {
	s, table, err := read(document.ParseJSON, wholeJSON)
	require.NoError(t, err)
	written, err := document.EncodeJSON(document.Settings(s, table))
	require.NoError(t, err)
	require.JSONEq(t, wholeJSON, string(written))
	s.Values = append(s.Values, job.Assignment{Name: "number", Value: "8"})
	written, err = document.EncodeJSON(document.Settings(s, table))
	require.NoError(t, err)
	require.Contains(t, string(written), `"number":["-7","8"]`)
}

func TestErrorsInJSONAreReported(t *testing.T) {
	for text, reason := range map[string]string{
		``:                                "there is no object",
		`null`:                            "it is null, but must be an object",
		`[{}]`:                            "it is a list, but must be an object",
		`{"executable": "x"`:              "unexpected EOF",
		`{} {}`:                           "there is more than one object",
		`{"a": 1, "b": {"c": 1, "c": 2}}`: `duplicate key "c"`,
		`{"tab": "x", "tab": "y"}`:        `duplicate key "tab"`,
		`{"executables": 1}`: `unknown setting "executables"
did you mean "executable"?`,
		`{"colour": 1}`: `unknown setting "colour"
choose one of tab, executable, arguments, directory, script, debug, track, rank_from, attributes, set, environment`,
		`{"executable": 5}`:                         `"executable" is an integer, but must be a string`,
		`{"executable": {"a": 5}}`:                  `"executable" is a table, but must be a string`,
		`{"debug": "true"}`:                         `"debug" is a string, but must be true or false`,
		`{"arguments": "x"}`:                        `"arguments" is a string, but must be a list of strings`,
		`{"arguments": [["x"]]}`:                    "a value cannot be a list here",
		`{"arguments": ["a\u0000"]}`:                `"a\x00" holds a zero byte, which no program can be given`,
		`{"attributes": 5}`:                         `"attributes" is an integer, but must be a table or a list of name=value`,
		`{"attributes": {"a": {}}}`:                 "a value cannot be a table here",
		`{"attributes": {"a": [{}]}}`:               "a value cannot be a table here",
		`{"attributes": {"a": {"b": 1}, "a.b": 1}}`: `attribute "a.b" has a value already`,
		`{"attributes": ["a"]}`:                     `"a": write name=value`,
		`{"environment": {"A=B": ""}}`:              `"A=B" cannot name a variable`,
		`{"environment": {"": ""}}`:                 `"" cannot name a variable`,
		`{"environment": {"A": ["x"]}}`:             "a value cannot be a list here",
		`{"environment": ["=x"]}`:                   `"=x": write name=value`,
		`{"a":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`: "nested more than 100 levels deep",
		`{"a":` + strings.Repeat("[", 20000):                                "exceeded max depth",
	} {
		_, _, err := read(document.ParseJSON, text)
		require.ErrorContains(t, err, reason, "%.80s", text)
		var mistake *document.Error
		require.ErrorAs(t, err, &mistake)
	}
}

func TestErrorsInTOMLHaveTheirPlace(t *testing.T) {
	for text, reason := range map[string]string{
		"a = 1\na = 2":                           "line 2, column 1: ",
		"\n[[attributes]]\na = 1":                `line 2, column 3: "attributes" is a list of tables, in double brackets, but must be a table or a list of name=value`,
		"set = [\n'a']":                          `line 2, column 1: "a": write name=value`,
		"[environment]\n'A=B' = 1":               `line 2, column 1: "A=B" cannot name a variable`,
		"arguments = [ 1.5 ]":                    `line 1, column 15: a value cannot be a number with a fraction: write it in quotes, "1.5"`,
		"[attributes]\na = { }":                  "line 2, column 5: a value cannot be a table here",
		"a" + strings.Repeat(".a", 101) + " = 1": "nested more than 100 levels deep",
		"[a" + strings.Repeat(".a", 101) + "]":   "nested more than 100 levels deep",
		"a = " + strings.Repeat("[", 102) + strings.Repeat("]", 102): "nested more than 100 levels deep",
	} {
		_, _, err := read(document.ParseTOML, text)
		require.ErrorContains(t, err, reason, "%.80s", text)
		var mistake *document.Error
		require.ErrorAs(t, err, &mistake)
	}
}

func TestANullCountsAsNoValue(t *testing.T) {
	s, _, err := read(document.ParseJSON, `{"tab": null, "arguments": null, "debug": null, "attributes": null, "environment": {"A": null}}`)
	require.NoError(t, err)
	require.Equal(t, job.Submission{Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: ""}}}}, s)
}

func TestOtherReadersCanReadMoreKeys(t *testing.T) {
	table, err := document.ParseTOML([]byte("executable = 'x'\ntarget = 'y'\nreplace = true\ndo = 1\nedits = [{id = 'a'}, {idd = 'b'}]\n[[steps]]\nafter = 1\n[[steps]]\n[steps.expect]\na = 1\n"))
	require.NoError(t, err)
	require.Equal(t, "y", table.Text("target"))
	require.True(t, table.Flag("replace"))
	require.Equal(t, "x", table.Submission().Executable)
	require.False(t, table.Has("button"))
	edits, steps := table.Tables("edits"), table.Tables("steps")
	require.Len(t, edits, 2)
	require.Equal(t, "a", edits[0].Text("id"))
	require.NoError(t, edits[0].Err())
	require.Empty(t, edits[1].Text("id"))
	require.EqualError(t, edits[1].Err(), `line 5, column 23: unknown setting "idd"
did you mean "id"?`)
	require.Len(t, steps, 2)
	steps[1].Leave("expect")
	require.NoError(t, steps[1].Err())
	require.Error(t, table.Err())
	table.Leave("do")
	table.Refuse("target", "it is elsewhere")
	require.ErrorContains(t, table.Err(), "line 2, column 1: it is elsewhere")
}

type encoding func(t *testing.T, s job.Submission, source *document.Table) (job.Submission, *document.Table, error)

// encodings write a submission and read it again.
var encodings = map[string]encoding{
	"JSON": func(t *testing.T, s job.Submission, source *document.Table) (job.Submission, *document.Table, error) {
		text, err := document.EncodeJSON(document.Settings(s, source))
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		return read(document.ParseJSON, string(text))
	},
	"TOML": func(t *testing.T, s job.Submission, source *document.Table) (job.Submission, *document.Table, error) {
		text, err := document.EncodeTOML(document.Settings(s, source))
		require.NoError(t, err)
		return read(document.ParseTOML, string(text))
	},
	"lists": func(t *testing.T, s job.Submission, _ *document.Table) (job.Submission, *document.Table, error) {
		named := s
		named.Values = nil
		for _, value := range s.Values {
			if value.Name != "" && !strings.Contains(value.Name, "=") { // which a list cannot hold
				named.Values = append(named.Values, value)
			}
		}
		text, err := document.EncodeTOML(document.Lists(named))
		require.NoError(t, err)
		listed, table, err := read(document.ParseTOML, string(text))
		require.Equal(t, named.Values, listed.Values)
		listed.Values = s.Values
		return listed, table, err
	},
}

// FuzzSubmission checks that a document in TOML and in JSON gives the same submission, and that a
// submission survives writing and reading.
func FuzzSubmission(f *testing.F) {
	for _, seed := range []string{
		wholeTOML, wholeLists, wholeJSON, "", "{}",
		"arguments = ['a', \"b\\n\", 5]\nexecutable = 'x'\n[attributes]\na.b = [true]\nc = { d = 0x1f }\n[environment]\nX = ''",
		"tab = \"\"\"\nx\"\"\"\n[[attributes]]\n[attributes.a]\nb = 1979-05-27", `{"attributes":{"a":[1e3,"b",null,true]},"environment":["A=b","A=c"]}`,
		`{"attributes":{"a":1,"A":{"b.c":[],"b":{"c":2}}},"set":["a=2","=x"],"debug":null}`, "arguments = [1, inf, 1.5]\ncolour = 1\n'a.b'.c = 2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parse := document.ParseTOML
		if strings.HasPrefix(text, "{") {
			parse = document.ParseJSON
		}
		s, table, err := read(parse, text)
		if same, known := inJSON(t, text); known {
			other, _, otherErr := read(document.ParseJSON, same)
			require.Equal(t, err == nil, otherErr == nil, "%v, %v: %s", err, otherErr, same)
			if err == nil {
				require.Equal(t, s, other, same)
			}
		}
		if err != nil {
			var mistake *document.Error
			require.ErrorAs(t, err, &mistake)
			return
		}
		s, _, err = encodings["JSON"](t, s, nil) // sorts it like tables
		require.NoError(t, err)
		for name, encode := range encodings {
			for _, source := range []*document.Table{nil, table} {
				again, _, err := encode(t, s, source)
				require.NoError(t, err, name)
				require.Equal(t, s, again, name)
			}
		}
	})
}

// inJSON converts a TOML document to JSON; known is false for invalid TOML and for values that JSON does
// not have.
func inJSON(t *testing.T, source string) (text string, known bool) {
	var values map[string]any
	if toml.Unmarshal([]byte(source), &values) != nil || !isInJSON(values) {
		return "", false
	}
	written, err := json.Marshal(values)
	require.NoError(t, err)
	return string(written), true
}

func isInJSON(value any) bool {
	switch value := value.(type) {
	case string, bool, int64:
		return true
	case []any:
		return !slices.ContainsFunc(value, func(item any) bool { return !isInJSON(item) })
	case map[string]any:
		return isInJSON(slices.Collect(maps.Values(value)))
	}
	return false
}
