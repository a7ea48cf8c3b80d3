package reader_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/reader"
)

const accounting = `<x:ids form="(\d+)(?:\.(\d+))?" columns="job task"/>
	<x:reader name="accounting" repeats="last" needs="state">
		<x:stanzas begin="record" columns="" field="(\w+) (.*)"/>
		<x:id from="id"/><x:tasks of="task" count="count"/>
		<x:states of="state"><x:state is="COMPLETED" words="done"/><x:state is="FAILED" words="failed"/></x:states>
		<x:fact name="identity" from="made" as="time" to="second"/>
		<x:fact name="outputPath" from="out" as="path"/>
		<x:fact name="errorPath" from="err" as="path"/>
		<x:fact name="errorPath" same-as="outputPath" when="joined"/>
		<x:absent is="CANCELED" after="5m" reason="deleted before it started"/>
	</x:reader>`

// Some tasks of an array were deleted before they started: no output will ever contain them.
func TestTasksMissingForLongHaveEnded(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	const one = "record\nid 7\ntask 1\ncount 1-3\nstate "
	seen := reader.ParseMemory("of=;RUNNING:1;QUEUED_ACTIVE:2-3")
	for what, c := range map[string]struct {
		output     string
		later      time.Duration
		isCanceled bool
		want       string
	}{
		"missing for a moment":      {one + "done\n", time.Minute, false, ""},
		"accounting may be late":    {one + "done\n", 14 * time.Minute, false, ""},
		"missing for long":          {one + "done\n", 15 * time.Minute, false, "CANCELED"},
		"another one failed":        {one + "failed\n", 15 * time.Minute, false, "FAILED"},
		"rmctl canceled the job":    {one + "done\n", 5 * time.Minute, true, "CANCELED"},
		"it was canceled just now":  {one + "done\n", 4 * time.Minute, true, ""},
		"all have ended meanwhile":  {one + "done\nrecord\nid 7\ntask 2\nstate done\nrecord\nid 7\ntask 3\nstate done\n", time.Hour, false, "COMPLETED"},
		"the output does not count": {one + "\n", time.Hour, false, ""},
	} {
		t.Run(what, func(t *testing.T) {
			query := reader.Query{Job: "7", Memory: seen, Now: start, Attribute: func(name string) (string, bool) {
				return "true", c.isCanceled && name == "job.canceled"
			}}
			first := read(t, accounting, one+"done\n", query).Find("7")
			require.Empty(t, first.State)
			require.Equal(t, "the end of task 2-3 is unknown", first.Incomplete)
			query.Memory, query.Now = reader.ParseMemory(first.Memory.String()), start.Add(c.later)
			later := read(t, accounting, c.output, query).Find("7")
			require.Equal(t, c.want, later.State, later.Incomplete)
			if c.want == "CANCELED" {
				require.Equal(t, "deleted before it started", later.Fact("reason"))
				require.Equal(t, "of=;missed=1800000000;CANCELED:2-3;COMPLETED:1", later.Memory.String())
			}
		})
	}
}

// An unreadable count may be any number: one ended task may not be all.
func TestAnArrayOfUnreadableSizeDoesNotEnd(t *testing.T) {
	for count, incomplete := range map[string]string{
		"1": "", "1-1": "", " 1 ": "", "0": "",
		"2":                       "only 1 of 2 tasks are known",
		" 2 ":                     "only 1 of 2 tasks are known",
		"1-4:2":                   "only 1 of 2 tasks are known",
		"1000000":                 "only 1 of 1000000 tasks are known",
		"99999999999":             "more of its tasks may still be reported",
		"99999999999999999999999": "more of its tasks may still be reported",
		"-1":                      "more of its tasks may still be reported",
		"1e3":                     "more of its tasks may still be reported",
		"1-99999999999":           "more of its tasks may still be reported",
		"many":                    "more of its tasks may still be reported",
		"-":                       "more of its tasks may still be reported",
	} {
		for _, id := range []string{"id 7\ntask 1", "id 7.1", "id 7"} {
			t.Run(id+" "+count, func(t *testing.T) {
				output := "record\n" + id + "\ncount " + count + "\nstate done\n"
				seen := read(t, accounting, output, reader.Query{Job: "7"}).Find("7")
				want := incomplete
				if known := strings.TrimPrefix(want, "only 1 "); id == "id 7" && known != want {
					want = "only 0 " + known
				}
				require.Equal(t, want, seen.Incomplete)
				require.Equal(t, want != "", seen.State == "", seen.State)
			})
		}
	}
}

