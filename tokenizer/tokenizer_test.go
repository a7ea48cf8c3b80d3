package tokenizer_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/tokenizer"
)

// parserOf returns the parser that the XML describes.
func parserOf(t testing.TB, parser string) *config.Parser {
	definition, _ := check.Load("test.xml", []byte(definitionWith(parser)), nil)
	require.NotNil(t, definition)
	return definition.Commands[0].StdoutParser
}

// variables returns an environment with variables of these names.
func variables(names ...string) *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, name := range names {
		env.Define(name, attribute.New(name))
	}
	return env
}

// collecting is a parser that adds every segment to the value of r.
func collecting(attributes string) string {
	return `<stdout-parser ` + attributes + `><target ref="r"><match><expression flags="DOTALL">(.*)</expression>` +
		`<add field="value"><entry valueGroup="1"/></add></match></target></stdout-parser>`
}

func TestOutputAfterAnExitIsDiscarded(t *testing.T) {
	env := variables("r")
	run, err := tokenizer.Options{}.Compile(parserOf(t, strings.Replace(collecting(`delim="\n"`), "</stdout-parser>", "<exit-after>END</exit-after></stdout-parser>", 1)), env, "")
	require.NoError(t, err)
	for range 3 {
		n, err := io.WriteString(run, "a\nEND\nb\n")
		require.NoError(t, err)
		require.Equal(t, 8, n)
	}
	require.NoError(t, run.Close())
	require.Equal(t, []string{"a", "END"}, env.Variable("r").Value())
	require.EqualValues(t, 24, run.Stats().Bytes)
}

func TestOutputAfterAnErrorIsDiscarded(t *testing.T) {
	env := variables("r")
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target ref="r">
<match><expression>bad (.*)</expression><throw field="value" message="it is ${ptp_rm:r#value}"><entry valueGroup="1"/></throw></match>
</target></stdout-parser>`), env, "")
	require.NoError(t, err)
	require.NoError(t, run.Err())
	_, err = io.WriteString(run, "bad one\nbad two\n")
	require.NoError(t, err)
	require.Error(t, run.Err())
	_, err = io.WriteString(run, "bad three\n")
	require.NoError(t, err)

	err = run.Close()
	var failure *tokenizer.Error
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.Thrown)
	require.Equal(t, "it is one", failure.Message)
	require.Equal(t, `"bad one"`, failure.Segment)
	require.Equal(t, 3, failure.Line)
	require.EqualError(t, err, `test.xml:3:41: it is one (in "bad one")`)
	require.Equal(t, err, run.Close(), "closing again changes nothing")
	_, err = io.WriteString(run, "x")
	require.Error(t, err, "nothing can be written to a closed tokenizer")
}

func TestAReadErrorKeepsTheOutputReadSoFar(t *testing.T) {
	env := variables("r")
	run, err := tokenizer.Options{}.Compile(parserOf(t, collecting(`delim="\n"`)), env, "")
	require.NoError(t, err)
	lost := errors.New("connection lost")
	err = run.Run(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(lost)))
	require.ErrorIs(t, err, lost)
	require.ErrorContains(t, err, "stdout-parser")
	require.Equal(t, []string{"a", "b"}, env.Variable("r").Value())
}

func TestARegisteredTypeReadsTheWholeStream(t *testing.T) {
	parser := parserOf(t, `<stdout-parser><type>mine</type></stdout-parser>`)
	_, err := tokenizer.Options{}.Compile(parser, variables(), "")
	require.ErrorContains(t, err, `test.xml:2:34: unknown parser type "mine"`)

	var custom custom
	options := tokenizer.Options{Types: map[string]tokenizer.Factory{
		"mine": func(*config.Parser, *attribute.Environment, string) (io.WriteCloser, error) { return &custom, nil },
	}}
	run, err := options.Compile(parser, variables(), "job")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("all of it")))
	require.Equal(t, "all of it", custom.String())
	require.True(t, custom.closed)

	custom.failing = errors.New("no such format")
	run, err = options.Compile(parser, variables(), "job")
	require.NoError(t, err)
	require.ErrorIs(t, run.Run(strings.NewReader("all of it")), custom.failing)
}

type custom struct {
	strings.Builder
	closed  bool
	failing error
}

func (c *custom) Write(p []byte) (int, error) {
	if c.failing != nil {
		return 0, c.failing
	}
	return c.Builder.Write(p)
}

func (c *custom) Close() error {
	c.closed = true
	return nil
}

func TestMatchesAreCounted(t *testing.T) {
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target ref="r">
<match><expression>a.*</expression></match><match><expression>b.*</expression></match></target></stdout-parser>`), variables("r"), "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("a1\nb1\na2\nc\n")))
	totals, stats := run.Totals(), run.Stats()
	require.Equal(t, tokenizer.Stats{Bytes: 11, Segments: 5, Matched: 3, Unmatched: 2, Blank: 1}, totals)
	require.EqualValues(t, 5, stats.Segments)
	require.EqualValues(t, 3, stats.Matched)
	require.EqualValues(t, 2, stats.Unmatched)
	require.EqualValues(t, []int64{5, 2, 3, 1}, []int64{stats.Matches[0].Tried, stats.Matches[0].Matched, stats.Matches[1].Tried, stats.Matches[1].Matched})
}

func TestAnUnmatchedSegmentCostsNoMemory(t *testing.T) {
	env := variables("r")
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target ref="r"><match><expression>\s*State=(\w+).*</expression>
<set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser>`), env, "")
	require.NoError(t, err)
	lines := []byte(strings.Repeat("nothing to see in this line\n", 100))
	perRun := testing.AllocsPerRun(20, func() {
		_, err := run.Write(lines)
		require.NoError(t, err)
	})
	require.Zero(t, perRun)
}
