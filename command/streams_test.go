package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

func TestMergedStreamsGoToTheRedirectParser(t *testing.T) {
	const script = `echo one; echo two >&2; echo three`
	b := newBench(t, `<attribute name="a"/><attribute name="b"/><attribute name="c"/>`+
		shell(script, `redirectStderr="true"`, lines("stdout-parser", "a")+lines("stderr-parser", "b")+lines("redirect-parser", "c")))
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, []string{"", "", "one,two,three"}, []string{b.env.Text("a"), b.env.Text("b"), b.env.Text("c")})
	require.Equal(t, "one\ntwo\nthree\n", result.Stdout)
	require.Empty(t, result.Stderr)

	b = newBench(t, `<attribute name="a"/>`+shell(script, `redirectStderr="true"`, lines("stdout-parser", "a")))
	b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "one,two,three", b.env.Text("a"), "without a parser for them, to that of stdout")

	b = newBench(t, `<attribute name="a"/><attribute name="c"/>`+shell(script, "", lines("stdout-parser", "a")+lines("redirect-parser", "c")))
	b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "one,three", b.env.Text("a"))
	require.Empty(t, b.env.Text("c"), "streams that are not merged have no such parser")
}

// sets is a parser that sets an attribute to a text when a line has matched.
func sets(parser, expression, text string) string {
	return fmt.Sprintf(`<%s delim="\n"><target ref="a"><match><expression>%s</expression><set field="value"><entry value="%s"/></set></match></target></%s>`,
		parser, expression, text, parser)
}

func TestStandardOutputWinsOverStandardError(t *testing.T) {
	parsers := sets("stdout-parser", "row", "RUNNING") + sets("stderr-parser", ".+", "COMPLETED")
	for name, c := range map[string]struct{ script, want string }{
		"stderr last":  {`echo row; echo warning >&2`, "RUNNING"},
		"stderr first": {`echo warning >&2; echo row`, "RUNNING"},
		"stderr alone": {`echo unknown job >&2`, "COMPLETED"},
		"neither":      {`:`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, `<attribute name="a"/>`+shell(c.script, "", parsers))
			b.succeeds(t, config.StartUpCommand)
			require.Equal(t, c.want, b.env.Text("a"))
		})
	}
}

// The definitions for Cobalt have such an expression for stderr: it matches the empty segment
// that ends every stream.
func TestAnEmptyStreamHasOneEmptySegment(t *testing.T) {
	parsers := sets("stdout-parser", "row", "RUNNING") + sets("stderr-parser", "(?s)", "COMPLETED")
	for script, want := range map[string]string{`echo row`: "RUNNING", `:`: "COMPLETED"} {
		b := newBench(t, `<attribute name="a"/>`+shell(script, "", parsers))
		b.succeeds(t, config.StartUpCommand)
		require.Equal(t, want, b.env.Text("a"))
	}
}

func throws(parser, message string) string {
	return fmt.Sprintf(`<%s delim="\n"><target ref="a"><match><expression>.+</expression><throw message="%s"/></match></target></%s>`, parser, message, parser)
}

func TestTheErrorOfTheParserForStdoutGoesFirst(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo x; echo y >&2`, "", throws("stdout-parser", "from stdout")+throws("stderr-parser", "from stderr")))
	failed := b.fails(t, config.StartUpCommand)
	require.ErrorContains(t, failed.Err, "from stdout")
	require.NotContains(t, failed.Err.Error(), "from stderr")

	b = newBench(t, `<attribute name="a"/>`+shell(`echo y >&2`, "", throws("stdout-parser", "from stdout")+throws("stderr-parser", "from stderr")))
	require.ErrorContains(t, b.fails(t, config.StartUpCommand).Err, "from stderr")
}

func TestAParserThatFailedDoesNotStopItsCommand(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo x; head -c 300000 /dev/zero | tr '\0' y; touch finished`, "", throws("stdout-parser", "no")))
	require.Equal(t, command.ParserFailed, b.fails(t, config.StartUpCommand).Failure)
	require.True(t, b.exists("finished"))
}

