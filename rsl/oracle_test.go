package rsl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The classes of requests that this package reads otherwise than the C library, by the list in
// docs/reference/rsl.md.
const (
	quoteTouches  = "quoted text touching a reference"
	stopCharacter = "* ? ~ in a word"
	otherBlank    = "CR, VT, FF"
	lastQuote     = "quote as the last byte"
	dropped       = "dropped text after the request"
	wideDelimiter = "delimiter of several bytes"
	strangeName   = "reference without a plain name"
	hasDefault    = "default of a reference"
	firstWins     = "variable defined twice"
	scoped        = "scope of an inner boolean"

	sameTree   = "same tree"
	sameValues = "same values"
)

// TestCLibraryDiffersWhereDocumented compares the package with the C library on random requests. It rewrites
// each request so that this package must read it as the C library reads the original; then the results must be
// equal.
func TestCLibraryDiffersWhereDocumented(t *testing.T) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		t.Skip("compares with the C library only where RMCTL_CLUSTERS=1")
	}
	const number = 100_000
	g := &generator{rand.New(rand.NewPCG(25, 4))}
	requests := make([]string, number)
	for i := range requests {
		requests[i] = g.request()
	}
	counts := map[string]int{}
	for i, answer := range askOracle(t, requests) {
		compareWithC(t, requests[i], answer, counts)
	}
	t.Logf("of %d requests: %v", number, counts)
	for _, class := range []string{quoteTouches, stopCharacter, otherBlank, lastQuote, dropped, wideDelimiter, strangeName, hasDefault, firstWins, scoped, sameTree, sameValues} {
		require.Greater(t, counts[class], 50, "%s has few requests", class)
	}
}

// TestCLibraryReadsPeersAlike compares requests in a folder, such as those of the tests of GRAM.
func TestCLibraryReadsPeersAlike(t *testing.T) {
	folder := os.Getenv("RMCTL_RSL_FOLDER")
	if folder == "" {
		t.Skip("compares files with the C library only where RMCTL_RSL_FOLDER names their folder")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.rsl"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var requests []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		requests = append(requests, string(text))
	}
	counts := map[string]int{}
	for i, answer := range askOracle(t, requests) {
		_, err := Parse(requests[i])
		require.NoError(t, err, paths[i])
		compareWithC(t, requests[i], answer, counts)
	}
	t.Logf("of %d files: %v", len(paths), counts)
}

// compareWithC compares the results for one request, and counts the classes of differences.
func compareWithC(t *testing.T, request string, c oracleAnswer, counts map[string]int) {
	t.Helper()
	rewritten, classes := asTheCLibraryReads(request)
	if classes[wideDelimiter] { // the C library takes its first byte
		counts[wideDelimiter]++
		return
	}
	spec, err := Parse(rewritten)
	if err != nil && c.isValid && isOfReference(err) {
		require.False(t, c.isEvaluated, "%q", request)
		counts[strangeName]++
		return
	}
	require.Equal(t, c.isValid, err == nil, "%q, rewritten as %q: %v", request, rewritten, err)
	original, originalErr := Parse(request)
	if (originalErr == nil) != c.isValid || c.isValid && Print(original) != restoreBlanks(Print(spec)) {
		require.NotEmpty(t, classes, "%q", request)
		for class := range classes {
			if class != dropped || c.isValid {
				counts[class]++
			}
		}
	} else {
		counts[sameTree]++
	}
	if !c.isValid {
		counts["invalid"]++
		return
	}
	require.Equal(t, c.canonical, restoreBlanks(Print(withoutOtherDefaults(spec))), "%q", request)

	all := []string{hasDefault, firstWins, scoped}
	byC, isEvaluated := evaluateAsC(spec, all...)
	require.Equal(t, c.isEvaluated, isEvaluated, "%q", request)
	require.Equal(t, c.evaluated, restoreBlanks(byC), "%q", request)
	byUs, isEvaluatedByUs := evaluateAsC(spec)
	require.Equal(t, evaluatedText(spec), byUs, "%q", request)
	if isEvaluated == isEvaluatedByUs && byC == byUs {
		if isEvaluated {
			counts[sameValues]++
		}
		return
	}
	for i, class := range all {
		without := slices.Delete(slices.Clone(all), i, i+1)
		if text, _ := evaluateAsC(spec, without...); text != byC {
			counts[class]++
		}
	}
}

func evaluatedText(spec Spec) string {
	evaluated, _, err := Evaluate(spec, oracleSymbols)
	if err != nil {
		return ""
	}
	Canonicalize(evaluated)
	return Print(evaluated)
}

func isOfReference(err error) bool {
	return !slices.ContainsFunc(err.(Problems), func(p *Problem) bool {
		return !strings.Contains(p.Message, "of a reference must be text") && !strings.Contains(p.Message, "a reference has a name and at most one")
	})
}

// The C library treats these blanks as characters of words. Replace them by characters that no request has.
var (
	hideBlanks    = strings.NewReplacer("\r", "\x01", "\v", "\x02", "\f", "\x03")
	blankRestorer = strings.NewReplacer("\x01", "\r", "\x02", "\v", "\x03", "\f")
)

func restoreBlanks(text string) string { return blankRestorer.Replace(text) }

