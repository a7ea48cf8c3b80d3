package rmctl_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the blocks of docs/reference/library.md may use without declaring it: packages, and
// variables. Earlier blocks declare some of them.
var (
	documentedImports = []string{
		"context", "fmt", "log", "os", "testing",
		"github.com/rmctl/rmctl", "github.com/rmctl/rmctl/cases/casetest", "github.com/rmctl/rmctl/coalloc",
		"github.com/rmctl/rmctl/config", "github.com/rmctl/rmctl/config/check", "github.com/rmctl/rmctl/control", "github.com/rmctl/rmctl/job",
		"github.com/rmctl/rmctl/jobstore", "github.com/rmctl/rmctl/remote",
	}
	documentedVariables = map[string]string{
		"ctx": "context.Context", "client": "*rmctl.Client", "store": "*jobstore.Store", "controller": "*control.Controller",
		"definition": "*config.Definition", "source": "[]byte",
		"newConnection": "func(context.Context) (remote.Connection, error)",
	}
)

func TestTheCodeOfTheLibraryPageCompiles(t *testing.T) {
	page, err := os.ReadFile("docs/reference/library.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllSubmatch(page, -1)
	require.NotEmpty(t, blocks)
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", exportData(t))
	for _, block := range blocks {
		code := string(block[1])
		file, err := parser.ParseFile(files, "", asFile(code), 0)
		require.NoError(t, err, "%s", code)
		checker := types.Config{Importer: imports, Error: func(err error) {
			var problem types.Error
			// A block need not use everything that it declares, nor all that it may import.
			if !errors.As(err, &problem) || !problem.Soft {
				t.Errorf("%v in:\n%s", err, code)
			}
		}}
		_, _ = checker.Check("documented", files, []*ast.File{file}, nil) // it gives each error to the function
	}
}

// asFile returns a block as a file.
func asFile(code string) string {
	var file strings.Builder
	file.WriteString("package documented\n")
	for _, imported := range documentedImports {
		fmt.Fprintf(&file, "import %s %q\n", path.Base(imported), imported)
	}
	for _, name := range slices.Sorted(maps.Keys(documentedVariables)) {
		fmt.Fprintf(&file, "var %s %s\n", name, documentedVariables[name])
	}
	if strings.HasPrefix(code, "func ") {
		return file.String() + code
	}
	return file.String() + "func _() error {\n" + code + "\nreturn nil\n}\n"
}

// exportData returns a function that finds what compiled packages export.
func exportData(t *testing.T) func(path string) (io.ReadCloser, error) {
	t.Helper()
	// With these flags check has compiled the packages already.
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-trimpath", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, documentedImports...)...)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	listed, err := list.Output()
	require.NoError(t, err)
	exports := map[string]string{}
	for line := range bytes.Lines(listed) {
		imported, export, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		exports[imported] = export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
}
