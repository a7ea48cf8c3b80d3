package tokenizer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

func TestTraceReportsAllEventsInOrder(t *testing.T) {
	require.Equal(t, []string{
		`segment 1 v=5`, `match v=5 ["v=5" "5" unset], 3 consumed`, `value = 5`,
		`segment 2 - v=5 -`, `miss, only v=5`, `miss`, `unmatched 2`,
		`segment 3 n`, `miss`, `match n ["n"], 1 consumed`, `name = n`,
		`segment 4 n`, `miss`, `match n ["n"], 1 consumed`, `name = n`,
		`segment 5 END`, `exit END`,
		`end`,
		`  test r: EQ [5 5] true`, `  test r: GT [5 9] false`, `test r: AND [] false`,
		`else, acted`, `warning at line 9`, `status = ${ptp_rm:r#nosuch}`,
		`merge n`, `discover n`,
	}, traceOf(t, `<stdout-parser delim="\n">
<target ref="r">
 <match><expression>v=(\d)(x)?</expression><set field="value"><entry valueGroup="1"/></set></match>
 <test op="AND">
  <test op="EQ"><value>#value</value><value>5</value></test>
  <test op="GT"><value>#value</value><value>9</value></test>
 </test>
 <else><set field="status"><entry value="${ptp_rm:r#nosuch}"/></set></else>
</target>
<target allowOverwrites="true">
 <match><expression>n</expression><set field="name"><entry value="n"/></set></match>
</target>
<exit-on>END</exit-on></stdout-parser>`, "v=5\n- v=5 -\nn\nn\nEND\nlater"))
}

func TestTraceShowsHowFarAnExpressionMatches(t *testing.T) {
	parser := `<stdout-parser delim="\n"><target ref="r"><match><expression>(\w+)\s+(\d+)\s+R</expression></match></target></stdout-parser>`
	require.Equal(t, []string{
		`segment 1 job 17 Q`, `miss, (\w+)\s+(\d+)\s+ gets to "Q"`, `unmatched 1`,
		`segment 2 job`, `miss, (\w+) gets to ""`, `unmatched 2`,
		`segment 3 -job`, `miss`, `unmatched 3`,
		`segment 4 (job 17 R)`, `miss, only job 17 R`, `unmatched 4`,
		`end`,
	}, traceOf(t, parser, "job 17 Q\njob\n-job\n(job 17 R)"))
}

func TestTraceNumbersSavedSegmentsInStreamOrder(t *testing.T) {
	require.Equal(t, []string{
		`segment 1 a`, `segment 2 `, `segment 3 b`, `segment 4 c`, `segment 5 `, `end`,
		`saved segment 3 b`, `match b ["b"], 1 consumed`,
		`saved segment 4 c`, `miss`, `unmatched 4`,
	}, traceOf(t, `<stdout-parser delim="\n" all="true" save="2"><target ref="r"><match><expression>[ab]</expression></match></target></stdout-parser>`, "a\n\nb\nc\n"))
}

func TestTraceShowsStoredValues(t *testing.T) {
	require.Equal(t, []string{
		`segment 1 q=x`, `match q=x ["q=x" "q" "x" unset], 3 consumed`,
		`value = map[q:x z:] {q x true} {z  false}`,
		`segment 2 q=y`, `match q=y ["q=y" "q" "y" unset], 3 consumed`,
		`value = map[q:y z:] {q y true} {z  false}`,
		`end`,
	}, traceOf(t, `<stdout-parser delim="\n"><target ref="r"><match><expression>(.)=(.)(!)?</expression>
<put field="value"><entry keyGroup="1" valueGroup="2"/><entry key="z" valueGroup="3"/></put></match></target></stdout-parser>`, "q=x\nq=y"))
	require.Equal(t, []string{`segment 1 xy`, `match xy ["xy" "x" "y"], 2 consumed`, `value = [x y] { x true} { y true}`, `end`},
		traceOf(t, `<stdout-parser><target ref="r"><match><expression>(.)(.)</expression>
<add field="value"><entry valueGroup="1"/><entry valueGroup="2"/></add></match></target></stdout-parser>`, "xy"))
}

