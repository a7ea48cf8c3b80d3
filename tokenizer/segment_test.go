package tokenizer_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

func TestStreamsAreSplitIntoSegments(t *testing.T) {
	for name, c := range map[string]struct {
		attributes, stream string
		segments           []string
	}{
		"the end of the stream ends a segment":         {`delim="\n"`, "a\nb", []string{"a", "b"}},
		"a segment follows the last delimiter":         {`delim="\n"`, "a\nb\n", []string{"a", "b", ""}},
		"an empty stream is a segment":                 {`delim="\n"`, "", []string{""}},
		"delimiters in a row":                          {`delim="\n"`, "\n\na\n\n", []string{"", "", "a", "", ""}},
		"delimiters are kept":                          {`delim="\n" includeDelim="true"`, "a\n\nb", []string{"a\n", "\n", "b"}},
		"a carriage return before a line feed stays":   {`delim="\n"`, "a\r\nb\r\n", []string{"a\r", "b\r", ""}},
		"a carriage return takes a line feed with it":  {`delim="\r"`, "a\r\nb\rc\n", []string{"a", "b", "c\n"}},
		"but only one, and right after it":             {`delim="\r"`, "a\r\n\nb\r \n\r", []string{"a", "\nb", " \n", ""}},
		"carriage returns in a row":                    {`delim="\r"`, "a\r\r\n\rb", []string{"a", "", "", "b"}},
		"a carriage return is kept with its line feed": {`delim="\r" includeDelim="true"`, "a\r\nb\rc\r", []string{"a\r\n", "b\r", "c\r", ""}},
		"carriage returns that are kept in a row":      {`delim="\r" includeDelim="true"`, "\r\r\n\n", []string{"\r", "\r\n", "\n"}},
		"a tab":                                        {`delim="\t"`, "a\tb\nc", []string{"a", "b\nc"}},
		"only the first character counts":              {`delim="||"`, "a|b||c", []string{"a", "b", "", "c"}},
		"a line feed among others counts":              {`delim="x\n\r"`, "axb\rc\nd", []string{"axb\rc", "d"}},
		"a character of XML":                           {`delim="&#9;"`, "a\tb", []string{"a", "b"}},
		"NUL without a delimiter":                      {``, "a\nb\x00c", []string{"a\nb", "c"}},
		"NUL for an empty delimiter":                   {`delim=""`, "a\x00\x00", []string{"a", "", ""}},
		"NUL within a segment":                         {`delim="\n"`, "a\x00b\n\x00", []string{"a\x00b", "\x00"}},
		"bytes that are not UTF-8":                     {`delim="\n"`, "\xff\xfe\n\xc3\n\x80", []string{"\xff\xfe", "\xc3", "\x80"}},
		"a delimiter of several bytes":                 {`delim="€"`, "a€b€€", []string{"a", "b", "", ""}},
		"which is kept":                                {`delim="€" includeDelim="true"`, "a€€b", []string{"a€", "€", "b"}},
		"which never gets complete":                    {`delim="€"`, "a\xe2\x82b\xe2\x82", []string{"a\xe2\x82b\xe2\x82"}},
		"which begins twice":                           {`delim="€"`, "\xe2\xe2\x82\xe2\x82\xacb", []string{"\xe2\xe2\x82", "b"}},
		"windows of twice the length move on by it":    {`maxMatchLen="2"`, "abcdefg", []string{"abcd", "cdef", "efg", "efg"}},
		"windows count characters":                     {`maxMatchLen="1"`, "aé€\xff\xe2\x82", []string{"aé", "é€", "€\xff", "\xff\xe2", "\xe2\x82", "\x82"}},
		"windows need no delimiter":                    {`maxMatchLen="2" delim="\n"`, "a\nb\nc", []string{"a\nb\n", "b\nc", "b\nc"}},
		"a window that the stream fills is seen again": {`maxMatchLen="2"`, "abcd", []string{"abcd", "cd"}},
		"an empty stream is a window":                  {`maxMatchLen="2"`, "", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			parser := parserOf(t, "<stdout-parser "+c.attributes+"/>")
			for size := range len(c.stream) + 1 {
				require.Equal(t, c.segments, segmentsOf(t, parser, []byte(c.stream), size+1), "in pieces of %d", size+1)
			}
		})
	}
}

