package control_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// fieldDefinitions returns the folder of the definitions from the field, which
// are not part of this project.
func fieldDefinitions(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("RMCTL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	folder := filepath.Join(shared, "definitions")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the definitions from the field are not here (%v); RMCTL_SHARED names the folder that holds them", err)
	}
	return folder
}

// Each folder in testdata/render has the name of a PTP definition. A case of it is a
// submission (NAME.values) and the expected script (NAME.script), files and command lines
// (NAME.commands). These were derived from the definition and the description of the format.
func TestPTPDefinitionsRenderAsInPTP(t *testing.T) {
	folder := fieldDefinitions(t)
	cases, err := filepath.Glob(filepath.Join("testdata", "render", "*", "*.values"))
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, file := range cases {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".values"), func(t *testing.T) {
			rendering := render(t, fieldDefinition(t, folder, name), submissionOf(t, file))
			require.Equal(t, expected(t, file, ".script"), scriptText(rendering))
			require.Equal(t, expected(t, file, ".commands"), commandsText(rendering))
		})
	}
}

func TestEveryPTPDefinitionIsRendered(t *testing.T) {
	folder := fieldDefinitions(t)
	files, err := filepath.Glob(filepath.Join(folder, "*.xml"))
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".xml")
		definition := fieldDefinition(t, folder, name)
		require.FileExists(t, filepath.Join("testdata", "render", name, "defaults.values"))
		if definition.Submit(true) != nil {
			require.FileExists(t, filepath.Join("testdata", "render", name, "debug.values"))
		}
	}
}

// oldSpellings rewrites a definition in the syntax of older generations of the format.
var oldSpellings = map[string]func(string) string{
	"test definitions":   func(text string) string { return namespace.ReplaceAllString(text, `xmlns="http://org.eclipse.ptp/rm"`) },
	"current namespace":  func(text string) string { return namespace.ReplaceAllString(text, `xmlns="http://eclipse.org/ptp/rm"`) },
	"published copy":     func(text string) string { return namespace.ReplaceAllString(text, `xmlns="org.eclipse.ptp"`) },
	"no namespace":       func(text string) string { return namespace.ReplaceAllString(text, "") },
	"property":           strings.NewReplacer("<attribute ", "<property ", "</attribute>", "</property>").Replace,
	"saveValueTo":        func(text string) string { return boundTo.ReplaceAllString(text, "${1}saveValueTo=") },
	"isUndefIfMatches":   strings.NewReplacer("isUndefinedIfMatches=", "isUndefIfMatches=").Replace,
	"target type":        strings.NewReplacer("<target ref=", `<target type="attribute" ref=`).Replace,
	"envconfig":          func(text string) string { return customWidget.ReplaceAllString(text, `type="envconfig"`) },
	"byte order mark":    func(text string) string { return "\ufeff" + text },
	"line ends of DOS":   strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n").Replace,
	"unknown attributes": strings.NewReplacer("<script", `<script xmlns:o="urn:other" o:hint="x"`).Replace,
}

var (
	namespace    = regexp.MustCompile(`\bxmlns="[^"]*"`)
	boundTo      = regexp.MustCompile(`(<(?:widget|browse|button-group)\b[^>]*\s)attribute=`)
	customWidget = regexp.MustCompile(`type="custom"\s+typeId="envconfig"`)
)

func TestOldSpellingsRenderTheSame(t *testing.T) {
	folder := fieldDefinitions(t)
	cases, err := filepath.Glob(filepath.Join("testdata", "render", "*"))
	require.NoError(t, err)
	for spelling, rewrite := range oldSpellings {
		changed := 0
		for _, each := range cases {
			name := filepath.Base(each)
			source, err := os.ReadFile(filepath.Join(folder, name+".xml"))
			require.NoError(t, err)
			old := rewrite(string(source))
			if old == string(source) {
				continue
			}
			changed++
			definition, problems := check.Load(name+".xml", []byte(old), nil)
			require.NoError(t, problems.Err(), "%s of %s", spelling, name)
			file := filepath.Join(each, "defaults.values")
			rendering := render(t, definition, submissionOf(t, file))
			require.Equal(t, expected(t, file, ".script"), scriptText(rendering), "%s of %s", spelling, name)
			require.Equal(t, expected(t, file, ".commands"), commandsText(rendering), "%s of %s", spelling, name)
		}
		require.NotZero(t, changed, spelling)
	}
}

func fieldDefinition(t *testing.T, folder, name string) *config.Definition {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(folder, name+".xml"))
	require.NoError(t, err)
	definition, problems := check.Load(name+".xml", source, nil)
	require.NoError(t, problems.Err())
	return definition
}

// expected returns a file of a case; one that is missing is empty.
func expected(t *testing.T, values, extension string) string {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(values, ".values") + extension)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