// asTheCLibraryReads rewrites a request: words contain other blanks, quoted text is separated from
// references, and the text ends where the scanner of the C library stops.
func asTheCLibraryReads(request string) (rewritten string, classes map[string]bool) {
	classes = map[string]bool{}
	hidden := hideBlanks.Replace(request)
	var text strings.Builder
	isUnfinished, failed := false, 0 // a quote or a comment, and where it begins
	s := scanner{text: hidden, last: Position{Line: 1, Column: 1}, fail: func(at Position, _ string) { isUnfinished, failed = true, at.Offset }}
	var ofReference []bool // the open parentheses
	before := token{}
	isReferenceBefore := false
	for {
		begin := s.offset
		t := s.next()
		if t.kind == end && !isUnfinished {
			return text.String() + hidden[begin:], classes
		}
		quote := t.Offset
		if isUnfinished {
			quote = failed
		}
		if quote+1 < len(hidden) && hidden[quote] == '^' && hidden[quote+1] >= utf8.RuneSelf {
			classes[wideDelimiter] = true
		}
		stop := -1
		switch {
		case isUnfinished:
			stop = begin
			classes[dropped] = true
		case t.kind == invalid:
			stop = t.Offset
			classes[dropped] = true
		case t.kind == quoted && t.end == len(hidden):
			stop = t.Offset
			classes[lastQuote] = true
		case t.kind == word && strings.ContainsAny(t.text, "*?~"):
			stop = t.Offset + strings.IndexAny(t.text, "*?~")
			classes[stopCharacter], classes[dropped] = true, true
		}
		if strings.ContainsAny(hidden[begin:t.end], "\x01\x02\x03") {
			classes[otherBlank] = true
		}
		if stop >= 0 {
			return text.String() + hidden[begin:stop], classes
		}
		touches := t.Offset == before.end && (t.kind == quoted && isReferenceBefore || t.kind == dollar && before.kind == quoted)
		if touches {
			classes[quoteTouches] = true
			separator := " "
			if strings.HasSuffix(hidden[:begin], " ") { // the delimiter of the quote
				separator = "\n"
			}
			text.WriteString(separator)
		}
		text.WriteString(hidden[begin:t.end])
		isReferenceBefore = false
		switch t.kind {
		case opening:
			ofReference = append(ofReference, before.kind == dollar)
		case closing:
			if last := len(ofReference) - 1; last >= 0 {
				isReferenceBefore = ofReference[last]
				ofReference = ofReference[:last]
			}
		}
		before = t
	}
}

// withoutOtherDefaults removes defaults that are not literals, which the C library does not print.
func withoutOtherDefaults(spec Spec) Spec {
	copied := Clone(spec)
	var inValues func(values []Value)
	inValues = func(values []Value) {
		for _, value := range values {
			switch v := value.(type) {
			case *Sequence:
				inValues(v.Values)
			case *Concatenation:
				inValues(v.Parts)
			case *Reference:
				if _, isLiteral := v.Default.(*Literal); !isLiteral {
					v.Default = nil
				}
			}
		}
	}
	forEachRelation(copied, func(r *Relation) { inValues(r.Values) })
	return copied
}

func forEachRelation(spec Spec, visit func(*Relation)) {
	switch s := spec.(type) {
	case *Relation:
		visit(s)
	case *Boolean:
		for _, child := range s.Specs {
			forEachRelation(child, visit)
		}
	}
}

type oracleAnswer struct {
	isValid, isEvaluated bool
	canonical, evaluated string
}

// oracleSymbols are the variables that oracle.c defines.
var oracleSymbols = map[string]string{"HOME": "/home/u", "ROOT": "/r", "LEAF": "z"}

// askOracle builds testdata/c/oracle.c and returns its answers.
func askOracle(t *testing.T, requests []string) []oracleAnswer {
	t.Helper()
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "globus-rsl", "globus-common").Output()
	require.NoError(t, err, "install libglobus-rsl-dev and pkg-config: testdata/clusters/install.sh")
	program := filepath.Join(t.TempDir(), "oracle")
	arguments := append([]string{"-O1", "-o", program, "testdata/c/oracle.c"}, strings.Fields(string(flags))...)
	output, err := exec.Command("gcc", arguments...).CombinedOutput()
	require.NoError(t, err, "%s", output)

	var input, printed, complaint bytes.Buffer
	for _, request := range requests {
		fmt.Fprintf(&input, "%d\n%s", len(request), request)
	}
	oracle := exec.Command(program)
	oracle.Stdin, oracle.Stdout, oracle.Stderr = &input, &printed, &complaint
	require.NoError(t, oracle.Run(), "%s", complaint.String())
	reader := bufio.NewReader(&printed)
	answers := make([]oracleAnswer, len(requests))
	for i := range answers {
		a := &answers[i]
		line, err := reader.ReadString('\n')
		require.NoError(t, err)
		a.isValid = line == "1\n"
		a.canonical, _ = readAnswer(t, reader)
		a.evaluated, a.isEvaluated = readAnswer(t, reader)
	}
	return answers
}

func readAnswer(t *testing.T, reader *bufio.Reader) (string, bool) {
	t.Helper()
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	length, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	text := make([]byte, max(length, 0))
	_, err = io.ReadFull(reader, text)
	require.NoError(t, err)
	return string(text), length >= 0
}
