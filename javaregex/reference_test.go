package javaregex

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A question is put both to this package and to java.util.regex.
type question struct {
	operation  string // match, find, split, members or counts
	expression string
	flags      Flags
	text       string
	offset     int // for find, in UTF-16 units in Java; the text before it is ASCII
}

func (q question) String() string {
	return fmt.Sprintf("%s %q %s on %q from %d", q.operation, q.expression, q.flags, q.text, q.offset)
}

// javaFlags are the values of the constants of java.util.regex.Pattern.
func javaFlags(flags Flags) int {
	values := map[Flags]int{
		UnixLines: 0x01, CaseInsensitive: 0x02, Comments: 0x04, Multiline: 0x08,
		Literal: 0x10, DotAll: 0x20, UnicodeCase: 0x40, CanonEq: 0x80,
	}
	total := 0
	for flag, value := range values {
		if flags&flag != 0 {
			total |= value
		}
	}
	return total
}

// ownAnswer puts the question to this package, in the form of Reference.java.
func ownAnswer(q question) string {
	compiled, err := Compile(q.expression, q.flags)
	if err != nil {
		return "refused"
	}
	return answerOf(compiled, q)
}

// answerOf is the answer of the question's expression, once compiled.
func answerOf(compiled *Regexp, q question) string {
	var err error
	var positions []int
	var matched bool
	switch q.operation {
	case "match":
		positions, matched, err = compiled.Match(nil, []byte(q.text))
	case "find":
		positions, matched, err = compiled.Find(nil, []byte(q.text), q.offset)
	case "split":
		var pieces [][]byte
		pieces, err = compiled.Split([]byte(q.text))
		if err != nil {
			return "undecided"
		}
		answer := "yes"
		for _, piece := range pieces {
			answer += " =" + base64.StdEncoding.EncodeToString(piece)
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

// askJava puts all questions to java.util.regex at once. It skips the test
// where that is not wanted or there is no Java.
func askJava(t *testing.T, questions []question) []string {
	t.Helper()
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("comparing with java.util.regex is done with RMCTL_CLUSTERS=1 only")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("there is no java to compare with")
	}
	var input bytes.Buffer
	for _, q := range questions {
		encode := base64.StdEncoding.EncodeToString
		fmt.Fprintf(&input, "%s %d =%s =%s %d\n", q.operation, javaFlags(q.flags),
			encode([]byte(q.expression)), encode([]byte(q.text)), q.offset)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, java, "testdata/Reference.java")
	command.Stdin = &input
	var errors bytes.Buffer
	command.Stderr = &errors
	output, err := command.Output()
	require.NoError(t, err, errors.String())
	answers := strings.Split(strings.TrimRight(string(output), "\n"), "\n")
	require.Len(t, answers, len(questions))
	return answers
}
