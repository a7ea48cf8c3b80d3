package jobstore

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
)

func encoded(t testing.TB, outcomes ...Outcome) []byte {
	t.Helper()
	var text []byte
	for _, outcome := range outcomes {
		one, err := encodeKept(outcome)
		require.NoError(t, err)
		text = append(text, one...)
	}
	return text
}

func TestOutcomesEndWhereOneIsNotWhole(t *testing.T) {
	t.Parallel()
	first, second := Outcome{Tag: "a", Refused: "denied"}, Outcome{Tag: "b", ID: "7", Accepted: &job.Observation{}}
	text := encoded(t, first, second)
	require.Equal(t, []Outcome{first, second}, decodeKept(text))
	require.Equal(t, []Outcome{first, second}, decodeKept(append(slices.Clone(text), make([]byte, 100)...)))
	for cut := len(encoded(t, first)); cut < len(text); cut++ {
		torn := append(slices.Clone(text[:cut]), bytes.Repeat([]byte{0xff}, len(text)-cut)...)
		require.Equal(t, []Outcome{first}, decodeKept(torn), "of %d bytes %d are written", len(text), cut)
	}
}

func TestOutcomesThatAnOlderVersionKeptAreRecorded(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/kept/schema-10.bin")
	require.NoError(t, err)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, []Outcome{
		{Tag: "accepted", ID: "7.host", ShortID: "7", Accepted: &job.Observation{
			Detail: job.QueuedActive, Queue: "batch", Observed: noon, Source: "submit-batch", Evidence: "7.host\n", Origin: job.Origin{Stream: "stdout", Line: 1, Text: "7.host"},
		}},
		{Tag: "ended", ID: "ended", Accepted: &job.Observation{Detail: job.Running, Observed: noon}},
		{Tag: "ended", Ended: &job.Observation{Detail: job.Completed, Reason: "done", ExitCode: new(int), Observed: noon.Add(time.Minute), Source: "run"}},
		{Tag: "refused", Refused: "denied"},
	}, decodeKept(text))
}

func TestWhatIsNoFileOfOutcomesIsLeftAlone(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	store, err := Open(t.Context(), directory)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	pipe, link := filepath.Join(directory, keptPrefix+"pipe"), filepath.Join(directory, keptPrefix+"link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(elsewhere, encoded(t, Outcome{Tag: "a", Refused: "x"}), 0o600))
	require.NoError(t, os.Symlink(elsewhere, link))
	noise := filepath.Join(directory, keptPrefix+"noise")
	require.NoError(t, os.WriteFile(noise, []byte("no outcomes"), 0o600))
	require.NoError(t, store.SettleLate(t.Context()))
	require.NoFileExists(t, noise)
	for _, path := range []string{pipe, link, elsewhere} {
		_, err := os.Lstat(path)
		require.NoError(t, err)
	}
}

func FuzzOutcomesThatAreDamagedAreNone(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(encoded(f, Outcome{Tag: "a", Doubted: "cut off"}, Outcome{Tag: "b", ID: "7", Accepted: &job.Observation{}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		var again []byte
		outcomes := decodeKept(text)
		for _, outcome := range outcomes {
			again = append(again, encoded(t, outcome)...)
		}
		require.Equal(t, outcomes, decodeKept(again))
	})
}
