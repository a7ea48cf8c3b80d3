package reader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

func TestEventsSetAndClearFields(t *testing.T) {
	for name, expected := range map[string][]string{
		"status-past-done":     {`2: id="4711" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027" word="Done" finished="Sun Jan 10 17:52:30 2027"`},
		"status-past-failed":   {`2: id="4711" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027" code="3" word="exit" finished="Sun Jan 10 17:52:30 2027"`},
		"status-past-memory":   {`2: id="4711" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027" code="137" word="exit" why="TERM_MEMLIMIT: job killed after reaching LSF memory usage limit" finished="Sun Jan 10 17:52:30 2027"`},
		"status-past-open":     {`2: id="4711" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027"`},
		"status-past-requeued": {`2: id="4711" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:51:40 2027" word="Done" finished="Sun Jan 10 17:52:30 2027"`},
		"status-past-forged":   {`2: id="4711" finished="Sun Jan 10 17:50:30 2027" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027"`},
		"status-past-array": {
			`2: id="4711[1]" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027" word="Done" finished="Sun Jan 10 17:52:30 2027"`,
			`14: id="4711[2]" queue="normal" made="Sun Jan 10 17:50:11 2027" begun="Sun Jan 10 17:50:12 2027" word="Exited" code="4" finished="Sun Jan 10 17:52:30 2027"`,
		},
	} {
		output, err := os.ReadFile(filepath.Join("..", "..", "testdata", "lsf", name, "stdout"))
		require.NoError(t, err)
		require.Equal(t, expected, shown(t, string(output), bhistLog()), name)

		narrow := strings.ReplaceAll(string(output), strings.Repeat(" ", 26), strings.Repeat(" ", 21)) // as without years
		require.Equal(t, expected, shown(t, narrow, bhistLog()), name)
	}
}

func TestRawTextOfALogIsUnchanged(t *testing.T) {
	output := "Please wait\n\nJob <1>, a\r\n                     b\nx\n\nJob <2>\n"
	records, err := textTest{definitions: []*config.Source{bhistLog()}}.read(t, output, 3)
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.Equal(t, "Job <1>, a\r\n                     b\nx\n", records[0].Raw)
	require.Equal(t, "Job <2>", records[1].Raw)
	require.Equal(t, 7, records[1].Line)
}

func TestEventsNeedNoTime(t *testing.T) {
	definition := &config.Source{
		Kind: config.Log, Begin: pattern(`job (\d+) (.*)`), Columns: []string{"id", "state"},
		Lines: []*config.LogEvent{
			{Expression: pattern(`now (\S*)`), Columns: []string{"state"}, Time: "at"},
			{Expression: pattern(`now .*`), Columns: nil, Clears: []string{"id"}},
			{Expression: pattern(`forget`), Clears: []string{"state", "other"}},
		},
	}
	require.Equal(t, []string{`2: id="1" state="b"`, `5: id="2"`, `7: id="3" without state`, `8: state="x"`},
		shown(t, "now z\njob 1 a\nnow N/A\nnow b\njob 2 x\nforget\njob 3 (null)\njob 4 x\nnow a b\n", definition))
}

func TestAnIncompleteLastLineTruncatesALog(t *testing.T) {
	output := "Job <51>, x\nSun Jan 10 17:52:30 2027: Done successfully. x\n"
	for length := 1; length < len(output); length++ {
		lines := shown(t, output[:length], bhistLog())
		require.Len(t, lines, 1)
		require.NotContains(t, lines[0], `word=`)
		if output[length-1] != '\n' {
			require.Contains(t, lines[0], "! the output ends within the record", "%q", output[:length])
		}
	}
	require.Equal(t, []string{`1: id="51" ! the output ends within the record`}, shown(t, "Job <51>\n"+strings.Repeat(" ", 21)+"x", bhistLog()))
}

func TestALogWithoutItsLastLineIsTruncated(t *testing.T) {
	definition := &config.Source{
		Kind: config.Log, Begin: pattern(`job (\d+)`), Columns: []string{"id"}, End: pattern(`Summary.*`),
		Lines: []*config.LogEvent{{Expression: pattern(`(done)`), Columns: []string{"word"}}},
	}
	for output, isWhole := range map[string]bool{
		"": true, "job 1\ndone\nSummary of 1\n 2 3\n": true, "job 1\ndone\njob 2\nSummary\n": true,
		"job 1\ndone\n": false, "job 1\nSummary\njob 2\ndone\n": false, "job 1\ndone\nSumm\n": false, "banner\n": false,
	} {
		_, err := textTest{definitions: []*config.Source{definition}}.read(t, output, 3)
		if isWhole {
			require.NoError(t, err, output)
		} else {
			require.ErrorContains(t, err, "before its last line", output)
		}
	}
}

// The beginning of another job may be damaged.
func TestEventsAfterTheLastLineBelongToAnotherJob(t *testing.T) {
	definition := &config.Source{
		Kind: config.Log, Begin: pattern(`job (\d+)`), Columns: []string{"id"}, End: pattern(`Summary.*`),
		Lines: []*config.LogEvent{{Expression: pattern(`(done|failed)`), Columns: []string{"word"}}},
	}
	require.Equal(t, []string{`1: id="1" word="done"`, `7: id="3" word="done"`},
		shown(t, "job 1\ndone\nSummary of 1\nxjob 2\nfailed\nSummary of 2\njob 3\ndone\nSummary of 3\n", definition))
}

func TestALogThatIsTooLongHasItsID(t *testing.T) {
	test := textTest{definitions: []*config.Source{bhistLog()}, longest: 100}
	folded := strings.Repeat(strings.Repeat(" ", 21)+"xxxxx\n", 10)
	done := "Sun Jan 10 17:52:30 2027: Done successfully. x\n"
	for _, size := range []int{1, 1000} {
		for output, expected := range map[string][]string{
			"Job <51>, x\n" + folded + done + "Job <52>\n" + done: {`1: id="51" ! the record is longer than 16 MiB`, `13: id="52" word="Done" finished="Sun Jan 10 17:52:30 2027"`},
			"Job <51>, x\n" + strings.Repeat(done, 3) + "Job <52>\n": {
				`1: id="51" word="Done" finished="Sun Jan 10 17:52:30 2027" ! the record is longer than 16 MiB`, `5: id="52"`},
			"Job <51>, x\nab\n" + folded + "Job <52>\n":              {`1: id="51" ! the record is longer than 16 MiB`, `13: id="52"`},
			"Job <51>, " + strings.Repeat("x", 200) + "\nJob <52>\n": {`1: id="51" ! the record is longer than 16 MiB`, `2: id="52"`},
		} {
			records, err := test.read(t, output, size)
			require.NoError(t, err)
			require.Equal(t, expected, show(records))
			for _, record := range records {
				require.LessOrEqual(t, len(record.Raw), 100)
			}
		}
	}
}

func TestALongEventDamagesOnlyItsRecord(t *testing.T) {
	test := textTest{definitions: []*config.Source{bhistLog()}, longest: 3 * longestExcerpt}
	records, err := test.read(t, "Job <51>, x\nSun Jan 10 17:52:30 2027: Done successfully."+strings.Repeat("x", 3*longestExcerpt)+"\nJob <52>, x\n", 1000)
	require.NoError(t, err)
	require.Equal(t, []string{`1: id="51" ! the record is longer than 16 MiB`, `3: id="52"`}, show(records))
}
