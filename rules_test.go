package rmctl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	mostLinesOfFile    = 400
	mostLinesOfPackage = 5000
	mostLinesOfMain    = 9000 // cmd/rmctl holds one file for each group of commands
	mostFilesOfFolder  = 40
	longestChain       = 10 // imports, one below the other
)

// onlyInJob are the types that exist once in the tree. A handle of a library on a job is named Handle.
var onlyInJob = []string{"Job", "Process", "Event", "Submission"}

func TestFilesAreShort(t *testing.T) {
	for path, source := range productionFiles(t) {
		lines := strings.Count(source, "\n")
		require.LessOrEqual(t, lines, mostLinesOfFile, "%s has %d lines: split it by subject", path, lines)
	}
}

func TestPackagesAreSmall(t *testing.T) {
	lines, files := map[string]int{}, map[string]int{}
	for path, source := range productionFiles(t) {
		folder := folderOf(path)
		lines[folder] += strings.Count(source, "\n")
		files[folder]++
	}
	for folder := range lines {
		most := mostLinesOfPackage
		if folder == "cmd/rmctl" {
			most = mostLinesOfMain
		}
		require.LessOrEqual(t, lines[folder], most, "%s has %d lines without tests: split it", folder, lines[folder])
		require.LessOrEqual(t, files[folder], mostFilesOfFolder, "%s has %d files without tests: make packages of them", folder, files[folder])
	}
}

func TestTypesOfJobsExistOnce(t *testing.T) {
	for path, source := range productionFiles(t) {
		if folderOf(path) == "job" {
			continue
		}
		for _, name := range exportedOf(parse(t, path, source)).types {
			require.NotContains(t, onlyInJob, name, "%s declares %s, which package job has: use that, or another name", path, name)
		}
	}
}

func TestChainsOfImportsAreShort(t *testing.T) {
	imports := map[string][]string{}
	for path := range productionFiles(t) {
		for _, imported := range importsOf(t, path) {
			if ours, isOurs := strings.CutPrefix(imported, module+"/"); isOurs && !slices.Contains(allowedEverywhere, ours) {
				imports[folderOf(path)] = append(imports[folderOf(path)], ours)
			}
		}
	}
	chains := map[string][]string{}
	var longest func(folder string) []string
	longest = func(folder string) []string {
		if chain, known := chains[folder]; known {
			return chain
		}
		var below []string
		for _, imported := range imports[folder] {
			if chain := longest(imported); len(chain) > len(below) {
				below = chain
			}
		}
		chains[folder] = append([]string{folder}, below...)
		return chains[folder]
	}
	for folder := range imports {
		chain := longest(folder)
		require.LessOrEqual(t, len(chain)-1, longestChain, "packages import one another: %s", strings.Join(chain, " → "))
	}
}

// TestExportedInternalNamesAreUsed reads selectors without types: a name counts as used if a
// file of another folder has it after a dot, if an external test of the package uses it, or if
// an exported declaration of the package refers to it.
func TestExportedInternalNamesAreUsed(t *testing.T) {
	selected := map[string]map[string]bool{} // by name: the folders that select it
	declared := map[string][]string{}        // by folder
	used := map[string]map[string]bool{}     // by folder: names in exported declarations, and in tests from outside
	walkGo(t, func(path string) {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		file, folder := parse(t, path, string(source)), folderOf(path)
		isOutside := strings.HasSuffix(file.Name.Name, "_test")
		if used[folder] == nil {
			used[folder] = map[string]bool{}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, isSelector := node.(*ast.SelectorExpr)
			if !isSelector {
				return true
			}
			name := selector.Sel.Name
			if selected[name] == nil {
				selected[name] = map[string]bool{}
			}
			selected[name][folder] = true
			if isOutside {
				used[folder][name] = true
			}
			return true
		})
		if strings.Contains("/"+folder, "/internal/") && !strings.HasSuffix(path, "_test.go") && file.Name.Name != "main" {
			exported := exportedOf(file)
			declared[folder] = append(declared[folder], exported.declared...)
			for _, name := range exported.mentioned {
				used[folder][name] = true
			}
		}
	})
	var unused []string
	for folder, names := range declared {
		for _, name := range names {
			elsewhere := len(selected[name]) > 1 || len(selected[name]) == 1 && !selected[name][folder]
			if !elsewhere && !used[folder][name] {
				unused = append(unused, folder+"."+name)
			}
		}
	}
	require.Empty(t, unused, "no other package uses these: begin them with a small letter")
}

// exports are the exported names that a file declares for its package, and the names in
// signatures, fields and types of what it exports.
type exports struct{ declared, types, mentioned []string }

func exportedOf(file *ast.File) exports {
	var found exports
	mention := func(node ast.Node) {
		ast.Inspect(node, func(node ast.Node) bool {
			if name, isName := node.(*ast.Ident); isName {
				found.mentioned = append(found.mentioned, name.Name)
			}
			return true
		})
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			mention(d.Type)
			if d.Recv == nil {
				found.declared = append(found.declared, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						found.declared = append(found.declared, s.Name.Name)
						found.types = append(found.types, s.Name.Name)
						mention(s.Type)
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							found.declared = append(found.declared, name.Name)
							if s.Type != nil {
								mention(s.Type)
							}
						}
					}
				}
			}
		}
	}
	return found
}

func parse(t *testing.T, path, source string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	return file
}

// productionFiles returns the sources of the Go files except tests, by path.
func productionFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	walkGo(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		files[path] = string(source)
	})
	return files
}

func folderOf(path string) string { return filepath.ToSlash(filepath.Dir(path)) }
