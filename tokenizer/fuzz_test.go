package tokenizer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// naiveSegments cuts a stream as the format describes it, one byte at a time.
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

func FuzzSegments(f *testing.F) {
	for _, seed := range []string{"a\nb\n", "a\r\nb\r\r\n", "\n\n", "", "a\u20acb\xe2\x82", "\x00\x00"} {
		for which := range uint8(10) {
			f.Add([]byte(seed), which, uint8(1))
			f.Add([]byte(seed), which, uint8(3))
		}
	}
	delimiters := []struct{ written, meant string }{{`\n`, "\n"}, {`\r`, "\r"}, {`\t`, "\t"}, {"\u20ac", "\u20ac"}, {"", "\x00"}}
	f.Fuzz(func(t *testing.T, stream []byte, which, size uint8) {
		delimiter := delimiters[int(which/2)%len(delimiters)]
		include := which%2 == 1
		parser := &config.Parser{Element: "stdout-parser", Delimiter: config.Optional{Text: delimiter.written, Set: true}, IncludeDelimiter: include}
		require.Equal(t, naiveSegments(stream, delimiter.meant, include), segmentsOf(t, parser, stream, int(size)+1))
	})
}

// segmentsOf returns what a parser cuts a stream into that comes in pieces of a size.
func segmentsOf(t *testing.T, parser *config.Parser, stream []byte, size int) []string {
	segments := []string{}
	options := tokenizer.Options{Trace: func(event tokenizer.Event) {
		if segment, isSegment := event.(tokenizer.SegmentEvent); isSegment {
			segments = append(segments, string(segment.Text))
		}
	}}
	run, err := options.Compile(parser, attribute.NewEnvironment(), "")
	require.NoError(t, err)
	for piece := range pieces(stream, size) {
		_, err := run.Write(piece)
		require.NoError(t, err)
		clear(piece)
	}
	require.NoError(t, run.Close())
	return segments
}

// pieces yields copies of the parts of a stream.
func pieces(stream []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(stream) > 0 {
			piece := bytes.Clone(stream[:min(size, len(stream))])
			stream = stream[len(piece):]
			if !yield(piece) {
				return
			}
		}
	}
}

// naiveWindows returns what a window of that many characters sees of a stream
// in which nothing matches.
func naiveWindows(stream []byte, step int) []string {
	var characters []string
	for rest := stream; len(rest) > 0; {
		_, size := utf8.DecodeRune(rest)
		characters = append(characters, string(rest[:size]))
		rest = rest[size:]
	}
	windows := []string{}
	for len(characters) >= 2*step {
		windows = append(windows, strings.Join(characters[:2*step], ""))
		characters = characters[step:]
		if len(characters) == step { // the stream has ended with a full window
			return append(windows, strings.Join(characters, ""))
		}
	}
	rest := strings.Join(characters, "")
	if len(characters) > 0 {
		windows = append(windows, rest)
	}
	return append(windows, rest)
}

func FuzzWindows(f *testing.F) {
	f.Add([]byte("abcdefghij"), uint8(2), uint8(1))
	f.Add([]byte("caf\u00e9 \u20ac\xe2\x82"), uint8(1), uint8(2))
	f.Add([]byte("\xf0\x9f\x98\x80\xf0\x9f"), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, stream []byte, step, size uint8) {
		parser := &config.Parser{Element: "stdout-parser", MaxMatchLength: int(step)%8 + 1}
		require.Equal(t, naiveWindows(stream, parser.MaxMatchLength), segmentsOf(t, parser, stream, int(size)+1))
	})
}

// FuzzTokenizer runs the parsers of the golden cases on any stream: whatever
// comes, the outcome must not depend on the pieces it comes in.
func FuzzTokenizer(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "tokenizer", "*", "tokenizer.xml"))
	require.NoError(f, err)
	var parsers []*config.Parser
	var initials []attribute.Initial
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(f, err)
		definition, _ := config.Load(file, source)
		require.NotNil(f, definition)
		var initial attribute.Initial
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "env.json"))
		require.NoError(f, err)
		require.NoError(f, json.Unmarshal(text, &initial))
		stream, err := os.ReadFile(filepath.Join(filepath.Dir(file), "input.txt"))
		if err == nil && len(stream) < 1000 {
			f.Add(stream, uint16(len(parsers)), uint8(2))
		}
		parsers = append(parsers, definition.Commands[0].StdoutParser)
		initials = append(initials, initial)
	}
	f.Fuzz(func(t *testing.T, stream []byte, which uint16, size uint8) {
		index := int(which) % len(parsers)
		outcome := func(size int) string {
			env := attribute.NewEnvironment()
			initials[index].Define(env)
			run, err := tokenizer.Compile(parsers[index], env, initials[index].Job)
			if err != nil {
				return err.Error()
			}
			for piece := range pieces(stream, size) {
				_, err := run.Write(piece)
				require.NoError(t, err)
				clear(piece)
			}
			err = run.Close()
			text, marshalError := json.Marshal(env)
			require.NoError(t, marshalError)
			return fmt.Sprint(err, string(text))
		}
		require.Equal(t, outcome(len(stream)+1), outcome(int(size)+1))
	})
}
