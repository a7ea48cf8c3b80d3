package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// A pattern is an expression that no text may match, and what to write instead.
type pattern struct {
	expression *regexp.Regexp
	instead    string
}

// An exception allows what contains fragment in one file.
type exception struct {
	path, fragment, reason string
	line                   int // of exceptions.txt
	used                   bool
}

// readPatterns reads lines "EXPRESSION<tab>INSTEAD".
func readPatterns(path string) ([]pattern, error) {
	var patterns []pattern
	err := readRows(path, 2, func(_ int, fields []string) error {
		expression, err := regexp.Compile("(?i)" + fields[0])
		patterns = append(patterns, pattern{expression: expression, instead: fields[1]})
		return err
	})
	return patterns, err
}

// readExceptions reads lines "FILE<tab>FRAGMENT<tab>REASON".
func readExceptions(path string) ([]*exception, error) {
	var exceptions []*exception
	err := readRows(path, 3, func(line int, fields []string) error {
		exceptions = append(exceptions, &exception{path: fields[0], fragment: fields[1], reason: fields[2], line: line})
		return nil
	})
	return exceptions, err
}

func readRows(path string, columns int, take func(line int, fields []string) error) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, row := range strings.Split(string(source), "\n") {
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		fields := strings.Split(row, "\t")
		if len(fields) != columns {
			return fmt.Errorf("%s:%d: want %d columns separated by tabs", path, i+1, columns)
		}
		if err := take(i+1, fields); err != nil {
			return fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return nil
}

// problemsOf returns a line for each text that matches a pattern without an exception, and for each
// exception that is not needed any more.
func problemsOf(texts []text, patterns []pattern, exceptions []*exception) []string {
	var problems []string
	for _, read := range texts {
		words := allowed(read, exceptions)
		for _, pattern := range patterns {
			if found := pattern.expression.FindString(words); found != "" {
				problems = append(problems, fmt.Sprintf("%s:%d: %q: write %s: %s", read.path, read.line, strings.TrimSpace(found), pattern.instead, excerpt(read.words, found)))
			}
		}
	}
	for _, unused := range exceptions {
		if !unused.used {
			problems = append(problems, fmt.Sprintf("scripts/words/exceptions.txt:%d: not needed any more: %s: %s", unused.line, unused.path, unused.fragment))
		}
	}
	return problems
}

// allowed returns the words of a text without the fragments that exceptions allow in its file.
func allowed(read text, exceptions []*exception) string {
	words := read.words
	for _, exception := range exceptions {
		if exception.path == read.path && strings.Contains(words, exception.fragment) {
			exception.used = true
			words = strings.ReplaceAll(words, exception.fragment, "")
		}
	}
	return words
}

const widthOfExcerpt = 100

// excerpt returns the words around found.
func excerpt(words, found string) string {
	begin := max(0, strings.Index(words, found)-widthOfExcerpt/2)
	end := min(len(words), begin+widthOfExcerpt)
	return strings.ToValidUTF8(words[begin:end], "")
}
