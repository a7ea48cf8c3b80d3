package tokenizer_test

import (
	"strings"
	"testing"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// An error names the failing element and the segment. In the parsers below, the mark ▶ precedes that
// element.
func TestErrorsNameTheElementAndTheSegment(t *testing.T) {
	inMatch := func(expression, actions string) string {
		return `<stdout-parser delim="\n"><target ref="r">
<match>` + expression + `
` + actions + `</match></target></stdout-parser>`
	}
	inTest := func(test string) string {
		return `<stdout-parser delim="\n"><target ref="r"><match><expression>.*</expression><set field="value"><entry value="1"/></set></match>
` + test + `</target></stdout-parser>`
	}
	constructed := func(actions string) string {
		return `<stdout-parser delim="\n">▶<target><match><expression>(\w)(\w)</expression><set field="name"><entry value="n"/></set>
` + actions + `</match></target></stdout-parser>`
	}
	const anything = `<expression>.*</expression>`
	for name, c := range map[string]struct{ parser, stream, reason, segment string }{
		"throw":                   {inMatch(anything, `▶<throw message="it is bad"/>`), "bad", "it is bad", `"bad"`},
		"throw without a message": {inMatch(anything, `▶<throw/>`), "bad", "the definition's parser reports a failure", `"bad"`},
		"throw that sets a field": {inMatch(`<expression>(.)(.*)</expression>`, `▶<throw field="value" message="it is ${ptp_rm:r#value}"><entry valueGroup="2"/></throw>`),
			"bad", "it is ad", `"bad"`},
		"throw in a test": {inTest(`<test><value>#value</value><value>1</value>
▶<throw message="one"/></test>`), "x", "one", ""},
		"throw in an else": {`<stdout-parser delim="\n"><target ref="r"><else>▶<throw message="nothing"/></else></target></stdout-parser>`, "x", "nothing", ""},
		"group that is not there": {inMatch(`<expression>.(.)?.*</expression>`, `▶<set field="value"><entry valueGroup="2"/></set>`), "line",
			"the entry takes group 2, but there are only 2, counted from 0", `"line"`},
		"group below 0": {inMatch(anything, `▶<set field="value"><entry valueGroup="-1"/></set>`), "line",
			"the entry takes group -1, but there are only 1, counted from 0", `"line"`},
		"key group that is not there": {inMatch(anything, `▶<put field="value"><entry keyGroup="3" value="x"/></put>`), "line",
			"the entry takes group 3, but there are only 1, counted from 0", `"line"`},
		"piece that is not there": {inMatch(`<expression split="true">i</expression>`, `▶<set field="value"><entry valueIndex="5"/></set>`), "line",
			"the entry takes piece 5, but there are only 2, counted from 0", `"line"`},
		"text for an integer": {inMatch(`<expression>(.*)</expression>`, `▶<set field="min"><entry valueGroup="1"/></set>`), "line",
			`setting min of attribute "r": "line" is not an integer`, `"line"`},
		"number beyond 32 bits": {inMatch(`<expression>(.*)</expression>`, `▶<set field="max"><entry valueGroup="1"/></set>`), "2147483648",
			`setting max of attribute "r": "2147483648" is not an integer`, `"2147483648"`},
		"integer for a boolean": {inMatch(anything, `▶<set field="visible"><entry value="1"/></set>`), "line",
			`setting visible of attribute "r": "1" is not a boolean`, `"line"`},
		"list for a text": {inMatch(anything, `<add field="value"><entry value="1"/></add>▶<set field="status"><entry value="#value"/></set>`), "line",
			`setting status of attribute "r": a list or map cannot be stored in a text field`, `"line"`},
		"list beside the value": {inMatch(anything, `▶<add field="status"><entry value="1"/></add>`), "line",
			`adding to status of attribute "r": only the value can hold a list`, `"line"`},
		"map beside the value": {inMatch(anything, `▶<put field="status"><entry key="k" value="1"/></put>`), "line",
			`putting "k" in status of attribute "r": only the value can hold a map`, `"line"`},
		"no key": {inMatch(`<expression>(x)?.*</expression>`, `▶<put field="value"><entry keyGroup="1" value="1"/></put>`), "line",
			"the entry has no key: its source is not set", `"line"`},
		"validator": {inMatch(anything, `▶<set field="validator"><entry value="1"/></set>`), "line",
			`setting validator of attribute "r": the field cannot be set`, `"line"`},
		"no field": {inMatch(anything, `▶<set><entry value="1"/></set>`), "line", "the set action has no field", `"line"`},
		"target that refers to nothing": {`<stdout-parser delim="\n">
▶<target ref="missing"><match><expression>.*</expression><set field="value"><entry value="1"/></set></match></target></stdout-parser>`, "line",
			`the target refers to attribute "missing", which does not exist`, `"line"`},
		"else of a target that refers to nothing": {`<stdout-parser delim="\n">
▶<target ref="@jobId"><else><set field="value"><entry value="1"/></set></else></target></stdout-parser>`, "line",
			`the target refers to attribute "@jobId", which does not exist`, ""},
		"texts that do not merge": {constructed(`<set field="value"><entry valueGroup="2"/></set>`), "aa\nab",
			`merging the constructed attributes named "n": their value differs: "a" and "b"`, ""},
		"fields that do not merge": {constructed(`<set field="description"><entry valueGroup="2"/></set>`), "aa\nab",
			`merging the constructed attributes named "n": their description differs: "a" and "b"`, ""},
		"kinds that do not merge": {`<stdout-parser delim="\n">▶<target><match><expression>a</expression><set field="name"><entry value="n"/></set><set field="value"><entry value="1"/></set></match>
<match><expression>b</expression><set field="name" forceNewObject="true"><entry value="n"/></set><add field="value"><entry value="2"/></add></match></target></stdout-parser>`, "a\nb",
			`merging the constructed attributes named "n": their values differ in kind: "1" and "[2]"`, ""},
		"comparison with one value": {inTest(`▶<test op="LT"><value>1</value></test>`), "x", "the LT test needs exactly two values", ""},
		"AND of one test":           {inTest(`▶<test op="AND"><test op="EQ"><value>1</value><value>1</value></test></test>`), "x", "the AND test needs at least two nested tests", ""},
		"OR of none":                {inTest(`▶<test op="OR"/>`), "x", "the OR test needs at least two nested tests", ""},
		"NOT of two tests": {inTest(`▶<test op="NOT"><test><value>1</value><value>1</value></test><test><value>1</value><value>1</value></test></test>`), "x",
			"the NOT test needs exactly one nested test", ""},
		"segment that is too long": {`▶<stdout-parser delim=";"/>`, strings.Repeat("x", 200_001), "a segment of the output is longer than the limit of 200000 bytes: " +
			"does the parser's delimiter occur in it? Programs can raise the limit (LongestSegment of tokenizer.Options)", ""},
		"window that is too long": {`▶<stdout-parser maxMatchLen="150000"/>`, strings.Repeat("x", 200_001), "a segment of the output is longer than the limit of 200000 bytes: " +
			"a smaller maxMatchLen takes less. Programs can raise the limit (LongestSegment of tokenizer.Options)", ""},
		"segments that are too long together": {`▶<stdout-parser delim="\n" all="true" save="9"/>`, strings.Repeat(strings.Repeat("x", 50_000)+"\n", 5),
			"the segments to be saved are together longer than the limit of 200000 bytes: " +
				"does the parser's delimiter occur in it, and is save as small as can be? Programs can raise the limit (LongestSegment of tokenizer.Options)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			source, at := unmarked(t, c.parser)
			run, err := tokenizer.Options{LongestSegment: 200_000}.Compile(parserOf(t, source), variables("r"), "")
			require.NoError(t, err)
			err = run.Run(strings.NewReader(c.stream))
			var failure *tokenizer.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, c.reason, failure.Reason())
			require.Equal(t, at, failure.Position)
			require.Equal(t, c.segment, failure.Segment)
			require.Equal(t, strings.HasPrefix(name, "throw"), failure.Thrown)
			message := at.String() + ": " + c.reason
			if c.segment != "" {
				message += " (in " + c.segment + ")"
			}
			require.EqualError(t, err, message)
		})
	}
}

