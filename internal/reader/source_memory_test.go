package reader

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// longestSmall is a small limit for records, so that tests exceed it quickly.
const longestSmall = 256 << 10

// mostMemory bounds the memory of a source: a few copies of a record's text.
func mostMemory(longest int) int64 { return int64(6*longest) + 512<<10 }

// writeEndless writes a part repeatedly, up to a size, to a source with a limit for records. It returns
// the number of records.
func writeEndless(t *testing.T, definitions []*config.Source, longest int, begin, part string, size int) (records, damaged int) {
	t.Helper()
	source, err := newSourceFor(recordWriter{none: testNone, longest: longest, hand: func(record *Record) error {
		if len(record.Raw) > longest {
			return fmt.Errorf("the text of a record has %d bytes", len(record.Raw))
		}
		records++
		if record.Damage != "" {
			damaged++
		}
		return nil
	}}, definitions, testMark)
	require.NoError(t, err)
	block := []byte(strings.Repeat(part, max(1, longest/16/len(part))))
	_, err = source.Write([]byte(begin))
	require.NoError(t, err)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for written := 0; written < size; written += len(block) {
		_, err := source.Write(block)
		require.NoError(t, err)
		if written%(longest/2) < len(block) {
			runtime.GC()
			runtime.ReadMemStats(&now)
			require.Less(t, int64(now.HeapAlloc)-int64(before.HeapAlloc), mostMemory(longest), "after %d KiB", written>>10)
		}
	}
	_ = source.Close() // ignore a header that is too long
	return records, damaged
}

func TestALineOfAGigabyteNeedsLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes ten gigabytes")
	}
	for _, definitions := range everySource() {
		records, damaged := writeEndless(t, definitions, longestRecord, "", "x", 1<<30)
		require.Equal(t, records, damaged)
		require.LessOrEqual(t, records, 1)
	}
}

func TestRecordsWithoutAnEndNeedLittleMemory(t *testing.T) {
	for _, test := range []struct {
		definitions []*config.Source
		begin, part string
	}{
		{[]*config.Source{jobTable(config.MarkSeparator)}, "51" + testMark, "x\n"},
		{[]*config.Source{jobTable(config.MarkSeparator)}, "51", testMark + "x"},
		{[]*config.Source{scontrolStanzas()}, "JobId=51 JobName=x\n", "Comment=y\n\n"},
		{[]*config.Source{scontrolStanzas()}, "JobId=51 JobName=x\n", "A=1 "},
		{[]*config.Source{foldedStanzas()}, "Job Id: 51\n    comment = x\n", "\ty\n"},
		{[]*config.Source{bhistLog()}, "Job <51>, x\n", "                     yy\n"},
		{[]*config.Source{bhistLog()}, "Job <51>, x\n", "Sun Jan 10 17:52:30 2027: Starting (Pid 1);\n"},
		{[]*config.Source{bhistLog()}, "", "x\n"},
	} {
		records, damaged := writeEndless(t, test.definitions, longestSmall, test.begin, test.part, 16*longestSmall)
		require.Equal(t, records, damaged, "%q", test.part)
		require.LessOrEqual(t, records, 1)
	}
}

func TestOutputWithoutAnEndNeedsLittleMemory(t *testing.T) {
	for _, definitions := range everySource() {
		records, _ := writeEndless(t, definitions, longestSmall/8, "", sampleOutput(definitions[0]), 1<<20)
		require.Greater(t, records, 1_000)
	}
}
