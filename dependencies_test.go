package rmctl_test

import (
	"bytes"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// platforms are those that rmctl is built for.
var platforms = []string{"linux", "darwin"}

// forbiddenImports are packages that the binary must not contain, with the reason.
var forbiddenImports = map[string]string{
	"expvar":                              "it registers a handler in every server of the process",
	"html/template":                       "with it the linker keeps all exported methods, 3.3 MB; internal/html makes pages",
	"net/http/pprof":                      "it registers handlers that show the memory of the process",
	"net/http/httptest":                   "it is for tests only",
	"plugin":                              "it needs cgo; rmctl is built without",
	"runtime/cgo":                         "rmctl is one static file without a C library",
	"testing":                             "it is for tests only, and adds its flags",
	"github.com/stretchr/testify/require": "it is for tests only",
	"github.com/mattn/go-sqlite3":         "it needs cgo; modernc.org/sqlite does not",
	"golang.org/x/tools/go/packages":      "it runs the go command, which users do not have",
	module + "/internal/remotetest":       "it is for tests only",
	module + "/internal/rmctltest":        "it is for tests only",
	module + "/internal/web/webtest":      "it is for tests only",
}

// forbiddenHere are packages that dependencies have in the binary, but that ours must
// not import, with the reason.
var forbiddenHere = map[string]string{
	"text/template": "it finds methods by name, so that the linker keeps all exported ones, 3.3 MB",
}

// forbiddenNames are names of packages that ours must not use, with the reason.
var forbiddenNames = map[string]string{
	"http.Client":           clientReason,
	"http.DefaultClient":    clientReason,
	"http.DefaultTransport": clientReason,
	"http.Get":              clientReason,
	"http.Post":             clientReason,
	"http.Transport":        clientReason,
}

const clientReason = "with the client of net/http the binary has 0.5 MB more; a request can be written to a connection"

func TestPackagesAvoidLargeDependencies(t *testing.T) {
	for path, source := range productionFiles(t) {
		for _, used := range selectedNames(parse(t, path, source)) {
			reason, isForbidden := forbiddenNames[used]
			require.False(t, isForbidden && !strings.HasSuffix(folderOf(path), "test"), "%s uses %s: %s", path, used, reason)
		}
		for _, imported := range importsOf(t, path) {
			reason, isForbidden := forbiddenHere[imported]
			require.False(t, isForbidden, "%s imports %s: %s", path, imported, reason)
		}
	}
}

// selectedNames returns the names behind a dot in a file, with the name before it.
func selectedNames(file *ast.File) []string {
	var names []string
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, isSelector := node.(*ast.SelectorExpr); isSelector {
			if of, isName := selector.X.(*ast.Ident); isName {
				names = append(names, of.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return names
}

// TestBinaryHasItsListedDependencies compares the modules in the binary with
// testdata/dependencies.txt; RMCTL_UPDATE=1 rewrites that.
func TestBinaryHasItsListedDependencies(t *testing.T) {
	modules := map[string]bool{}
	for _, system := range platforms {
		for line := range strings.Lines(listDependencies(t, system)) {
			imported, path, _ := strings.Cut(strings.TrimSpace(line), " ")
			reason, isForbidden := forbiddenImports[imported]
			require.False(t, isForbidden, "rmctl for %s contains %s: %s", system, imported, reason)
			if path != "" && path != module {
				modules[path] = true
			}
		}
	}
	var actual bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		actual.WriteString(path + "\n")
	}
	const golden = "testdata/dependencies.txt"
	if os.Getenv("RMCTL_UPDATE") == "1" {
		require.NoError(t, os.WriteFile(golden, actual.Bytes(), 0o644))
	}
	expected, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(expected), actual.String(), "the modules in the binary changed: say why in the commit, and rewrite %s with RMCTL_UPDATE=1", golden)
}

// listDependencies returns a line for each package in the binary: its import path
// and, outside the standard library, its module.
func listDependencies(t *testing.T, system string) string {
	t.Helper()
	return listPackages(t, system, "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}")
}

// listPackages returns what go list prints in a format for each package in the binary for a system.
func listPackages(t *testing.T, system, format string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, "./cmd/rmctl")
	command.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var problems bytes.Buffer
	command.Stderr = &problems
	listed, err := command.Output()
	require.NoError(t, err, problems.String())
	return string(listed)
}