func TestInvalidParsersAreRefusedWithTheirPosition(t *testing.T) {
	for name, c := range map[string]struct{ parser, message string }{
		"type":        {`▶<stdout-parser><type>mine</type></stdout-parser>`, `unknown parser type "mine"`},
		"maxMatchLen": {`▶<stdout-parser maxMatchLen="-1"/>`, "maxMatchLen must not be negative: -1"},
		"expression": {`<stdout-parser><target ref="r"><match>
<expression>ab▶(c</expression></match></target></stdout-parser>`, "invalid expression"},
		"second line of an expression": {`<stdout-parser><target ref="r"><match><expression flags="COMMENTS">a
b▶[c</expression></match></target></stdout-parser>`, "invalid expression"},
		"exit-on": {`<stdout-parser><exit-on>▶*</exit-on></stdout-parser>`, "invalid expression"},
		"expression with a reference": {`<stdout-parser><target ref="r"><match>
<expression>▶${ptp_rm:r#name}(</expression></match></target></stdout-parser>`, `(resolved from "${ptp_rm:r#name}(")`},
	} {
		t.Run(name, func(t *testing.T) {
			source, at := unmarked(t, c.parser)
			_, err := tokenizer.Options{}.Compile(parserOf(t, source), variables("r"), "")
			var failure *tokenizer.Error
			require.ErrorAs(t, err, &failure)
			require.ErrorContains(t, err, c.message)
			require.Equal(t, at.Line, failure.Line)
			require.GreaterOrEqual(t, failure.Column, at.Column)
			require.LessOrEqual(t, failure.Column, at.Column+len("(c"), "at the character, or at the end where one is missing")
		})
	}
}

