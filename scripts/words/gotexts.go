package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

var (
	beginOfWord  = regexp.MustCompile(`([^ ])([A-Z][a-z])`)
	beginOfUpper = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// goTexts returns the comments and the messages of a Go file.
func goTexts(source []byte) ([]text, error) {
	files, file, err := parse(source)
	if err != nil {
		return nil, err
	}
	return append(comments(files, file), messages(files, file)...), nil
}

// testTexts returns the comments of a test, and the names of its functions, as words. Its other
// strings are mostly what other programs print.
func testTexts(source []byte) ([]text, error) {
	files, file, err := parse(source)
	if err != nil {
		return nil, err
	}
	texts := comments(files, file)
	for _, declaration := range file.Decls {
		if function, is := declaration.(*ast.FuncDecl); is && strings.HasPrefix(function.Name.Name, "Test") {
			texts = append(texts, text{line: files.Position(function.Pos()).Line, kind: testName,
				words: asWords(function.Name.Name)})
		}
	}
	return texts, nil
}

// asWords writes "TestARankIsFound" as "test a rank is found".
func asWords(name string) string {
	return strings.ToLower(beginOfUpper.ReplaceAllString(beginOfWord.ReplaceAllString(name, "$1 $2"), "$1 $2"))
}

func parse(source []byte) (*token.FileSet, *ast.File, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	return files, file, err
}

func comments(files *token.FileSet, file *ast.File) []text {
	var texts []text
	for _, group := range file.Comments {
		texts = append(texts, text{line: files.Position(group.Pos()).Line, kind: comment, words: group.Text()})
	}
	return texts
}

// messages returns the strings with a space and a word; imports and tags have none that is read.
func messages(files *token.FileSet, file *ast.File) []text {
	var texts []text
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if node.Tag != nil {
				node.Tag = nil
			}
		case *ast.BasicLit:
			value, err := strconv.Unquote(node.Value)
			if node.Kind == token.STRING && err == nil && strings.Contains(strings.TrimSpace(value), " ") {
				texts = append(texts, text{line: files.Position(node.Pos()).Line, kind: message, words: value})
			}
		}
		return true
	})
	return texts
}