// all, save and the exits decide which segments the targets see.
func TestSegmentsThatTargetsSee(t *testing.T) {
	for name, c := range map[string]struct {
		attributes, exits, stream string
		seen                      any
	}{
		"all segments":                                     {`delim=";"`, ``, "a;b;c", []string{"a", "b", "c"}},
		"the last that are not empty":                      {`delim=";" all="true" save="2"`, ``, "a;b;;c;;", []string{"b", "c"}},
		"fewer than are saved":                             {`delim=";" all="true" save="9"`, ``, "a;b", []string{"a", "b"}},
		"none where none is saved":                         {`delim=";" all="true"`, ``, "a;b", nil},
		"saving without all means nothing":                 {`delim=";" save="1"`, ``, "a;b", []string{"a", "b"}},
		"none from exit-on on":                             {`delim=";"`, `<exit-on>x.*</exit-on>`, "a;ax;xa;b", []string{"a", "ax"}},
		"none after exit-after":                            {`delim=";"`, `<exit-after>x.*</exit-after>`, "a;ax;xa;b", []string{"a", "ax", "xa"}},
		"exit-on counts before exit-after":                 {`delim=";"`, `<exit-on>x</exit-on><exit-after>x</exit-after>`, "a;x;b", []string{"a"}},
		"saved before exit-on":                             {`delim=";" all="true" save="1"`, `<exit-on>x</exit-on>`, "a;b;x;c", []string{"b"}},
		"saved up to exit-after":                           {`delim=";" all="true" save="2"`, `<exit-after>x</exit-after>`, "a;b;x;c", []string{"b", "x"}},
		"an exit at the empty last segment":                {`delim=";"`, `<exit-on></exit-on>`, "a;", []string{"a"}},
		"none from exit-on on, after long delimiters":      {`delim="€"`, `<exit-on>x</exit-on>`, "a€x€b€c", []string{"a"}},
		"none after exit-after, after long delimiters":     {`delim="€"`, `<exit-after>x</exit-after>`, "a€x€b€c", []string{"a", "x"}},
		"the delimiter is part of what an exit must match": {`delim=";" includeDelim="true"`, `<exit-on>x</exit-on>`, "x;x", []string{"x;"}},
		"windows up to exit-on":                            {`maxMatchLen="2"`, `<exit-on>.*x.*</exit-on>`, "abcdefxg", []string{"abcd"}},
		"windows up to exit-after":                         {`maxMatchLen="2"`, `<exit-after>.*x.*</exit-after>`, "abcdefxghi", []string{"abcd", "efxg"}},
	} {
		t.Run(name, func(t *testing.T) {
			parser := parserOf(t, strings.Replace(collecting(c.attributes), "</stdout-parser>", c.exits+"</stdout-parser>", 1))
			for size := range len(c.stream) + 1 {
				env := variables("r")
				run, err := tokenizer.Options{}.Compile(parser, env, "")
				require.NoError(t, err)
				require.NoError(t, run.Run(&pieceReader{rest: []byte(c.stream), size: size + 1}))
				require.Equal(t, c.seen, env.Variable("r").Value(), "in pieces of %d", size+1)
			}
		})
	}
}

// A pieceReader reads that many bytes at a time.
type pieceReader struct {
	rest []byte
	size int
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(r.size, len(p))], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestSegmentsLongerThanTheLimitAreErrors(t *testing.T) {
	for _, attributes := range []string{`delim="\n"`, `delim="\r" includeDelim="true"`, "delim=\"\u20ac\"", `maxMatchLen="1000"`, ``, `delim="\n" all="true" save="9"`} {
		parser := parserOf(t, collecting(attributes))
		for _, c := range []struct {
			stream string
			fails  bool
		}{{"ok", false}, {strings.Repeat("x", 31), true}, {strings.Repeat("x", 31) + "\n\r\u20ac", true}, {strings.Repeat("x", 30), false}} {
			for _, reader := range []io.Reader{strings.NewReader(c.stream), iotest.OneByteReader(strings.NewReader(c.stream))} {
				run, err := tokenizer.Options{LongestSegment: 30}.Compile(parser, variables("r"), "")
				require.NoError(t, err)
				err = run.Run(reader)
				require.Equal(t, c.fails, err != nil, "%s %q: %v", attributes, c.stream, err)
				if c.fails {
					require.ErrorContains(t, err, "longer than the limit of 30 bytes: ")
				}
			}
		}
	}
}

