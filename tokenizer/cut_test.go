package tokenizer_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// The result must not depend on how the bytes of a stream arrive: every golden input is split at every
// byte, and sent one byte at a time.
func TestResultDoesNotDependOnHowTheStreamIsSplit(t *testing.T) {
	folders := goldenFolders(t)
	if examples, err := exampleFolders(); err == nil {
		folders = append(folders, examples...)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			c := readGoldenCase(t, folder)
			parser := c.parser(t)
			whole := c.outcome(parser, nil, len(c.stream))
			for _, sizes := range divisions(len(c.stream)) {
				if outcome := c.outcome(parser, nil, sizes...); outcome != whole {
					require.Equal(t, whole, outcome, "in pieces of %d bytes", sizes)
				}
			}
			require.Equal(t, whole, c.outcome(parser, func(tokenizer.TraceEvent) {}, len(c.stream)), "a trace changes nothing")
		})
	}
}

// divisions returns ways to split a stream, each as the sizes of its pieces. A short stream is split in
// two at every byte. For a long one that takes too long: one run splits at every 13th byte, the next at
// the bytes after those, and so on, until each byte was a boundary; some runs split once.
func divisions(length int) [][]int {
	const long, between, single = 300, 13, 5
	ways := [][]int{ofSize(1, length), ofSize(7, length), ofSize(4096, length)}
	if length <= long {
		for at := range length {
			ways = append(ways, []int{at, length - at})
		}
		return ways
	}
	for first := range between {
		ways = append(ways, append([]int{first}, ofSize(between, length-first)...))
	}
	for i := range single {
		at := length / single * i
		ways = append(ways, []int{at, length - at}, []int{length - i - 1, i + 1})
	}
	return ways
}

// ofSize divides a length into pieces of one size; the last may be shorter.
func ofSize(size, length int) []int {
	pieces := slices.Repeat([]int{size}, length/size)
	return append(pieces, length%size)
}

// outcome feeds the stream to a new run of the parser, in pieces of these sizes, and describes the
// complete result.
func (c goldenCase) outcome(parser *config.Parser, trace func(tokenizer.TraceEvent), sizes ...int) string {
	environment := c.environment()
	run, err := tokenizer.Options{Trace: trace}.Compile(parser, environment, c.initial.Job)
	if err != nil {
		return err.Error()
	}
	buffer := make([]byte, slices.Max(sizes))
	stream := c.stream
	for _, size := range sizes {
		n := copy(buffer[:size], stream)
		stream = stream[n:]
		if _, err := run.Write(buffer[:n]); err != nil {
			return err.Error()
		}
		clear(buffer[:n]) // nothing may keep a reference to it
	}
	err = run.Close()
	return fmt.Sprintf("%d bytes are left\n%v\n%s\n%s", len(stream), err, countsOf(run.Stats()), describeEnvironment(environment))
}

// countsOf returns the counters of a run, without times, which vary.
func countsOf(stats tokenizer.Stats) string {
	text := fmt.Sprintf("%d bytes, %d segments, %d matched, %d unmatched", stats.Bytes, stats.Segments, stats.Matched, stats.Unmatched)
	for _, match := range stats.Matches {
		text += fmt.Sprintf(", %d of %d", match.Matched, match.Tried)
	}
	for _, exit := range stats.Exits {
		text += fmt.Sprintf(", %d of %d exits", exit.Matched, exit.Tried)
	}
	return text
}

// describeEnvironment returns every field of every attribute, with each byte and type.
func describeEnvironment(environment *attribute.Environment) string {
	var text strings.Builder
	describe := func(kind, key string, described *attribute.Attribute) {
		fmt.Fprintf(&text, "%s %q:", kind, key)
		for _, name := range attribute.FieldNames() {
			field, _ := attribute.ParseField(name)
			if value := described.Field(field); value != nil {
				fmt.Fprintf(&text, " %s=%#v", name, value)
			}
		}
		text.WriteByte('\n')
	}
	for _, key := range environment.Variables() {
		describe("variable", key, environment.Variable(key))
	}
	for _, name := range environment.Discovered() {
		describe("discovered", name, environment.DiscoveredAttribute(name))
	}
	return text.String()
}
