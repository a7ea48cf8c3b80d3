package tokenizer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

func TestATraceTellsEverythingInOrder(t *testing.T) {
	parser := parserOf(t, `<stdout-parser delim="\n">
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
<exit-on>END</exit-on></stdout-parser>`)
	var trace []string
	options := tokenizer.Options{Trace: func(event tokenizer.Event) { trace = append(trace, describe(event)) }}
	run, err := options.Compile(parser, variables("r"), "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("v=5\n- v=5 -\nn\nn\nEND\nlater")))
	require.Equal(t, []string{
		`segment 1 v=5`, `match v=5 ["v=5" "5" unset], 3 consumed`, `value = 5`,
		`segment 2 - v=5 -`, `miss, near v=5`, `miss`, `unmatched 2`,
		`segment 3 n`, `miss`, `match n ["n"], 1 consumed`, `name = n`,
		`segment 4 n`, `miss`, `match n ["n"], 1 consumed`, `name = n`,
		`segment 5 END`, `exit END`,
		`test EQ [5 5] true`, `test GT [5 9] false`, `test AND [] false`,
		`warning at line 9`, `warning at line 9`, `status = ${ptp_rm:r#nosuch}`,
		`merge n`,
	}, trace)
}

func describe(event tokenizer.Event) string {
	switch e := event.(type) {
	case tokenizer.SegmentEvent:
		return fmt.Sprintf("segment %d %s", e.Number, e.Text)
	case tokenizer.MissEvent:
		if e.Near {
			return fmt.Sprintf("miss, near %s", e.Text[e.Start:e.End])
		}
		return "miss"
	case tokenizer.MatchEvent:
		var captures []string
		for _, capture := range e.Captures {
			if capture.Set {
				captures = append(captures, fmt.Sprintf("%q", capture.Text))
			} else {
				captures = append(captures, "unset")
			}
		}
		return fmt.Sprintf("match %s %s, %d consumed", e.Text, captures, e.Consumed)
	case tokenizer.UnmatchedEvent:
		return fmt.Sprintf("unmatched %d", e.Number)
	case tokenizer.ActionEvent:
		return fmt.Sprintf("%s = %v", e.Field, e.Value)
	case tokenizer.TestEvent:
		return fmt.Sprintf("test %s %v %v", e.Test.Operator, e.Operands, e.Outcome)
	case tokenizer.MergeEvent:
		return "merge " + e.Name
	case tokenizer.ExitEvent:
		return "exit " + e.Expression.Text
	case tokenizer.WarningEvent:
		return fmt.Sprintf("warning at line %d", e.Line)
	}
	return "unknown"
}