// Even if other records have the number of tasks, one unreadable number leaves a doubt.
func TestOneUnreadableSizeKeepsTheArrayOpen(t *testing.T) {
	const two = "record\nid 7\ntask 1\ncount 2\nstate done\nrecord\nid 7\ntask 2\ncount "
	require.Equal(t, "COMPLETED", read(t, accounting, two+"2\nstate done\n", reader.Query{Job: "7"}).Find("7").State)
	seen := read(t, accounting, two+"99999999999\nstate done\n", reader.Query{Job: "7"}).Find("7")
	require.Equal(t, "more of its tasks may still be reported", seen.Incomplete)
	seen = read(t, accounting, two+"99999999999\nstate running\n", reader.Query{Job: "7"}).Find("7")
	require.Empty(t, seen.State)
}

func TestTasksThatReappearAreNotMissing(t *testing.T) {
	memory := reader.ParseMemory("of=;missed=1800000000;RUNNING:1-2;COMPLETED:3")
	live := `<x:ids form="(\d+)(?:\.(\d+))?" columns="job task"/><x:reader name="live"><x:table columns="id state"/>
		<x:states of="state"><x:state is="RUNNING" words="r"/></x:states></x:reader>`
	seen := read(t, live, "7.1 r\n7.2 r\n", reader.Query{Job: "7", Memory: memory, Now: time.Unix(1_900_000_000, 0)}).Find("7")
	require.Equal(t, "RUNNING", seen.State)
	require.True(t, seen.Memory.Missed.IsZero())
}

// The last record of a job counts, and a record truncated before its id may be the last one.
func TestACutRecordMayBeTheLastOfTheJob(t *testing.T) {
	query := reader.Query{Job: "7"}
	require.Equal(t, "FAILED", read(t, accounting, "record\nid 7\nstate failed\n", query).Find("7").State)
	require.NotEmpty(t, read(t, accounting, "record\nid 7\nstate failed\nrecord\n", query).Find("7").Unreadable)
}

func TestFilesOfOneTaskAreNotFilesOfTheArray(t *testing.T) {
	const of = "record\nid 7\ntask 3\nstate failed\nout /tmp/3\njoined yes\n"
	memory := reader.ParseMemory("of=;COMPLETED:1-2;RUNNING:3")
	array := read(t, accounting, of, reader.Query{Job: "7", Memory: memory}).Find("7")
	require.Equal(t, "FAILED", array.State)
	require.Empty(t, array.Fact("outputPath")+array.Fact("errorPath"))
	task := read(t, accounting, of, reader.Query{Job: "7.3"}).Find("7")
	require.Equal(t, "/tmp/3", task.Fact("outputPath"))
	require.Equal(t, "/tmp/3", task.Fact("errorPath"))
	apart := read(t, accounting, "record\nid 7\nstate failed\nout /tmp/3\n", reader.Query{Job: "7"}).Find("7")
	require.Empty(t, apart.Fact("errorPath"), "the streams are not joined")
}

// Equal times are written alike, in the zone of the host, whatever their format.
func TestTimesAreWrittenInTheZoneOfTheHost(t *testing.T) {
	for text, want := range map[string]string{
		"1783047600":                 "2026-07-03T12:00:00+09:00",
		"1783047600652":              "2026-07-03T12:00:00+09:00",
		"2026-07-03T12:00:00":        "2026-07-03T12:00:00+09:00",
		"07/03/2026 12:00:00.652":    "2026-07-03T12:00:00+09:00",
		"2026-07-03 12:00:00.421951": "2026-07-03T12:00:00+09:00",
		"soon":                       "",
	} {
		query := reader.Query{Job: "7", Location: time.FixedZone("", 9*60*60)}
		seen := read(t, accounting, "record\nid 7\nstate done\nmade "+text+"\n", query).Find("7")
		require.Equal(t, want, seen.Fact("identity"), text)
	}
}

func TestRecordsOfOtherJobsNeedNoJoin(t *testing.T) {
	const elements = `<x:ids form="\d+"/><x:reader name="jobs"><x:table columns="id state"/>
		<x:join name="held" when="state='h'"><arg>held</arg><x:table columns="id"/></x:join>
		<x:states of="state"><x:state is="USER_ON_HOLD" words="h" test="held"/><x:state is="RUNNING" words="r"/></x:states></x:reader>`
	for job, joins := range map[string]int{"1": 0, "2": 1} {
		ran := 0
		answer := read(t, elements, "1 r\n2 h\n3 h\n", reader.Query{Job: job, Join: func(join *config.Join) (reader.Joined, error) {
			ran++
			j, err := reader.NewJoinReader(join, reader.Query{})
			require.NoError(t, err)
			_, err = j.Write([]byte("2\n"))
			require.NoError(t, err)
			return j.Close()
		}})
		require.Equal(t, joins, ran, job)
		require.NotNil(t, answer.Find(job))
	}
}
