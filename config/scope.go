package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/javaregex"
)

// A Scope holds the values for resolving the texts of a command.
type Scope struct {
	Environment *attribute.Environment
	Job         string // replaces @jobId; empty for none
}

// argument returns the text of an argument, or the member of a JSON object that it is.
func (s Scope) argument(a *Argument) (string, error) {
	text, err := s.text(a)
	if err != nil || a.Member == "" || text == "" {
		return text, err
	}
	name, _ := json.Marshal(a.Member) // which never fails for a text
	value := []byte(text)
	if !a.IsBare {
		value, _ = json.Marshal(text)
	}
	return fmt.Sprintf("%s:%s,", name, value), nil
}

// text returns the text of an argument, empty where it is undefined
// (rm-format: an argument vanishes when its text, or the attribute it depends
// on, matches isUndefinedIfMatches as a whole).
func (s Scope) text(a *Argument) (string, error) {
	if !a.Resolve {
		return a.Text, nil
	}
	text, err := s.Environment.Resolve(a.Text, s.Job)
	if err != nil {
		return "", fmt.Errorf("%s: %w", a.Position, err)
	}
	if !a.IsUndefinedIfMatches.Set {
		return text, nil
	}
	pattern := strings.TrimSpace(a.IsUndefinedIfMatches.Text)
	compared := strings.TrimSpace(text)
	if a.Attribute.Set {
		found := s.Environment.Lookup(a.Attribute.Text)
		if found == nil || found.Value() == nil {
			return "", nil
		}
		compared = attribute.Text(found.Value())
	} else if pattern, err = s.Environment.Resolve(pattern, s.Job); err != nil {
		return "", fmt.Errorf("%s: %w", a.Position, err)
	}
	undefined, err := matches(pattern, compared)
	if err != nil {
		return "", fmt.Errorf("%s: isUndefinedIfMatches: %w", a.Position, err)
	}
	if undefined {
		return "", nil
	}
	return text, nil
}

func matches(pattern, text string) (bool, error) {
	if pattern == text && !strings.ContainsAny(pattern, `\^$.|?*+()[]{}`) {
		return true, nil
	}
	expression, err := javaregex.Compile(pattern, 0)
	if err != nil {
		return false, err
	}
	_, matched, err := expression.Match(nil, []byte(text))
	return matched, err
}

// Words returns the words of a command line: each argument is split by itself, unless it is one
// word.
func (s Scope) Words(arguments []*Argument) ([]string, error) {
	var words []string
	for _, argument := range arguments {
		text, err := s.argument(argument)
		if err != nil {
			return nil, err
		}
		switch word := strings.TrimSpace(text); {
		case !argument.IsWord:
			words = append(words, attribute.Words(text)...)
		case word != "":
			words = append(words, word)
		}
	}
	return words, nil
}

// Line joins arguments to one text: the first result is taken as it is, every
// further one that is not empty follows after a blank.
func (s Scope) Line(arguments []*Argument) (string, error) {
	var line strings.Builder
	for i, argument := range arguments {
		text, err := s.argument(argument)
		if err != nil {
			return "", err
		}
		if i > 0 && text != "" {
			line.WriteByte(' ')
		}
		line.WriteString(text)
	}
	return line.String(), nil
}
