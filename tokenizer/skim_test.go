package tokenizer_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/stretchr/testify/require"
)

// Long pieces of a stream are skimmed, short ones are not: so the same must
// come of both. What golden streams hold is repeated until there is enough.
func TestSkimmingASegmentIsAsGoodAsLookingAtIt(t *testing.T) {
	for _, folder := range goldenFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			c := readGoldenCase(t, folder)
			if c.parser(t).MaxMatchLength > 0 {
				return // windows are not skimmed
			}
			if len(c.stream) == 0 {
				c.stream = []byte("\n")
			}
			c.stream = bytes.Repeat(c.stream, 1+20_000/len(c.stream))
			parser := c.parser(t)
			looking := ofSize(1000, len(c.stream))
			require.Equal(t, c.outcome(parser, nil, looking...), c.outcome(parser, nil, len(c.stream)))
		})
	}
}

func TestRecordsOfASchedulerMayBeSkimmed(t *testing.T) {
	for name, stream := range map[string][]byte{"slurm": slurmRecords(300_000), "pbs": pbsTable(3_000)} {
		p := benchmarkedParserOf(t, "../rms/"+name+".xml", config.GetJobStatus)
		c := goldenCase{definition: p.definition, stream: stream}
		c.initial.UseDefinition, c.initial.Job = true, "@job"
		looking := c.outcome(p.parser, nil, ofSize(1000, len(stream))...)
		require.Equal(t, looking, c.outcome(p.parser, nil, len(stream)), name)
		require.Equal(t, looking, c.outcome(p.parser, nil, ofSize(30_011, len(stream))...), name)
	}
}

// FuzzSkim repeats a stream until it is long enough to be skimmed, and compares
// that with looking at each segment.
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
		c.initial.Attributes = []attribute.Keyed{{Key: "a", Attribute: attribute.New("a")}, {Key: "b", Attribute: attribute.New("b")}}
		require.Equal(t, c.outcome(parser, nil, ofSize(1000, len(c.stream))...), c.outcome(parser, nil, len(c.stream)))
	})
}