func TestLongOutputIsBufferedInAFile(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	counting := strings.ReplaceAll(`<PARSER delim="\n"><target ref="NAME"><match><expression>last (\d+)</expression><set field="value"><entry valueGroup="1"/></set></match></target></PARSER>`,
		"PARSER", "stdout-parser")
	parsers := strings.ReplaceAll(counting, "NAME", "a") + strings.ReplaceAll(strings.ReplaceAll(counting, "stdout-parser", "stderr-parser"), "NAME", "b")
	const lineCount = 100_000 // of 51 bytes
	b := newBench(t, `<attribute name="a"/><attribute name="b"/>`+shell(fmt.Sprintf(
		`awk 'BEGIN { for (i = 1; i <= %[1]d; i++) printf "%%050d\n", i; print "last", %[1]d }'; ls %[2]s >named; ls -l /proc/$PPID/fd >spooled 2>/dev/null; echo last 2 >&2`, lineCount, temporary), "", parsers))
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "100000", b.env.Text("a"))
	require.Equal(t, "2", b.env.Text("b"))
	require.Empty(t, b.file(t, "named"), "a file without a name is not left behind, however the program ends")
	if runtime.GOOS == "linux" {
		require.Contains(t, b.file(t, "spooled"), filepath.Join(temporary, "rmctl-output-"), "it is not all in memory")
	}
	require.Less(t, len(result.Stdout), 40<<10, "of which only the end is kept")
	require.True(t, strings.HasSuffix(result.Stdout, "\nlast 100000\n"))
	require.Len(t, strings.SplitN(result.Stdout, "\n", 2)[0], 50, "what is kept begins with a whole line")
}

func TestOutputThatCannotBeBufferedIsAnError(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	b := newBench(t, `<attribute name="a"/>`+shell(`head -c 3000000 /dev/zero | tr '\0' '\n'`, "", lines("stdout-parser", "a")+lines("stderr-parser", "a")))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.ParserFailed, failed.Failure)
	require.ErrorIs(t, failed, os.ErrNotExist)
	require.ErrorContains(t, failed, "keeping the command's output")
}

func TestTheEndOfOutputIsKeptForReports(t *testing.T) {
	for name, c := range map[string]struct{ limit, script, want string }{
		"the last characters of one long line":     {"10", `printf 0123456789abcdef`, "6789abcdef"},
		"fewer than the limit":                     {"10", `printf 0123`, "0123"},
		"whole lines":                              {"10", `printf 'a\nbb\nccc\nddd\n'`, "ccc\nddd\n"},
		"a long last line is not lost for its end": {"10", `printf 'a\n0123456789abcdef\n'`, "789abcdef\n"},
		"no part of a character":                   {"10", `printf 'äöüäöüäöü123'`, "äöü123"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, shell(c.script, `streamBufferLimit="`+c.limit+`"`, ""))
			require.Equal(t, c.want, b.succeeds(t, config.StartUpCommand).Stdout)
		})
	}
}

func TestOutputMayBeAnyBytes(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`printf 'a\377\000b\ntwo\n'`, "", lines("stdout-parser", "a")))
	b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "a\xff\x00b,two", b.env.Text("a"))
}

func TestAnUnknownTokenizerIsRefusedBeforeAnythingRuns(t *testing.T) {
	b := newBench(t, shell(`touch ran`, "", `<stdout-parser><type>org.example.tokenizer</type></stdout-parser>`))
	failed := b.fails(t, config.StartUpCommand)
	require.ErrorContains(t, failed, "org.example.tokenizer")
	require.False(t, failed.Ambiguous())
	require.False(t, b.exists("ran"))
}

func TestAnInvalidParserRunsNothing(t *testing.T) {
	parser := sets("stdout-parser", "${ptp_rm:a#value}", "x")
	b := newBench(t, `<attribute name="a"><default>(</default></attribute>`+shell(`touch ran`, "", parser)+
		element("submit-batch", `:`, "", "")+element("get-job-status", `echo $$ >pid.new; mv pid.new pid; exec sleep 600`, "", parser))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.Failure("not resolvable"), failed.Failure)
	require.False(t, failed.Ambiguous(), "nothing can have had an effect")
	require.False(t, b.exists("ran"))

	require.Equal(t, command.Failure("not resolvable"), b.fails(t, config.GetJobStatus).Failure, "a query is ended")
}