func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 159) + "\xff\x1b" + strings.Repeat("y", 10_000)
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target ref="r"><match><expression flags="DOTALL">(.*)</expression>
<throw field="value" message="${ptp_rm:r#value}"><entry valueGroup="1"/></throw></match></target></stdout-parser>`), variables("r"), "")
	require.NoError(t, err)
	err = run.Run(strings.NewReader(long))
	var failure *tokenizer.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, `"`+strings.Repeat("x", 159)+`\xff"… of 10161 bytes`, failure.Segment)
	require.Less(t, len(err.Error()), 1_300)
	require.True(t, strings.HasSuffix(failure.Reason(), "yyy…"))
}

func TestExcessiveBacktrackingIsAnErrorWithItsPosition(t *testing.T) {
	t.Parallel()
	var class strings.Builder // a large class: trying it on é counts as much work
	for r := rune(0x100); r < 0x290; r += 2 {
		class.WriteRune(r)
	}
	source, at := unmarked(t, `<stdout-parser delim="\n"><target ref="r"><match>
<expression>▶(é)([é`+class.String()+`]+)+\1[bc]</expression></match></target></stdout-parser>`)
	run, err := tokenizer.Options{}.Compile(parserOf(t, source), variables("r"), "")
	require.NoError(t, err)
	err = run.Run(strings.NewReader(strings.Repeat("é", 60) + "\n"))
	var failure *tokenizer.Error
	require.ErrorAs(t, err, &failure)
	require.ErrorIs(t, err, javaregex.ErrBacktracking)
	require.Equal(t, at, failure.Position)
	require.Contains(t, failure.Segment, "éééé")
}

// unmarked returns a parser without the mark ▶, and the position of the mark.
func unmarked(t *testing.T, parser string) (string, config.Position) {
	before, _, found := strings.Cut(parser, "▶")
	require.True(t, found)
	start, _, found := strings.Cut(definitionWith("PARSER"), "PARSER")
	require.True(t, found)
	before = start + before
	return strings.Replace(parser, "▶", "", 1), config.Position{
		File: "test.xml", Line: strings.Count(before, "\n") + 1, Column: len(before) - strings.LastIndexByte(before, '\n'),
	}
}
