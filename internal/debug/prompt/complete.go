package prompt

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/debug"
)

const (
	mostOffered     = 100 // words
	completionLimit = 2 * time.Second
)

// A choice holds the completions. It does not change while a line is edited.
type choice struct {
	ranks         debug.Ranks
	thread, frame int
	breakpoints   []string // numbers
	file          string
}

// offer sets the completions of the next line.
func (p *prompt) offer() {
	c := &choice{thread: p.thread, frame: p.frame, file: p.place.file}
	if stopped := both(p.focused(), p.session.Ranks(debug.Stopped)); len(stopped) > 0 {
		c.ranks = debug.Ranks{{First: stopped[0].First, Last: stopped[0].First}}
	}
	for _, point := range p.breakpoints {
		c.breakpoints = append(c.breakpoints, strconv.Itoa(point.ID))
	}
	p.choice.Store(c)
}

// complete returns the words that may be at the end of a text.
func (p *prompt) complete(text string) []string {
	c := p.choice.Load()
	before, last := lastWord(text)
	if strings.TrimSpace(before) == "" {
		var names []string
		for _, each := range commands() {
			names = append(names, each.name)
		}
		return matching(names, last)
	}
	found, err := find(parseLine(before).name)
	if err != nil {
		return nil
	}
	switch found.name {
	case "help":
		return p.complete(last)
	case "focus":
		return matching([]string{"all"}, last)
	case "catch":
		return matching([]string{"throw", "catch", "panic"}, last)
	case "start":
		return matching([]string{debug.StopAtMain, debug.StopAtEntry, debug.StopNot}, last)
	case "delete", "enable", "disable":
		return matching(c.breakpoints, last)
	case "break", "tbreak", "list":
		if c.file == "" {
			return nil
		}
		return matching([]string{c.file + ":"}, last)
	case "print", "set", "watch", "type":
		return matching(p.names(c), last)
	}
	return nil
}

// names returns the names of variables in the selected frame of the first stopped rank.
func (p *prompt) names(c *choice) []string {
	if len(c.ranks) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionLimit)
	defer cancel()
	var names []string
	for _, scope := range []string{"locals", "arguments"} {
		request := debug.Request{Verb: debug.Variables, Text: scope, Thread: c.thread, Frame: c.frame}
		for _, part := range p.session.Ask(ctx, debug.Question{Ranks: c.ranks, Request: request}) {
			for _, variable := range part.Variables {
				names = append(names, variable.Name)
			}
		}
	}
	return names
}

// lastWord cuts a text before its last word.
func lastWord(text string) (before, last string) {
	at := strings.LastIndexAny(text, " \t(*&[+-/!~<>=,") + 1
	return text[:at], text[at:]
}

// matching returns the words with a beginning, sorted.
func matching(words []string, beginning string) []string {
	var found []string
	for _, word := range words {
		if strings.HasPrefix(word, beginning) && plain(word) == word && word != "" {
			found = append(found, word)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// completed returns a line after the Tab key, and the words to choose from.
func completed(line string, at int, complete func(string) []string) (text string, end int, offered []string) {
	before, after := line[:at], line[at:]
	words := complete(before)
	if len(words) == 0 {
		return line, at, nil
	}
	_, last := lastWord(before)
	common := words[0]
	for _, word := range words[1:] {
		for !strings.HasPrefix(word, common) {
			common = common[:len(common)-1]
		}
	}
	added := strings.ToValidUTF8(strings.TrimPrefix(common, last), "")
	switch {
	case len(words) == 1 && !strings.HasSuffix(common, ":") && !strings.HasPrefix(after, " "):
		added += " "
	case len(words) > 1 && added == "":
		offered = words[:min(len(words), mostOffered)]
	}
	return before + added + after, at + len(added), offered
}
