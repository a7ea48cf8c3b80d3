package tokenizer_test

import (
	"bytes"
	"path/filepath"
	"testing"

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
