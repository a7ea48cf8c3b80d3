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

// A word of a command line as it is written, with what of it stands outside of
// quotes: quoted characters have become \x00.
type writtenWord struct {
	offset        int
	text          string // as written
	bare          string // outside of all quotes
	outsideSingle string // outside of single quotes: where a shell would expand
}

// checkWords reports what only a shell would understand in a command line that
// none sees. Where the program is known only at run time, or a shell or another
// interpreter is among the words, nothing is claimed.
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
		c.report(problem.Position, config.Warning, "no-shell", problem.Message, "write a shell where one is wanted: sh -c '…'")
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
// within a word, such as the | of a column format, mean nothing without a shell
// and are what they should be.
func forShell(word writtenWord, first bool) string {
	quoted := wording.Quote(word.text)
	switch {
	case first && assignment.MatchString(word.bare):
		return fmt.Sprintf("%s is taken for the program: no shell sets variables here", quoted)
	case operator.MatchString(word.bare), redirected.MatchString(word.bare):
		return fmt.Sprintf("%s is an argument of the program: no shell sees the command line", quoted)
	case len(word.bare) > 1 && strings.HasSuffix(word.bare, ";"):
		return fmt.Sprintf("the semicolon of %s is part of the argument: no shell sees the command line", quoted)
	case strings.Contains(word.outsideSingle, "$("), strings.Count(word.outsideSingle, "`") > 1:
		return fmt.Sprintf("the command in %s is not run: no shell sees the command line", quoted)
	case variable.MatchString(word.outsideSingle):
		return fmt.Sprintf("%s is not expanded: no shell sees the command line", variable.FindString(word.outsideSingle))
	case strings.HasPrefix(word.bare, "~/"), strings.Contains(word.bare, "/") && strings.ContainsAny(word.bare, "*?"):
		return fmt.Sprintf("%s stays as it is: no shell sees the command line", quoted)
	}
	return ""
}

// writtenWords splits a text as attribute.Words does, but keeps what is written.
// References count as one character each.
func writtenWords(text string) []writtenWord {
	var words []writtenWord
	s := wordScanner{text: text}
	for {
		word, ok := s.next()
		if !ok {
			return words
		}
		words = append(words, word)
	}
}

type wordScanner struct {
	text string
	at   int
}

const hidden = 0 // stands for a character that a shell would not interpret

func (s *wordScanner) next() (writtenWord, bool) {
	s.skipBlanks()
	if s.at == len(s.text) {
		return writtenWord{}, false
	}
	begin := s.at
	var bare, outsideSingle strings.Builder
	quote := byte(0)
	put := func(inBare, inOutside byte) {
		bare.WriteByte(inBare)
		outsideSingle.WriteByte(inOutside)
	}
	for ; s.at < len(s.text) && (quote != 0 || !isBlank(s.text[s.at])); s.at++ {
		switch character := s.text[s.at]; {
		case strings.HasPrefix(s.text[s.at:], reference.Start+reference.Prefix+":"):
			s.skipReference()
			put(hidden, hidden)
		case quote == 0 && isQuote(character):
			quote = character
			put(hidden, hidden)
		case character == quote:
			quote = 0
			put(hidden, hidden)
		case character == '\\' && quote != '\'':
			s.at++
			put(hidden, hidden)
		case quote == 0:
			put(character, character)
		case quote == '"':
			put(hidden, character)
		default:
			put(hidden, hidden)
		}
	}
	s.at = min(s.at, len(s.text))
	return writtenWord{offset: begin, text: s.text[begin:s.at], bare: bare.String(), outsideSingle: outsideSingle.String()}, true
}

func (s *wordScanner) skipBlanks() {
	for s.at < len(s.text) && isBlank(s.text[s.at]) {
		s.at++
	}
}

func isQuote(character byte) bool { return character == '"' || character == '\'' }

// skipReference goes to the brace that closes the reference which begins here.
func (s *wordScanner) skipReference() {
	depth := 0
	for ; s.at < len(s.text); s.at++ {
		switch {
		case strings.HasPrefix(s.text[s.at:], reference.Start):
			depth++
		case s.text[s.at] == '}':
			if depth--; depth == 0 {
				return
			}
		}
	}
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}