func TestReplacedSavedSegmentsDoNotCount(t *testing.T) {
	env := variables("r")
	run, err := tokenizer.Options{LongestSegment: 10}.Compile(parserOf(t, collecting(`delim="\n" all="true" save="2"`)), env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader(strings.Repeat("1234\n", 9)+"12345\n")))
	require.Equal(t, []string{"1234", "12345"}, env.Variable("r").Value())
}

// Memory is bounded while the stream arrives, not only when a segment is complete.
func TestALongSegmentIsRefusedBeforeItEnds(t *testing.T) {
	for _, attributes := range []string{`delim="\n"`, `delim="\r" includeDelim="true"`, `delim="€"`, `maxMatchLen="1000"`} {
		run, err := tokenizer.Options{LongestSegment: 30}.Compile(parserOf(t, "<stdout-parser "+attributes+"/>"), variables(), "")
		require.NoError(t, err)
		for range 30 {
			_, err := io.WriteString(run, "x")
			require.NoError(t, err)
		}
		require.NoError(t, run.Err(), attributes)
		_, err = io.WriteString(run, "xxxx")
		require.NoError(t, err)
		require.ErrorContains(t, run.Err(), "longer than the limit of 30 bytes", attributes)
	}
}

func TestTotalOfSavedSegmentsIsBounded(t *testing.T) {
	run, err := tokenizer.Options{LongestSegment: 10}.Compile(parserOf(t, collecting(`delim="\n" all="true" save="100"`)), variables("r"), "")
	require.NoError(t, err)
	require.ErrorContains(t, run.Run(strings.NewReader("1234\n1234\n1234\n")), "the segments to be saved are together longer than the limit of 10 bytes: ")
}

func TestMemoryForARefusedSegmentIsBounded(t *testing.T) {
	const limit = 16 << 20
	piece := make([]byte, 32<<10)
	for _, attributes := range []string{`delim="\n"`, `delim="€"`, `maxMatchLen="100000000"`} {
		run, err := tokenizer.Options{LongestSegment: limit}.Compile(parserOf(t, "<stdout-parser "+attributes+"/>"), variables(), "")
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 8 * limit / len(piece) {
			_, err := run.Write(piece)
			require.NoError(t, err)
		}
		runtime.ReadMemStats(&after)
		require.Error(t, run.Err(), attributes)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(limit+limit/2), attributes)
	}
}

// A line of 100 MB exceeds the limit unless the limit is raised.
func TestALineOf100Megabytes(t *testing.T) {
	const length = 100 << 20
	line := func() io.Reader {
		return io.MultiReader(strings.NewReader("first\n"), io.LimitReader(endless{}, length), strings.NewReader("\nlast"))
	}
	parser := parserOf(t, `<stdout-parser delim="\n"><target ref="r"><match><add field="value"><entry value="seen"/></add></match></target></stdout-parser>`)
	env := variables("r")
	run, err := tokenizer.Options{}.Compile(parser, env, "")
	require.NoError(t, err)
	require.EqualError(t, run.Run(line()), "test.xml:2:34: a segment of the output is longer than the limit of 67108864 bytes: "+
		"does the parser's delimiter occur in it? Programs can raise the limit (LongestSegment of tokenizer.Options)")
	require.Equal(t, []string{"seen"}, env.Variable("r").Value(), "what came before counts")
	require.EqualValues(t, len("first\n")+length+len("\nlast"), run.Stats().Bytes, "the rest is accepted")

	env = variables("r")
	run, err = tokenizer.Options{LongestSegment: length}.Compile(parser, env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(line()))
	require.Equal(t, []string{"seen", "seen", "seen"}, env.Variable("r").Value())
}

// endless is an infinite stream of NUL bytes.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
