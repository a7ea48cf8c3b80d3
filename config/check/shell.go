package check

import (
	"fmt"
	"path"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/internal/reference"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/wording"
)

// An argumentText is a text that is split into words of a command line.
type argumentText struct {
	text string
	at   func(index int) config.Position
}

// A word of a command line, as written and without its quoted parts: quoted
// characters and references have become \x00.
type writtenWord struct {
	offset        int
	text          string // as written
	bare          string // outside of all quotes
	outsideSingle string // outside of single quotes: where a shell would expand
}

// checkWords reports shell syntax in a command line that no shell reads. If the
// program is known only at run time, or if a shell or another interpreter is
// among the words, it reports nothing.
func (c *checker) checkWords(texts []argumentText) {
	first := true
	for _, argument := range texts {
		for _, word := range writtenWords(argument.text) {
			if first && strings.HasPrefix(word.text, reference.Start) || isInterpreter(word.text) {
				return
			}
			first = false
		}
	}
	const shown = 3
	var found []config.Diagnostic
	more := 0
	first = true
	for _, argument := range texts {
		for _, word := range writtenWords(argument.text) {
			switch reason := forShell(word, first); {
			case reason == "":
			case len(found) == shown:
				more++
			default:
				found = append(found, config.Diagnostic{Position: argument.at(word.offset), Message: reason})
			}
			first = false
		}
	}
	for i, problem := range found {
		if i == shown-1 && more > 0 {
			problem.Message += fmt.Sprintf(" (and %d more)", more)
		}
		c.report(problem.Position, config.Warning, "no-shell", problem.Message, "start a shell: sh -c '…'")
	}
}

func isInterpreter(word string) bool {
	words := attribute.Words(word)
	if len(words) != 1 {
		return false
	}
	switch path.Base(words[0]) {
	case "sh", "bash", "dash", "ksh", "ksh93", "zsh", "csh", "tcsh", "fish", "busybox", "eval",
		"ssh", "rsh", "gsissh", "su", "sudo", "expect", "awk", "gawk", "perl", "python", "python2", "python3", "ruby", "xargs", "find":
		return true
	}
	return false
}

var (
	operator   = lazyregexp.New(`^(\|\|?|&&?|;|;;)$`)
	redirected = lazyregexp.New(`^([0-9]?>>?|<|&>)(&[0-9-]|[^=>].*)?$`)
	variable   = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})`)
	assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// forShell returns why a word needs a shell, empty if it does not. Characters
// within a word, such as the | of a column format, are meant literally.
func forShell(word writtenWord, first bool) string {
	quoted := wording.Quote(word.text)
	switch {
	case first && assignment.MatchString(word.bare):
		return fmt.Sprintf("%s is run as the program: rmctl starts no shell", quoted)
	case operator.MatchString(word.bare), redirected.MatchString(word.bare):
		return fmt.Sprintf("%s is an argument of the program: rmctl starts no shell", quoted)
	case len(word.bare) > 1 && strings.HasSuffix(word.bare, ";"):
		return fmt.Sprintf("the semicolon of %s is part of the argument: rmctl starts no shell", quoted)
	case strings.Contains(word.outsideSingle, "$("), strings.Count(word.outsideSingle, "`") > 1:
		return fmt.Sprintf("the command in %s is not run: rmctl starts no shell", quoted)
	case variable.MatchString(word.outsideSingle):
		return fmt.Sprintf("%s is not expanded: rmctl starts no shell", variable.FindString(word.outsideSingle))
	case strings.HasPrefix(word.bare, "~/"), strings.Contains(word.bare, "/") && strings.ContainsAny(word.bare, "*?"):
		return fmt.Sprintf("%s stays unchanged: rmctl starts no shell", quoted)
	}
	return ""
}

// writtenWords splits a text as attribute.Words does, but keeps quotes and escapes.
func writtenWords(text string) []writtenWord {
	masked := maskedReferences(text)
	var words []writtenWord
	for at := 0; at < len(masked); at++ {
		if isBlank(masked[at]) {
			continue
		}
		bare, outsideSingle := unquoted(masked[at:])
		words = append(words, writtenWord{offset: at, text: text[at : at+len(bare)], bare: bare, outsideSingle: outsideSingle})
		at += len(bare)
	}
	return words
}

const hidden = 0 // stands for a character that a shell would not interpret

// unquoted returns the first word of a text without all quoted parts, and without
// those in single quotes.
func unquoted(text []byte) (bare, outsideSingle string) {
	var inBare, inOutside []byte
	quote := byte(hidden)
	for i := 0; i < len(text) && (quote != hidden || !isBlank(text[i])); i++ {
		inBare, inOutside = append(inBare, hidden), append(inOutside, hidden)
		switch character := text[i]; {
		case quote == hidden && isQuote(character):
			quote = character
		case character == quote:
			quote = hidden
		case character == '\\' && quote != '\'':
			if i+1 < len(text) {
				inBare, inOutside = append(inBare, hidden), append(inOutside, hidden)
				i++
			}
		case quote == hidden:
			inBare[i], inOutside[i] = character, character
		case quote == '"':
			inOutside[i] = character
		}
	}
	return string(inBare), string(inOutside)
}

func isQuote(character byte) bool { return character == '"' || character == '\'' }

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}
