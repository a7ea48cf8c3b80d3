package lazyregexp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

func TestAnInvalidExpressionPanicsAtItsFirstUse(t *testing.T) {
	invalid := lazyregexp.New(`(`)
	require.Panics(t, func() { invalid.MatchString("") })
}

func TestAllExpressionsOfThisModuleCompile(t *testing.T) {
	count := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, expression := range expressionsOf(t, path) {
			_, err := regexp.Compile(expression)
			require.NoError(t, err, path)
			count++
		}
		return nil
	}))
	require.Greater(t, count, 40)
}

// expressionsOf returns the arguments of the calls of New in a file. They must
// be constants without names, so that a test can read them.
func expressionsOf(t *testing.T, path string) []string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var expressions []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, isCall := node.(*ast.CallExpr)
		if !isCall || types.ExprString(call.Fun) != "lazyregexp.New" {
			return true
		}
		constant, err := types.Eval(files, nil, token.NoPos, types.ExprString(call.Args[0]))
		require.NoError(t, err, "%s: write the expression as literals", files.Position(call.Pos()))
		text, err := strconv.Unquote(constant.Value.ExactString())
		require.NoError(t, err)
		expressions = append(expressions, text)
		return true
	})
	return expressions
}
