package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A code is what a call that reports a problem has for one, or a part of a
// problem that is called Code, here and in packages schemas and tree.
var (
	codeForm  = regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	reporting = regexp.MustCompile(`^(report|problem|failure)`)
)

func TestEveryCodeThatIsReportedIsListed(t *testing.T) {
	var listed []string
	for _, code := range Codes() {
		require.Regexp(t, codeForm, code.Name)
		require.NotContains(t, listed, code.Name, "a code is in one list")
		require.Regexp(t, `^[A-Z].*\.$`, code.Summary)
		listed = append(listed, code.Name)
	}
	slices.Sort(listed)
	require.Equal(t, emittedCodes(t, ".", "..", "../../schemas", "../../internal/xmltree"), listed)
}

func emittedCodes(t *testing.T, folders ...string) []string {
	found := map[string]bool{}
	note := func(expression ast.Expr) {
		if literal, ok := expression.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && codeForm.MatchString(text) {
				found[text] = true
			}
		}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if reporting.MatchString(nameOf(n.Fun)) {
						for _, argument := range n.Args {
							note(argument)
						}
					}
				case *ast.KeyValueExpr:
					if nameOf(n.Key) == "Code" {
						note(n.Value)
					}
				case *ast.AssignStmt:
					for i, left := range n.Lhs {
						if len(n.Lhs) == len(n.Rhs) && strings.EqualFold(nameOf(left), "code") {
							note(n.Rhs[i])
						}
					}
				case *ast.ValueSpec: // the constants of package schemas
					for _, value := range n.Values {
						if file.Name.Name == "schemas" {
							note(value)
						}
					}
				}
				return true
			})
		}
	}
	var codes []string
	for code := range found {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// Each code has a heading, in alphabetical order, which SARIF documents link to.
func TestEveryCodeIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/diagnostics.md")
	require.NoError(t, err)
	var documented, listed []string
	for _, match := range regexp.MustCompile("(?m)^### (.*)$").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, match[1])
	}
	for _, code := range Codes() {
		listed = append(listed, code.Name)
	}
	slices.Sort(listed)
	require.Equal(t, listed, documented)
}
