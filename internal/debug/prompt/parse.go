package prompt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/internal/ranges"
)

// longestLine bounds a line with a command, in bytes.
const longestLine = 64 << 10

// A line is a line that a user entered.
type line struct {
	text         string // without the marks
	name, rest   string // of the command
	inBackground bool   // it ends in &: the command does not wait for stops
	mayFail      bool   // it begins with -: a failure does not end the script
}

// parseLine takes a line apart. A comment or an empty line has no name.
func parseLine(text string) line {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") {
		return line{}
	}
	var l line
	text, l.mayFail = strings.CutPrefix(text, "-")
	text = strings.TrimSpace(text)
	l.text = text
	end := strings.IndexFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if end < 0 {
		end = len(text)
	}
	if end > 1 && text[end-1] == '&' {
		end--
	}
	l.name, l.rest = text[:end], strings.TrimSpace(text[end:])
	if command, err := find(l.name); err == nil && command.waits {
		l.rest, l.inBackground = strings.CutSuffix(l.rest, "&")
		l.rest = strings.TrimSpace(l.rest)
	}
	return l
}

// parseCount reads a number from 1 on; empty is the usual one.
func parseCount(text string, usual int) (int, error) {
	if text == "" {
		return usual, nil
	}
	count, err := strconv.ParseUint(text, 10, 31)
	if err != nil || count == 0 {
		return 0, fmt.Errorf("invalid number %q: enter 1 or more", text)
	}
	return int(count), nil
}

// parseNumber reads a number from 0 on.
func parseNumber(text string) (int, error) {
	number, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("invalid number %q", text)
	}
	return int(number), nil
}

// parseRanks parses ranks. All of them must be known.
func parseRanks(text string, known debug.Ranks) (debug.Ranks, error) {
	ranks, isValid := ranges.Parse(text)
	if !isValid {
		return nil, fmt.Errorf("invalid ranks %q: enter 0-7,12 or \"all\"", text)
	}
	if unknown := debug.Ranks(ranks).Without(known); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown ranks %s", label(unknown))
	}
	return ranks, nil
}

// placePattern is a place in a file.
var placePattern = lazyregexp.New(`^(?:(.+):)?([0-9]+)$`)

// parsePlace reads FILE:LINE, or LINE in a file. It reports false for anything else.
func parsePlace(text, file string) (found debug.Breakpoint, isPlace bool, err error) {
	parts := placePattern.FindStringSubmatch(text)
	if parts == nil {
		return found, false, nil
	}
	if parts[1] != "" {
		file = parts[1]
	}
	number, err := parseCount(parts[2], 0)
	if err == nil && file == "" {
		err = errors.New("there is no current file: enter FILE:LINE")
	}
	return debug.Breakpoint{File: file, Line: number}, true, err
}

// hitsPattern is which hits of a breakpoint count.
var hitsPattern = lazyregexp.New(`^(>=|=|%)?[1-9][0-9]{0,8}$`)

// parseBreakpoint reads PLACE [if CONDITION] [hits N] [log TEXT].
func parseBreakpoint(text, file string) (debug.Breakpoint, error) {
	text, log, hasLog := cutWord(text, "log")
	text, hits, hasHits := cutWord(text, "hits")
	text, condition, hasCondition := cutWord(text, "if")
	point, isPlace, err := parsePlace(text, file)
	switch {
	case text == "":
		err = errors.New("a place is missing: enter FILE:LINE, LINE or FUNCTION")
	case hasCondition && condition == "":
		err = errors.New("the condition after \"if\" is missing")
	case hasLog && log == "":
		err = errors.New("the text after \"log\" is missing")
	case hasHits && !hitsPattern.MatchString(hits):
		err = fmt.Errorf("invalid hits %q: enter 5 for the fifth and all later ones, =5 for only that, %%5 for each fifth", hits)
	case !isPlace:
		point.Function = text
	}
	point.Condition, point.Hits, point.Log = condition, hits, log
	return point, err
}

// cutWord cuts a text around the first occurrence of a word.
func cutWord(text, word string) (before, after string, found bool) {
	padded := text + " "
	at := strings.Index(padded, " "+word+" ")
	if at < 0 {
		return text, "", false
	}
	return strings.TrimSpace(padded[:at]), strings.TrimSpace(padded[at+len(word)+2:]), true
}

// parseWatch reads EXPRESSION [read|any].
func parseWatch(text string) (debug.Breakpoint, error) {
	point := debug.Breakpoint{Watch: text}
	for _, access := range []string{"read", "any", "write"} {
		if before, isLast := strings.CutSuffix(text, " "+access); isLast {
			point.Watch, point.Access = strings.TrimSpace(before), access
		}
	}
	if point.Access == "write" {
		point.Access = ""
	}
	if point.Watch == "" {
		return point, errors.New("an expression is missing")
	}
	return point, nil
}

// parseCatch reads throw, catch or panic.
func parseCatch(text string) (debug.Breakpoint, error) {
	switch text {
	case "throw", "catch", "panic":
		return debug.Breakpoint{Exception: text}, nil
	}
	return debug.Breakpoint{}, errors.New("enter \"catch throw\" or \"catch catch\" for C++, \"catch panic\" for Go")
}

// parseAssignment reads EXPRESSION = VALUE. Comparisons are no assignments.
func parseAssignment(text string) (expression, value string, err error) {
	for at := range len(text) {
		if text[at] != '=' {
			continue
		}
		if at > 0 && strings.IndexByte("=!<>", text[at-1]) >= 0 || strings.HasPrefix(text[at+1:], "=") {
			continue
		}
		expression, value = strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
		break
	}
	if expression == "" || value == "" {
		return "", "", errors.New("enter EXPRESSION = VALUE")
	}
	return expression, value, nil
}

// describe writes a breakpoint as it is entered.
func describe(point debug.Breakpoint) string {
	var text string
	switch {
	case point.Watch != "":
		text = strings.TrimSpace("watch " + point.Watch + " " + point.Access)
	case point.Exception != "":
		text = "catch " + point.Exception
	case point.Function != "":
		text = point.Function
	default:
		text = point.File + ":" + strconv.Itoa(point.Line)
	}
	for _, part := range []struct{ word, value string }{{"if", point.Condition}, {"hits", point.Hits}, {"log", point.Log}} {
		if part.value != "" {
			text += " " + part.word + " " + part.value
		}
	}
	if point.Temporary {
		text += " (temporary)"
	}
	if point.Disabled {
		text += " (disabled)"
	}
	return text
}
