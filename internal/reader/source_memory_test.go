package reader

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// mostMemory is the memory that a source may need: the text of a record a few times, as it
// grows and becomes a record.
const mostMemory = 100 << 20

// writeEndless writes a part again and again, up to a size, and returns how many records the
// source handed over.
func writeEndless(t *testing.T, definitions []*config.Source, begin, part string, size int) (records, damaged int) {
	t.Helper()
	source, err := newTextSource(definitions, testNone, testMark, func(record *Record) error {
		require.LessOrEqual(t, len(record.Raw), longestRecord)
		records++
		if record.Damage != "" {
			damaged++
		}
		return nil
	})
	require.NoError(t, err)
	block := []byte(strings.Repeat(part, max(1, (1<<20)/len(part))))
	_, err = source.Write([]byte(begin))
	require.NoError(t, err)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	for written := 0; written < size; written += len(block) {
		_, err := source.Write(block)
		require.NoError(t, err)
		if written%(8<<20) < len(block) {
			runtime.ReadMemStats(&now)
			require.Less(t, int64(now.HeapAlloc)-int64(before.HeapAlloc), int64(mostMemory), "after %d MiB", written>>20)
		}
	}
	_ = source.Close() // a header that is too long is no error here
	return records, damaged
}

func TestALineOfAGigabyteNeedsLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes ten gigabytes")
	}
	for _, definitions := range everySource() {
		records, damaged := writeEndless(t, definitions, "", "x", 1<<30)
		require.Equal(t, records, damaged)
		require.LessOrEqual(t, records, 1)
	}
}

func TestRecordsWithoutAnEndNeedLittleMemory(t *testing.T) {
	const size = 64 << 20
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
		records, damaged := writeEndless(t, test.definitions, test.begin, test.part, size)
		require.Equal(t, records, damaged, "%q", test.part)
		require.LessOrEqual(t, records, 1)
	}
}

func TestOutputWithoutAnEndNeedsLittleMemory(t *testing.T) {
	for _, definitions := range everySource() {
		records, _ := writeEndless(t, definitions, "", sampleOutput(definitions[0]), 2<<20)
		require.Greater(t, records, 1_000)
	}
}