func TestTraceShowsMovedTargetsAndDroppedAttributes(t *testing.T) {
	require.Equal(t, []string{
		`segment 1 b`, `miss`, `match b ["b"], 1 consumed`, `value = b`, `move to line 4`,
		`segment 2 b`, `match b ["b"], 1 consumed`, `value = b`,
		`end`, `drop b`, `drop b`, `else, not acted`, `value = none`,
	}, traceOf(t, `<stdout-parser delim="\n">
<target ref="r"><match><expression>a</expression></match><else><set field="value"><entry value="none"/></set></else></target>
<target><match moveToTop="true"><expression>b</expression><set field="value"><entry valueGroup="0"/></set></match></target>
</stdout-parser>`, "b\nb"))
}

func TestTraceEndsWithTheError(t *testing.T) {
	require.Equal(t, []string{
		`segment 1 bad`, `match bad ["bad"], 3 consumed`, `error test.xml:2:111: so bad (in "bad")`,
	}, traceOf(t, `<stdout-parser delim="\n"><target ref="r"><match><expression>bad</expression><throw message="so bad"/></match></target></stdout-parser>`, "bad\nworse"))
}

// traceOf runs a parser on a stream, with an attribute r, and describes the events.
func traceOf(t *testing.T, parser, stream string) []string {
	var trace []string
	options := tokenizer.Options{Trace: func(event tokenizer.TraceEvent) { trace = append(trace, describe(event)) }}
	run, err := options.Compile(parserOf(t, parser), variables("r"), "")
	require.NoError(t, err)
	err = run.Run(strings.NewReader(stream))
	require.Equal(t, err != nil, strings.HasPrefix(trace[len(trace)-1], "error "))
	return trace
}

func describe(event tokenizer.TraceEvent) string {
	switch event.Kind {
	case "segment":
		if event.Saved {
			return fmt.Sprintf("saved segment %d %s", event.Number, event.Text)
		}
		return fmt.Sprintf("segment %d %s", event.Number, event.Text)
	case "miss":
		near := event.Explain()
		switch {
		case near.Near:
			return fmt.Sprintf("miss, only %s", event.Text[near.Start:near.End])
		case near.Leading != "":
			return fmt.Sprintf("miss, %s gets to %q", near.Leading, event.Text[near.LeadingEnd:])
		}
		return "miss"
	case "match":
		var captures []string
		for _, capture := range event.Captures {
			if capture.Set {
				captures = append(captures, fmt.Sprintf("%q", capture.Text))
			} else {
				captures = append(captures, "unset")
			}
		}
		return fmt.Sprintf("match %s %s, %d consumed", event.Text, captures, event.Consumed)
	case "unmatched":
		return fmt.Sprintf("unmatched %d", event.Number)
	case "action":
		text := fmt.Sprintf("%s = %v", event.Field, event.Value)
		for _, stored := range event.Stored {
			text += fmt.Sprintf(" %v", stored)
		}
		return text
	case "test":
		return fmt.Sprintf("%stest %s: %s %v %v", strings.Repeat("  ", event.Depth), event.Attribute.Name(), event.Test.Operator, event.Operands, event.Outcome)
	case "else":
		if event.Acted {
			return "else, acted"
		}
		return "else, not acted"
	case "merge":
		return "merge " + event.Name
	case "discover":
		return "discover " + event.Attribute.Name()
	case "drop":
		return "drop " + event.Attribute.Text(attribute.FieldValue)
	case "move":
		return fmt.Sprintf("move to line %d", event.Target.Line)
	case "exit":
		return "exit " + event.Expression.Text
	case "end":
		return "end"
	case "warning":
		return fmt.Sprintf("warning at line %d", event.Position.Line)
	case "error":
		return "error " + event.Err.Error()
	}
	return "unknown"
}

func TestAnEventWithoutATokenizerExplainsNothing(t *testing.T) {
	require.Zero(t, tokenizer.TraceEvent{Text: []byte("x")}.Explain())
}
