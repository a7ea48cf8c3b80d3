package rmctl_test

import (
	"go/ast"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostPublicNames bounds what other Go programs can come to depend on.
const mostPublicNames = 701

// mostPublicNamesOf are the limits of packages with their own limit.
var mostPublicNamesOf = map[string]int{
	"proxy":   80,  // the protocol has eleven kinds of commands and twelve of updates, a name each
	"rsl":     50,  // the nodes of a language
	"coalloc": 120, // states, kinds and events of ensembles and parts, a name each
	"debug":   120, // verbs of requests, reasons of stops and states of ranks, a name each

	"internal/barrier": 5, // the methods of words that coalloc has other names for
	"internal/ranges":  5, // the methods of debug.Ranks
}

// TestTheNumberOfPublicNamesIsLimited counts the types, functions, constants and variables that packages outside
// internal/ export, and the methods that their exported types have, those of embedded types
// included. A method that several types have by embedding counts once.
func TestTheNumberOfPublicNamesIsLimited(t *testing.T) {
	declared := declaredTypes{}
	names := map[string]int{} // by folder
	for file, source := range productionFiles(t) {
		parsed, folder := parse(t, file, source), folderOf(file)
		declared.add(folder, parsed)
		if isPublic(folder) {
			names[folder] += len(exportedOf(parsed).declared)
		}
	}
	methods := map[string]bool{}
	for name, declaration := range declared {
		if ast.IsExported(path.Base(name)) && isPublic(path.Dir(name)) {
			declared.promote(declaration, methods, map[string]bool{name: true})
		}
	}
	for method := range methods {
		names[path.Dir(method)]++
	}
	total := 0
	for folder, count := range names {
		if most, isOwn := mostPublicNamesOf[folder]; isOwn {
			require.LessOrEqual(t, count, most, "%s exports too many names", folder)
		} else {
			total += count
		}
	}
	require.LessOrEqual(t, total, mostPublicNames, "%v: take out what only its own package uses, or move it below internal/", names)
}

// isPublic reports whether other programs can import the package in a folder.
func isPublic(folder string) bool {
	return !slices.Contains(strings.Split(folder, "/"), "internal") && !strings.HasPrefix(folder, "cmd/")
}

// A declaredType has its exported methods, and the names of the types that it aliases or
// embeds.
type declaredType struct{ methods, embedded []string }

// declaredTypes are all types of the module, by folder and name.
type declaredTypes map[string]*declaredType

func (d declaredTypes) of(folder, name string) *declaredType {
	key := path.Join(folder, name)
	if d[key] == nil {
		d[key] = &declaredType{}
	}
	return d[key]
}

// add adds the types and methods of a file.
func (d declaredTypes) add(folder string, file *ast.File) {
	for _, declaration := range file.Decls {
		switch declared := declaration.(type) {
		case *ast.FuncDecl:
			if declared.Recv != nil && declared.Name.IsExported() {
				receiver := nameOf(folder, file, declared.Recv.List[0].Type)
				in := d.of(path.Dir(receiver), path.Base(receiver))
				in.methods = append(in.methods, receiver+"."+declared.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				if spec, isType := spec.(*ast.TypeSpec); isType {
					in := d.of(folder, spec.Name.Name)
					in.embedded = append(in.embedded, embeddedIn(folder, file, spec)...)
				}
			}
		}
	}
}

// embeddedIn returns the types that a declaration takes methods from.
func embeddedIn(folder string, file *ast.File, spec *ast.TypeSpec) []string {
	if spec.Assign.IsValid() {
		return []string{nameOf(folder, file, spec.Type)}
	}
	structure, isStructure := spec.Type.(*ast.StructType)
	if !isStructure {
		return nil
	}
	var embedded []string
	for _, field := range structure.Fields.List {
		if field.Names == nil {
			embedded = append(embedded, nameOf(folder, file, field.Type))
		}
	}
	return embedded
}

// promote adds the methods of a type, and of those that it embeds.
func (d declaredTypes) promote(declaration *declaredType, methods, visited map[string]bool) {
	for _, method := range declaration.methods {
		methods[method] = true
	}
	for _, name := range declaration.embedded {
		if embedded := d[name]; embedded != nil && !visited[name] {
			visited[name] = true
			d.promote(embedded, methods, visited)
		}
	}
}

// nameOf returns the folder and name of the type that an expression means; those of other
// modules have no folder of ours.
func nameOf(folder string, file *ast.File, expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return nameOf(folder, file, e.X)
	case *ast.IndexExpr:
		return nameOf(folder, file, e.X)
	case *ast.Ident:
		return path.Join(folder, e.Name)
	case *ast.SelectorExpr:
		of, isPackage := e.X.(*ast.Ident)
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if isPackage && spec.Name == nil && path.Base(imported) == of.Name {
				return filepath.ToSlash(path.Join(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"), e.Sel.Name))
			}
		}
	}
	return ""
}
