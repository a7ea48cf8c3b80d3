package tokenizer_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// originsOf runs a parser and returns the origins in the environment then.
func originsOf(t *testing.T, parser string, env *attribute.Environment, stream string) *attribute.Environment {
	t.Helper()
	run, err := tokenizer.Options{Origins: "state"}.Compile(parserOf(t, parser), env, "job")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader(stream)))
	return env
}

const setsState = `<set field="value"><entry valueGroup="1"/></set>`

func TestOriginIsTheLineOfTheValue(t *testing.T) {
	for name, c := range map[string]struct {
		attributes, targets, stream string
		line                        int
		text                        string
	}{
		"a line":                      {`delim="\n"`, `<target ref="job"><match><expression>state (\w+)</expression>` + setsState + `</match></target>`, "id 7\nstate R\nend\n", 2, "state R"},
		"the last of several":         {`delim="\n"`, `<target ref="job"><match><expression>state (\w+)</expression>` + setsState + `</match></target>`, "state Q\nid 7\nstate R\n", 3, "state R"},
		"without its end":             {`delim="\n" includeDelim="true"`, `<target ref="job"><match><expression>state (\w+)\s*</expression>` + setsState + `</match></target>`, "state R\r\n", 1, "state R"},
		"not the line of other facts": {`delim="\n"`, `<target ref="job"><match><expression>state (\w+)</expression>` + setsState + `</match><match><expression>short (\w+)</expression><set field="default"><entry valueGroup="1"/></set></match></target>`, "state R\nshort 7\n", 1, "state R"},
		"unless there is no other":    {`delim="\n"`, `<target ref="job"><match><expression>short (\w+)</expression><set field="default"><entry valueGroup="1"/></set></match></target>`, "x\nshort 7\n", 2, "short 7"},
		"within all of the output":    {``, `<target ref="job"><match><expression flags="DOTALL">.*state (\w+).*</expression>` + setsState + `</match></target>`, "id 7\nname x\nstate R of it\nend\n", 3, "state R of it"},
		"of a parser that saves":      {`delim="\n" all="true" save="2"`, `<target ref="job"><match><expression>(\w+)</expression>` + setsState + `</match></target>`, "a\nb\nc\n", 3, "c"},
		"in windows without a number": {`maxMatchLen="20"`, `<target ref="job"><match><expression flags="DOTALL">.*state (\w+).*</expression>` + setsState + `</match></target>`, strings.Repeat("words and more\n", 5) + "state R\n", 0, "state R"},
		"by a test on another value": {`delim="\n" applyToAll="true"`, `<target ref="word"><match><expression>word (\w+)</expression>` + setsState + `</match></target>
			<target ref="job"><match><expression>id (\w+)</expression><set field="status"><entry valueGroup="1"/></set></match>
			<test><value>${ptp_rm:word#value}</value><value>R</value><set field="value"><entry value="RUNNING"/></set></test></target>`, "id 7\nname x\nword R\n", 3, "word R"},
		"by several tests in a row": {`delim="\n" applyToAll="true"`, `<target ref="word"><match><expression>word (\w+)</expression>` + setsState + `</match></target>
			<target ref="other"><match><expression>()id.*</expression><set field="status"/></match><test op="AND"><test><value>1</value><value>1</value></test><test><value>${ptp_rm:word#value}</value><value>R</value></test><set field="value"><entry value="word"/></set></test></target>
			<target ref="job"><match><expression>id (\w+)</expression><set field="status"><entry valueGroup="1"/></set></match>
			<test><value>1</value><value>1</value><set field="value"><entry value="${ptp_rm:${ptp_rm:other#value}#value}"/></set></test></target>`, "id 7\nname x\nword R\n", 3, "word R"},
		"by what a test looks at itself": {`delim="\n"`, `<target ref="job"><match><expression>state (\w+)</expression>` + setsState + `</match>
			<test><value>#value</value><value>R</value><set field="value"><entry value="RUNNING"/></set></test></target>`, "id 7\nstate R\n", 2, "state R"},
		"though an earlier test looked elsewhere": {`delim="\n" applyToAll="true"`, `<target ref="word"><match><expression>word (\w+)</expression>` + setsState + `</match></target>
			<target ref="job"><match><expression>state (\w+)</expression>` + setsState + `</match>
			<test><value>${ptp_rm:word#value}</value><value>none</value></test>
			<test><value>1</value><value>1</value><set field="value"><entry value="RUNNING"/></set></test></target>`, "state R\nword R\n", 1, "state R"},
	} {
		t.Run(name, func(t *testing.T) {
			env := originsOf(t, `<stdout-parser `+c.attributes+`>`+c.targets+`</stdout-parser>`, variables("job", "word", "other"), c.stream)
			require.Equal(t, &attribute.Origin{Stream: "stdout", Line: c.line, Text: c.text}, env.Variable("job").Origin)
		})
	}
}

func TestOriginOfEachRowOfAListing(t *testing.T) {
	const rows = `<stdout-parser delim="\n"><target>
		<match><expression>(\d+) (\w+).*</expression><set field="name"><entry valueGroup="1"/></set><put field="value"><entry key="state" valueGroup="2"/></put></match>
		<match><expression>reason (\d+) (\w+)</expression><set field="name"><entry valueGroup="1"/></set><put field="value"><entry key="reason" valueGroup="2"/></put></match>
	</target></stdout-parser>`
	var stream strings.Builder
	stream.WriteString("the jobs\nreason 7 Early\n")
	for id := range 300 {
		fmt.Fprintf(&stream, "%d RUNNING %s\nreason %d None\n", id, strings.Repeat("x", id), id)
	}
	env := originsOf(t, rows, variables(), stream.String())
	for id := range 300 {
		origin := env.DiscoveredAttribute(fmt.Sprint(id)).Origin
		require.Equal(t, 3+2*id, origin.Line, "of row %d, which has other lines, too", id)
		require.Equal(t, strings.TrimSuffix(fmt.Sprintf("%d RUNNING %s", id, strings.Repeat("x", id)), "\n"), origin.Text)
	}
}

func TestALongLineIsCutBetweenCharacters(t *testing.T) {
	env := originsOf(t, `<stdout-parser delim="\n"><target ref="job"><match><expression>state (\w+) .*</expression>`+setsState+`</match></target></stdout-parser>`,
		variables("job"), "state R x"+strings.Repeat("€", 1000))
	text := env.Variable("job").Origin.Text
	require.True(t, utf8.ValidString(text))
	require.LessOrEqual(t, len(text), 512)
	require.Greater(t, len(text), 500)
}

func TestSkimmedLinesAreCounted(t *testing.T) {
	stream := strings.Repeat("nothing to see in this line\n", 5000) + "JobState=RUNNING\n" + strings.Repeat("nor in this one\n", 5000)
	env := originsOf(t, `<stdout-parser delim="\n"><target ref="job"><match><expression>JobState=(\w+)</expression>`+setsState+`</match></target></stdout-parser>`,
		variables("job"), stream)
	require.Equal(t, 5001, env.Variable("job").Origin.Line)
}

func TestOriginsAreRecordedOnlyOnRequest(t *testing.T) {
	env := variables("job")
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n"><target ref="job"><match><expression>(.*)</expression>`+setsState+`</match></target></stdout-parser>`), env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("R")))
	require.Nil(t, env.Variable("job").Origin)
}
