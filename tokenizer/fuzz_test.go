package tokenizer_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// naiveSegments splits a stream as the format describes it, one delimiter at a time.
func naiveSegments(stream []byte, delimiter string, include bool) []string {
	segments := []string{}
	rest := string(stream)
	for {
		before, after, found := strings.Cut(rest, delimiter)
		if !found {
			return append(segments, rest)
		}
		ending := delimiter
		if delimiter == "\r" && strings.HasPrefix(after, "\n") {
			ending, after = "\r\n", after[1:]
		}
		if include {
			before += ending
		}
		segments = append(segments, before)
		rest = after
	}
}

// FuzzSegments compares the segments of a stream with those of naiveSegments.
func FuzzSegments(f *testing.F) {
	delimiters := []struct {
		written string
		set     bool
		meant   string
	}{
		{`\n`, true, "\n"}, {`\r`, true, "\r"}, {`\t`, true, "\t"}, {"\u20ac", true, "\u20ac"}, {"", true, "\x00"},
		{"", false, "\x00"}, {",;", true, ","}, {`\r\n`, true, "\n"}, {`x\r`, true, "\r"}, {`\`, true, `\`}, {"\n", true, "\n"}, {"aa", true, "a"},
	}
	for _, seed := range []string{"a\nb\n", "a\r\nb\r\r\n", "\n\n", "", "a\u20acb\xe2\x82", "\xe2\x82\u20ac", "\x00\x00", `a\,,b`} {
		for which := range delimiters {
			f.Add([]byte(seed), uint8(2*which), uint8(1))
			f.Add([]byte(seed), uint8(2*which+1), uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, which, size uint8) {
		delimiter := delimiters[int(which/2)%len(delimiters)]
		include := which%2 == 1
		parser := &config.Parser{Element: "stdout-parser", Delimiter: config.Optional{Text: delimiter.written, Set: delimiter.set}, IncludeDelimiter: include}
		require.Equal(t, naiveSegments(stream, delimiter.meant, include), segmentsOf(t, parser, stream, int(size)+1))
	})
}

// segmentsOf returns the segments of a stream that arrives in pieces of a fixed size.
func segmentsOf(t *testing.T, parser *config.Parser, stream []byte, size int) []string {
	segments := []string{}
	options := tokenizer.Options{Trace: func(event tokenizer.TraceEvent) {
		if segment := event; segment.Kind == "segment" {
			require.EqualValues(t, len(segments)+1, segment.Number)
			segments = append(segments, string(segment.Text))
		}
	}}
	run, err := options.Compile(parser, attribute.NewEnvironment(), "")
	require.NoError(t, err)
	for rest := stream; len(rest) > 0; {
		piece := bytes.Clone(rest[:min(size, len(rest))])
		rest = rest[len(piece):]
		_, err := run.Write(piece)
		require.NoError(t, err)
		clear(piece) // nothing may keep a reference to it
	}
	require.NoError(t, run.Close())
	require.EqualValues(t, len(stream), run.Stats().Bytes)
	require.EqualValues(t, len(segments), run.Stats().Segments)
	return segments
}

// naiveWindows returns the contents of a window of twice that many characters as it moves over a stream.
// It consumes everything up to the first wanted character, if any, like an expression whose last group is
// that character.
func naiveWindows(stream []byte, step int, wanted string) []string {
	var characters []string
	for rest := stream; len(rest) > 0; {
		_, size := utf8.DecodeRune(rest)
		characters = append(characters, string(rest[:size]))
		rest = rest[size:]
	}
	windows := []string{}
	position, end := 0, 0 // of the window in the characters
	look := func() (consumed bool) {
		windows = append(windows, strings.Join(characters[position:end], ""))
		for i := position; wanted != "" && i < end; i++ {
			if characters[i] == wanted {
				position = i + 1
				return true
			}
		}
		return false
	}
	for position+2*step <= len(characters) {
		end = position + 2*step
		if !look() {
			position += step
		}
	}
	// The stream ends within the window: the rest is examined now, again at the end, and as long as a
	// match is found.
	if end < len(characters) {
		end = len(characters)
		look()
	}
	for look() && position < end {
	}
	return windows
}

// FuzzWindows compares the windows with those of naiveWindows.
func FuzzWindows(f *testing.F) {
	f.Add([]byte("abcdefghij"), uint8(2), uint8(1), false)
	f.Add([]byte("bab..b....bb"), uint8(2), uint8(1), true)
	f.Add([]byte("caf\u00e9 \u20ac\xe2\x82"), uint8(1), uint8(2), false)
	f.Add([]byte("\u20acb\xe2\x82b\xffb"), uint8(0), uint8(2), true)
	f.Add([]byte("\xf0\x9f\x98\x80\xf0\x9f"), uint8(0), uint8(0), false)
	targets := parserOf(f, `<stdout-parser><target ref="r"><match><expression flags="DOTALL">[^b]*(b).*</expression></match></target></stdout-parser>`).Targets
	f.Fuzz(func(t *testing.T, stream []byte, step, size uint8, consuming bool) {
		parser := &config.Parser{Element: "stdout-parser", MaxMatchLength: int(step)%8 + 1}
		wanted := ""
		if consuming {
			wanted, parser.Targets = "b", targets
		}
		require.Equal(t, naiveWindows(stream, parser.MaxMatchLength, wanted), segmentsOf(t, parser, stream, int(size)+1))
	})
}

// FuzzTokenizer runs the parsers of the golden cases on any stream, possibly repeated until it is long.
// The outcome must not depend on how the stream is split.
func FuzzTokenizer(f *testing.F) {
	const long = 20_000
	var cases []goldenCase
	var parsers []*config.Parser
	for _, folder := range goldenFolders(f) {
		c := readGoldenCase(f, folder)
		if len(c.stream) < 1000 {
			f.Add(c.stream, uint16(len(cases)), uint8(2), len(cases)%10 == 0)
		}
		cases = append(cases, c)
		parsers = append(parsers, c.parser(f))
	}
	f.Fuzz(func(t *testing.T, stream []byte, which uint16, size uint8, repeat bool) {
		c, parser := cases[int(which)%len(cases)], parsers[int(which)%len(cases)]
		c.stream = stream
		if repeat && len(stream) > 0 {
			c.stream = bytes.Repeat(stream, 1+long/len(stream))
		}
		require.Equal(t, c.outcome(parser, nil, len(c.stream)), c.outcome(parser, nil, ofSize(int(size)+1, len(c.stream))...))
	})
}
