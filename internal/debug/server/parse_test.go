package server

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

func TestRankInExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		"$rank":                    "12",
		"a[$rank]+$rank":           "a[12]+12",
		"$ranks + x$rank + $$rank": "$ranks + x$rank + $$rank",
		`"$rank" '$rank' "\"$rank`: `"$rank" '$rank' "\"12`,
		"1'000 == $rank":           "1'000 == 12",
		"$rank.x":                  "12.x",
	} {
		require.Equal(t, want, withRank(expression, 12), expression)
	}
}

func FuzzLogTexts(f *testing.F) {
	f.Add(`a {b["}"]} \{c\} $rank {{d}} {`)
	f.Fuzz(func(t *testing.T, text string) {
		expressions := 0
		for _, part := range parseLog(text, 7) {
			if part.isExpression {
				expressions++
			}
		}
		require.LessOrEqual(t, expressions, mostExpressions)
		require.LessOrEqual(t, len(withRank(text, 7)), len(text))
	})
}

func FuzzHits(f *testing.F) {
	f.Add(">= 5")
	f.Add("%3")
	f.Fuzz(func(t *testing.T, text string) {
		if rule, err := parseHits(text); err == nil {
			require.True(t, rule.relation == "" || rule.counts(rule.number))
		} else {
			require.NotContains(t, err.Error(), "\x1b")
		}
	})
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte(`1 {"verb":"stack","count":3}`))
	f.Add([]byte(`0 {}`))
	f.Add([]byte(`12 {"breakpoints":[{"id":1}]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		read, err := parseLine(line)
		require.False(t, err == nil && read.number == 0)
	})
}

func TestAnswersFitInALine(t *testing.T) {
	line := encodeLine(7, debug.Answer{Text: strings.Repeat("x", debug.MostLine)})
	require.Less(t, len(line), 1000)
	require.True(t, bytes.HasPrefix(line, []byte(`7 {"problem":"failed"`)))
	require.True(t, bytes.HasSuffix(line, []byte("\n")))
}

func TestOnlySourcesOfTheProcessAreRead(t *testing.T) {
	var known sources
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		known.add(path)
		return path
	}
	long := write("long.c", strings.Repeat("\x01\"\u2028é<\n", 300_000))
	var read string
	for read == "" || len(read) < 300_000*9 {
		answer := known.answer(debug.Request{Text: long, First: len(read)})
		require.Empty(t, answer.Problem)
		require.NotEmpty(t, answer.Text)
		require.True(t, utf8.ValidString(answer.Text))
		require.LessOrEqual(t, len(encodeLine(1<<30, answer)), debug.MostLine)
		read += answer.Text
	}
	text, err := os.ReadFile(long)
	require.NoError(t, err)
	require.Equal(t, string(text), read)
	require.Equal(t, debug.Answer{Text: "bc", Total: 4}, known.answer(debug.Request{Text: write("a.c", "abcd"), First: 1, Count: 2}))

	for path, problem := range map[string]string{
		write("huge.c", strings.Repeat("x", mostSource+1)): "has more than",
		write("binary.c", "a\x00b"):                        "is not a text",
		"/etc/passwd":                                      "no frame or breakpoint",
	} {
		require.Contains(t, known.answer(debug.Request{Text: path}).Text, problem)
	}
	known.add(folder)
	require.Contains(t, known.answer(debug.Request{Text: folder}).Text, "is not a file")
	known.add("relative.c")
	require.Contains(t, known.answer(debug.Request{Text: "relative.c"}).Text, "no frame")
}

func TestBuildIDs(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed: testdata/clusters/install.sh installs it")
	}
	folder := t.TempDir()
	source := filepath.Join(folder, "a.c")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }"), 0o600))
	program := filepath.Join(folder, "a")
	output, err := exec.Command("gcc", "-Wl,--build-id=0x00ff12", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Equal(t, "00ff12", buildOf(program))
	require.Empty(t, buildOf(source))
	self, err := os.Executable()
	require.NoError(t, err)
	require.NotEmpty(t, buildOf(self))
}

// A slowConn accepts writes only after it was opened.
type slowConn struct {
	open    chan struct{}
	written bytes.Buffer
}

func (s *slowConn) Write(data []byte) (int, error) {
	<-s.open
	return s.written.Write(data)
}

func (*slowConn) Close() error { return nil }

func TestUnreadOutputIsOmittedAndCounted(t *testing.T) {
	conn := &slowConn{open: make(chan struct{})}
	out := newOutbox(conn, 1<<40)
	go out.write()
	text := strings.Repeat("é", 100_000)
	for range 20 {
		out.print(debug.StreamOutput, text)
	}
	out.answer(1, debug.Answer{Text: "never left out"})
	close(conn.open)
	out.end(1 << 40)
	total, output, isAnswered := 20*len(text), 0, false
	for line := range strings.Lines(conn.written.String()) {
		require.LessOrEqual(t, len(line), debug.MostLine)
		number, body, _ := strings.Cut(line, " ")
		var notice debug.Notice
		require.NoError(t, json.Unmarshal([]byte(body), &notice))
		output += len(notice.Text) + notice.Omitted
		isAnswered = isAnswered || number == "1"
		if number == "1" {
			output -= len("never left out")
		}
		require.NotContains(t, notice.Text, "\ufffd")
	}
	require.Equal(t, total, output)
	require.True(t, isAnswered)
}

func TestCharactersInParts(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "aé": 3, "a\xc3": 1, "\xe2\x82": 0, "\xff": 1, "a\xf0\x9f\x98": 1} {
		require.Equal(t, want, completeCharacters([]byte(text)), "%q", text)
	}
}
