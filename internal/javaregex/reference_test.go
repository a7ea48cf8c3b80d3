package javaregex

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A question is put both to this package and to java.util.regex.
type question struct {
	operation  string // match, find, split or members
	expression string
	flags      Flags
	text       string
	offset     int // for find, in UTF-16 units in Java; the text before it is ASCII
}

func (q question) String() string {
	return fmt.Sprintf("%s %q %b on %q from %d", q.operation, q.expression, q.flags, q.text, q.offset)
}

// javaFlags are the values of the constants of java.util.regex.Pattern.
func javaFlags(flags Flags) int {
	values := map[Flags]int{
		unixLines: 0x01, caseInsensitive: 0x02, comments: 0x04, multiline: 0x08,
		literalText: 0x10, dotAll: 0x20, unicodeCase: 0x40, canonEq: 0x80,
	}
	total := 0
	for flag, value := range values {
		if flags&flag != 0 {
			total |= value
		}
	}
	return total
}

// comparedWork limits the work on a compared answer. A few in ten thousand generated expressions need
// more.
const comparedWork = maxWork / 100

// An answerer answers questions in the form of Reference.java, but for "unsupported"
// where the expression has what only Java may know. It compiles an expression once
// for all questions about it that come one after the other.
type answerer struct {
	last     question
	compiled *Regexp
	err      error
}

func (a *answerer) compile(q question) {
	if a.last.expression == q.expression && a.last.flags == q.flags && (a.compiled != nil || a.err != nil) {
		return
	}
	a.last = q
	if a.compiled, a.err = Compile(q.expression, q.flags); a.err != nil {
		return
	}
	search, err := newMatcher(q.expression, a.compiled.parsed, false)
	if err == nil {
		a.compiled.whole.limit, search.limit = comparedWork, comparedWork
	}
	_, _ = a.compiled.search.get(func() (*matcher, error) { return search, err })
}

// answersHere answers questions on all processors.
func answersHere(questions []question) []string {
	answers := make([]string, len(questions))
	var work sync.WaitGroup
	size := len(questions)/runtime.GOMAXPROCS(0) + 1
	for begin := 0; begin < len(questions); begin += size {
		work.Go(func() {
			var here answerer
			for i := begin; i < min(begin+size, len(questions)); i++ {
				answers[i] = here.answer(questions[i])
			}
		})
	}
	work.Wait()
	return answers
}

func (a *answerer) answer(q question) string {
	a.compile(q)
	compiled, err := a.compiled, a.err
	switch {
	case err != nil && strings.Contains(err.Error(), "is not supported"):
		return "unsupported"
	case err != nil:
		return "refused"
	}
	var positions []int
	var matched bool
	switch q.operation {
	case "match":
		positions, matched, err = compiled.Match(nil, []byte(q.text))
	case "find":
		positions, matched, err = compiled.Find(nil, []byte(q.text), q.offset)
	case "split":
		if positions, err = compiled.Split(nil, []byte(q.text)); err != nil {
			return "undecided"
		}
		answer := "yes"
		for pieces := range slices.Chunk(positions, 2) {
			answer += " =" + base64.StdEncoding.EncodeToString([]byte(q.text[pieces[0]:pieces[1]]))
		}
		return answer
	}
	switch {
	case err != nil:
		return "undecided"
	case !matched:
		return "no"
	}
	return strings.TrimRight("yes "+strings.Trim(fmt.Sprint(positions), "[]"), " ")
}

// everyAnswer has the answers of java.util.regex to the questions of all tests. They are evaluated
// together, since Java takes seconds to start.
var everyAnswer = sync.OnceValues(func() (map[question]string, error) {
	questions := slices.Concat(constructQuestions(), splitQuestions(), memberQuestions(), randomQuestions())
	var input bytes.Buffer
	for _, q := range questions {
		encode := base64.StdEncoding.EncodeToString
		fmt.Fprintf(&input, "%s %d =%s =%s %d\n", q.operation, javaFlags(q.flags),
			encode([]byte(q.expression)), encode([]byte(q.text)), q.offset)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "java", "testdata/Reference.java")
	command.Stdin = &input
	var errors bytes.Buffer
	command.Stderr = &errors
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, errors.String())
	}
	lines := strings.Split(strings.TrimRight(string(output), "\n"), "\n")
	if len(lines) != len(questions) {
		return nil, fmt.Errorf("%d answers to %d questions", len(lines), len(questions))
	}
	answers := make(map[question]string, len(questions))
	for i, q := range questions {
		answers[q] = lines[i]
	}
	return answers, nil
})

// askJava returns the answers of java.util.regex. It skips the test if the comparison is disabled or Java
// is missing.
func askJava(t *testing.T, questions []question) []string {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("comparing with java.util.regex is done with RMCTL_CLUSTERS=1 only")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("there is no java to compare with")
	}
	known, err := everyAnswer()
	require.NoError(t, err)
	answers := make([]string, len(questions))
	for i, q := range questions {
		answer, asked := known[q]
		require.True(t, asked, "%s is missing from everyAnswer", q)
		answers[i] = answer
	}
	return answers
}
