package tokenizer_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/initial"
	"github.com/stretchr/testify/require"
)

// Long pieces of a stream are skimmed and short ones are not: both must give the same result. Golden
// streams are repeated until they are long enough.
func TestSkimmingDoesNotChangeTheResult(t *testing.T) {
	for _, folder := range goldenFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			c := readGoldenCase(t, folder)
			parser := c.parser(t)
			if !mayBeSkimmed(parser) {
				return
			}
			if len(c.stream) == 0 {
				c.stream = []byte("\n")
			}
			c.stream = bytes.Repeat(c.stream, 1+17_000/len(c.stream))
			looking := ofSize(1000, len(c.stream))
			require.Equal(t, c.outcome(parser, nil, looking...), c.outcome(parser, nil, len(c.stream)))
		})
	}
}

// mayBeSkimmed excludes parsers that need every segment, where nothing can be skipped.
func mayBeSkimmed(parser *config.Parser) bool {
	if parser.All || parser.MaxMatchLength > 0 || len(parser.Targets) == 0 {
		return false
	}
	takesAll := func(m *config.Match) bool { return m.Expression == nil || m.Expression.Split }
	return !slices.ContainsFunc(parser.Targets, func(target *config.Target) bool { return slices.ContainsFunc(target.Matches, takesAll) })
}

func TestSchedulerRecordsAreSkimmed(t *testing.T) {
	stream := slurmRecords(300_000, 75)
	p := benchmarkedParserOf(t, "testdata/scontrol.xml", config.GetJobStatus)
	c := goldenCase{definition: p.definition, stream: stream}
	c.initial.UseDefinition, c.initial.Job = true, "@job"
	looking := c.outcome(p.parser, nil, ofSize(1000, len(stream))...)
	require.Equal(t, looking, c.outcome(p.parser, nil, len(stream)))
	require.Equal(t, looking, c.outcome(p.parser, nil, ofSize(30_011, len(stream))...))
}

// FuzzSkim repeats a stream until it is long enough to be skimmed and compares the result with that of
// examining each segment.
func FuzzSkim(f *testing.F) {
	f.Add([]byte("   JobState=RUNNING Reason=None\n   Other=1\nJobId=1 JobName=x\n"), "   JobState=", "JobName=", uint8(0))
	f.Add([]byte("one\ntwo one\n\nthree\ntwo"), "one", "two", uint8(1))
	f.Add([]byte("xabcx\nabcabc\n\xff abc"), "abc", "bca", uint8(2))
	f.Add([]byte("stop here\nfirst\nsecond\n"), "first", "stop", uint8(5))
	f.Fuzz(func(t *testing.T, stream []byte, first, second string, kind uint8) {
		if len(stream) == 0 || len(stream) > 1000 {
			return
		}
		quoted := func(text string) *config.Expression {
			return &config.Expression{Text: `(.*)\Q` + strings.ReplaceAll(text, `\E`, "") + `\E.*`}
		}
		collect := &config.Action{Kind: config.Add, Field: config.Optional{Text: "value", Set: true}, Entries: []*config.Entry{{}}}
		parser := &config.Parser{
			Element:          "stdout-parser",
			Delimiter:        config.Optional{Text: `\n`, Set: true},
			IncludeDelimiter: kind&1 != 0,
			ApplyToAll:       kind&2 != 0,
			Targets: []*config.Target{
				{Ref: config.Optional{Text: "a", Set: true}, MatchAll: kind&8 != 0, Matches: []*config.Match{
					{Expression: quoted(first), Actions: []*config.Action{collect}},
					{Expression: quoted(second), MoveToTop: true, Actions: []*config.Action{collect}},
				}},
				{Ref: config.Optional{Text: "b", Set: true}, Matches: []*config.Match{
					{Expression: quoted(second + first), MoveToTop: true, Actions: []*config.Action{collect}},
				}},
			},
		}
		if kind&4 != 0 {
			parser.ExitAfter = quoted(first + second + first)
		}
		c := goldenCase{stream: bytes.Repeat(stream, 1+20_000/len(stream))}
		c.initial.Attributes = []initial.Attribute{{Key: "a", Attribute: attribute.New("a")}, {Key: "b", Attribute: attribute.New("b")}}
		require.Equal(t, c.outcome(parser, nil, ofSize(1000, len(c.stream))...), c.outcome(parser, nil, len(c.stream)))
	})
}

// Each of these parsers has a feature that limits skimming.
func TestSkimmingRespectsParserFeatures(t *testing.T) {
	var stream bytes.Buffer
	words := []string{"State=R", "noise", "Reason=none", "State=Q Reason=x", "", "more noise", "noise \r of State=S", "Reason=y"}
	for i := range 4_000 {
		stream.WriteString(words[(i*i+i/7)%len(words)] + "\n")
		if i == 3_000 {
			stream.WriteString("EXIT\n")
		}
	}
	// The last segment is not skimmed and has a different landmark from the others.
	lines := stream.String() + "State=R\nnoise\nReason=last"
	const state, reason = `<expression>.*State=(\w).*</expression>`, `<expression>.*Reason=(\w).*</expression>`
	const add = `<add field="value"><entry valueGroup="1"/></add>`
	match := func(expression string) string { return "<match>" + expression + add + "</match>" }
	target := func(matches string) string { return `<target ref="r">` + matches + `</target>` }
	for name, parser := range map[string]string{
		"two matches":              `delim="\n">` + target(match(state)+match(reason)),
		"two targets":              `delim="\n" applyToAll="true">` + target(match(state)) + target(match(reason)),
		"delimiters that are kept": `delim="\n" includeDelim="true">` + target(match(`<expression>State=(\w)\n</expression>`)),
		"delimiters in literals":   `delim="=" includeDelim="true">` + target(match(`<expression flags="DOTALL">.*(S)tate=</expression>`)),
		"rounds":                   `delim="\n"><target ref="r" matchAll="true">` + match(state) + match(reason) + `</target>`,
		"splits":                   `delim="\n">` + target(match(state)+`<match><expression split="true">Reason=</expression><add field="value"><entry value="s"/></add></match>`),
		"carriage returns":         `delim="\r">` + target(match(state)),
		"an exit anywhere":         `delim="\n">` + target(match(reason)) + `<exit-on>EXI.</exit-on>`,
		"an exit without literals": `delim="\n">` + target(match(reason)) + `<exit-after>E.I.</exit-after>`,
		"the last segments":        `delim="\n" all="true" save="3">` + target(match(reason)),
		"a match without any":      `delim="\n">` + target(match(state)+`<match><add field="value"><entry value="any"/></add></match>`),
	} {
		t.Run(name, func(t *testing.T) {
			lines := lines
			if strings.Contains(parser, `delim="\r"`) {
				lines = strings.ReplaceAll(lines, "\n", "\r\n")
			}
			c := goldenCase{stream: []byte(lines)}
			c.initial.Attributes = []initial.Attribute{{Key: "r", Attribute: attribute.New("r")}}
			one := parserOf(t, "<stdout-parser "+parser+"</stdout-parser>")
			looking := c.outcome(one, nil, ofSize(1000, len(lines))...)
			require.Contains(t, looking, "[]string", "something is found")
			require.Equal(t, looking, c.outcome(one, nil, len(lines)))
			require.Equal(t, looking, c.outcome(one, nil, ofSize(17_001, len(lines))...))
		})
	}
}