// submissionOf reads the submission of a case. A line that begins with a double quote is a Go
// string literal.
func submissionOf(t *testing.T, file string) job.Submission {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	s := job.Submission{Executable: "/home/user/bin/prog", Directory: "/home/user/run"}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, `"`) {
			line, err = strconv.Unquote(line)
			require.NoError(t, err)
		}
		kind, rest, _ := strings.Cut(line, " ")
		name, value, _ := strings.Cut(rest, "=")
		switch kind {
		case "-s":
			s.Values = append(s.Values, job.Assignment{Name: name, Value: value})
		case "-e":
			s.Environment.Variables = append(s.Environment.Variables, job.Variable{Name: name, Value: value})
		case "-d":
			s.Directory = rest
		case "--debug":
			s.Debug = true
		case "--script":
			s.Script, s.Executable = filepath.Join(filepath.Dir(file), rest), ""
		case "program":
			s.Executable = rest
		case "argument":
			s.Arguments = append(s.Arguments, rest)
		case "no-arguments":
			s.Arguments = []string{}
		case "#", "":
		default:
			require.Failf(t, "unknown line in a case", "%q", line)
		}
	}
	if s.Script == "" && s.Arguments == nil {
		s.Arguments = []string{"input file", "-x"}
	}
	return s
}

// A place is a fake host for renderings, so that they are the same everywhere.
type place struct{ remote.Connection }

func (place) Info() remote.Info {
	return remote.Info{Transport: "local", User: "user", Host: "host", Home: "/home/user", System: "linux", Arch: "x86_64", Version: "6.1"}
}

func render(t *testing.T, definition *config.Definition, submission job.Submission) *control.Rendering {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Definition: definition, Connection: place{local}}).Render(submission)
	require.NoError(t, err)
	return rendering
}

const stagedScript = "managed_file_for_script"

func scriptText(rendering *control.Rendering) string {
	for _, file := range rendering.Files {
		if file.Name == stagedScript {
			return file.Content
		}
	}
	return ""
}

func commandsText(rendering *control.Rendering) string {
	var text strings.Builder
	for _, file := range rendering.Files {
		fmt.Fprintf(&text, "file %s %s %04o\n", file.Name, file.Path, file.Mode&fs.ModePerm)
		if file.Name != stagedScript {
			text.WriteString(indented(file.Content))
		}
	}
	for _, invocation := range rendering.Commands {
		fmt.Fprintf(&text, "%s %s\n", invocation.Command.Element, invocation.Command.Name)
		if invocation.Directory != "" {
			fmt.Fprintf(&text, "    in %s\n", invocation.Directory)
		}
		if invocation.ReplaceEnvironment {
			fmt.Fprintf(&text, "    keeping only %q\n", invocation.Keep)
		}
		for _, variable := range invocation.Environment {
			if variable.Name != "LC_ALL" { // rmctl's own
				fmt.Fprintf(&text, "    %s=%q\n", variable.Name, variable.Value)
			}
		}
		for _, simple := range invocation.PreLaunch {
			fmt.Fprintf(&text, "    before %q in %s\n", simple.Arguments, simple.Directory)
		}
		fmt.Fprintf(&text, "    %q\n", invocation.Arguments)
		if invocation.HasInput {
			fmt.Fprintf(&text, "    input %q\n", invocation.Input)
		}
		for _, simple := range invocation.PostLaunch {
			fmt.Fprintf(&text, "    after %q in %s\n", simple.Arguments, simple.Directory)
		}
	}
	return text.String()
}

func indented(content string) string {
	var text strings.Builder
	for line := range strings.Lines(content) {
		text.WriteString("    | " + line)
	}
	return text.String()
}

func TestCommandsWithoutArgumentsAreRendered(t *testing.T) {
	controlData := `<attribute name="none"/><start-up-command name="empty"><arg/><pre-launch-cmd exec="${ptp_rm:none#value}"/></start-up-command>`
	rendering := render(t, define(t, controlData), job.Submission{Executable: "x"})
	require.Len(t, rendering.Commands, 1)
	require.Empty(t, rendering.Commands[0].Arguments)
	require.Empty(t, rendering.Commands[0].PreLaunch[0].Arguments)
}

func TestADefinitionThatSubmitsNothingIsRendered(t *testing.T) {
	rendering := render(t, define(t, `<script><line><arg>#!/bin/sh</arg></line></script><start-up-command name="start"><arg>a b</arg></start-up-command>`), job.Submission{Executable: "x"})
	require.Equal(t, "#!/bin/sh\n", rendering.Script)
	require.Len(t, rendering.Commands, 1)
}

func TestAPreviewHasTheFindingsOfStartUpCommands(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="queue"><default>day</default></attribute>
		<script><line><arg>#!/bin/sh</arg></line><line><arg>#Q ${ptp_rm:queue#value} ${ptp_rm:extra#value}</arg></line></script>
		<start-up-command name="look"><arg>echo queue=night extra=found</arg><stdout-parser delim=" ">
			<target ref="queue"><match><expression>queue=(\w+)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
			<target><match><expression>(extra)=(\w+)\s*</expression><set field="name"><entry valueGroup="1"/></set><set field="value"><entry valueGroup="2"/></set></match></target>
		</stdout-parser></start-up-command>`+submitting(`touch ran; echo job 7`, "")))
	given := job.Submission{Executable: "x", Values: []job.Assignment{{Name: "extra", Value: "given"}}}
	_, err := s.Render(given)
	require.ErrorContains(t, err, `has no such attribute`)
	preview, err := s.Preview(t.Context(), given)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\n#Q night given\n", preview.Script)
	require.False(t, s.exists("ran"), "a preview submits")
}
