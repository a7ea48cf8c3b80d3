package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A text is a comment, a message, a paragraph: what somebody reads as one piece.
type text struct {
	path  string // relative to the root, with slashes
	line  int    // of its beginning, from 1
	kind  kind
	words string // on one line
}

type kind string

const (
	comment   kind = "comment"
	message   kind = "message" // in Go and JavaScript: errors, help, labels
	testName  kind = "test"
	paragraph kind = "doc"
	markup    kind = "definition" // XML: definitions and schemas
)

// collect reads the texts of all files below root that people of this project wrote. Outputs of
// schedulers and definitions of others, in testdata, do not count.
func collect(root string) ([]text, error) {
	var texts []text
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if relative != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"dist", "node_modules", "bin"}, entry.Name())) && entry.Name() != ".ci" {
				return fs.SkipDir
			}
			return nil
		}
		reader := readerFor(filepath.ToSlash(relative))
		if reader == nil || !entry.Type().IsRegular() {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := reader(source)
		for i := range found {
			found[i].path = filepath.ToSlash(relative)
			found[i].words = strings.Join(strings.Fields(found[i].words), " ")
		}
		texts = append(texts, slices.DeleteFunc(found, func(t text) bool { return t.words == "" })...)
		return err
	})
	return texts, err
}

// A reader finds the texts in the source of one file.
type reader func(source []byte) ([]text, error)

// readers are by the end of a file's name.
var readers = map[string]reader{
	"_test.go": testTexts, ".go": goTexts, ".md": pageTexts, ".xml": markupTexts, ".xsd": markupTexts, ".js": scriptTexts,
	".txtar": hashComments, ".sh": hashComments, ".py": hashComments, ".yaml": hashComments, "check": hashComments, "run": hashComments,
	".toml": tomlTexts,
}

// notOurs are the ends of files in testdata that hold what other programs print.
var notOurs = []string{".xml", ".xsd", ".js", ".yaml", ".go"}

// readerFor returns the reader of a file, or nil for files without texts.
func readerFor(path string) reader {
	extension := filepath.Ext(path)
	switch {
	case path == "scripts/words/words_test.go":
		return nil // it names forbidden words
	case strings.HasSuffix(path, "_test.go"):
		return testTexts
	case slices.Contains(notOurs, extension) && strings.Contains("/"+path, "/testdata/"):
		return nil
	case extension == "":
		return readers[filepath.Base(path)]
	}
	return readers[extension]
}

var (
	markupText   = regexp.MustCompile(`(?s)<!--.*?-->|>[^<]*[a-z][^<]*<|="[^"]* [^"]*"`)
	scriptText   = regexp.MustCompile("//[^\n]*|\"[^\"\n]* [^\"\n]*\"|'[^'\n]* [^'\n]*'|`[^`]* [^`]*`")
	hashComment  = regexp.MustCompile(`(?m)^[ \t]*#[^\n]*(\n[ \t]*#[^\n]*)*`)
	fencedBlock  = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	pageParts    = regexp.MustCompile(`(?m)[^\n]+(\n[^\n|*#-][^\n]*)*`)
	hashesInside = regexp.MustCompile(`(?m)^[ \t]*#+`)
	tomlText     = regexp.MustCompile(`(?ms)^[ \t]*description[ \t]*=[ \t]*(""".*?"""|'''.*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	tomlKey      = regexp.MustCompile(`^\s*description\s*=\s*`)
)

func markupTexts(source []byte) ([]text, error) {
	return matches(source, markupText, markup, func(found string) string {
		return strings.Trim(strings.NewReplacer("<!--", "", "-->", "").Replace(found), `<>="`)
	}), nil
}

func scriptTexts(source []byte) ([]text, error) {
	return matches(source, scriptText, message, func(found string) string { return strings.TrimLeft(found, "/ ") }), nil
}

func hashComments(source []byte) ([]text, error) {
	return matches(source, hashComment, comment, func(found string) string { return hashesInside.ReplaceAllString(found, "") }), nil
}

// tomlTexts returns the descriptions of cases and flows, and comments.
func tomlTexts(source []byte) ([]text, error) {
	comments, _ := hashComments(source)
	return append(comments, matches(source, tomlText, message, func(found string) string {
		return strings.Trim(tomlKey.ReplaceAllString(found, ""), `"'`)
	})...), nil
}

// pageTexts returns paragraphs, items and rows of tables. What stands in code blocks is checked by the tests that run it.
func pageTexts(source []byte) ([]text, error) {
	prose := fencedBlock.ReplaceAllFunc(source, func(block []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(block, []byte("\n"))) })
	return matches(prose, pageParts, paragraph, func(found string) string { return found }), nil
}

func matches(source []byte, expression *regexp.Regexp, as kind, clean func(string) string) []text {
	var texts []text
	line, counted := 1, 0
	for _, place := range expression.FindAllIndex(source, -1) {
		line += bytes.Count(source[counted:place[0]], []byte("\n"))
		counted = place[0]
		texts = append(texts, text{line: line, kind: as, words: clean(string(source[place[0]:place[1]]))})
	}
	return texts
}
