package control_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
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

// Each file in testdata/render is named after a definition from the field. Its
// head says, after "-s", "-e" and "debug", what is submitted by it; the rest is
// what comes of that, checked against the description of the format. After a
// change, RMCTL_UPDATE=1 writes them anew, to be read before they are kept.
func TestDefinitionsFromTheFieldRenderAsTheReferenceDoes(t *testing.T) {
	folder := fieldDefinitions(t)
	goldens, err := filepath.Glob(filepath.Join("testdata", "render", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	for _, golden := range goldens {
		t.Run(strings.TrimSuffix(filepath.Base(golden), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(golden)
			require.NoError(t, err)
			head, want, found := strings.Cut(string(text), "\n---\n")
			require.True(t, found, "a line --- ends the head")
			name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(golden), ".txt"), "+")
			source, err := os.ReadFile(filepath.Join(folder, name+".xml"))
			require.NoError(t, err)
			definition, problems := config.Load(name+".xml", source)
			require.NoError(t, problems.Err())
			got := rendered(t, definition, submissionOf(t, head))
			if os.Getenv("RMCTL_UPDATE") != "" {
				require.NoError(t, os.WriteFile(golden, []byte(head+"\n---\n"+got), 0o600))
			}
			require.Equal(t, want, got)
		})
	}
}

func TestEveryDefinitionFromTheFieldThatSubmitsIsRendered(t *testing.T) {
	folder := fieldDefinitions(t)
	files, err := filepath.Glob(filepath.Join(folder, "*.xml"))
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		definition, problems := config.Load(filepath.Base(file), source)
		require.NoError(t, problems.Err())
		if definition.Submit(false) == nil {
			continue
		}
		_, err = os.Stat(filepath.Join("testdata", "render", strings.TrimSuffix(filepath.Base(file), ".xml")+".txt"))
		require.NoError(t, err)
	}
}

// submissionOf reads the head of a golden file.
func submissionOf(t *testing.T, head string) control.Submission {
	t.Helper()
	s := control.Submission{Executable: "/home/user/bin/prog", Arguments: []string{"input file", "-x"}, Directory: "/home/user/run"}
	for line := range strings.SplitSeq(head, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		name, value, _ := strings.Cut(rest, "=")
		switch kind {
		case "-s":
			s.Values = append(s.Values, control.Assignment{Name: name, Value: value})
		case "-e":
			s.Launch.Variables = append(s.Launch.Variables, command.Variable{Name: name, Value: value})
		case "debug":
			s.Debug = true
		case "#", "":
		default:
			require.Failf(t, "unknown line in the head", "%q", line)
		}
	}
	return s
}

// A place is where a rendering pretends to be, so that it is the same everywhere.
type place struct{ remote.Connection }

func (place) Info() remote.Info {
	return remote.Info{Transport: "local", User: "user", Host: "host", Home: "/home/user", System: "linux", Arch: "x86_64", Version: "6.1"}
}

func rendered(t *testing.T, definition *config.Definition, submission control.Submission) string {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Definition: definition, Connection: place{local}}).Render(submission)
	require.NoError(t, err)
	var text strings.Builder
	for _, file := range rendering.Files {
		fmt.Fprintf(&text, "file %s %s %04o\n%s", file.Name, file.Path, file.Mode&fs.ModePerm, indented(file.Content))
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
			if !slices.Contains([]string{"LC_ALL"}, variable.Name) {
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
