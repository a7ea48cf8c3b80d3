package reader_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/reader"
)

// For any output, a reader does not panic, gives the same answer twice, and gives no state to a job with
// a damaged record.
func FuzzReaders(f *testing.F) {
	f.Add([]byte(rows("1 RUNNING None n1 N/A N/A 0 a")), uint8(0))
	f.Add([]byte(stanza("12.a", "job_state = R", "project = p")), uint8(1))
	f.Add([]byte(stanza("12.a", "job_state = R", "job_state = F")), uint8(1))
	f.Add([]byte(stanza("13.a", "job_state = R", "job_state = F")), uint8(1))
	definitions := []string{squeue, qstat}
	f.Fuzz(func(t *testing.T, output []byte, which uint8) {
		elements := definitions[int(which)%len(definitions)]
		query := reader.Query{Mark: "@mark", Job: "12"}
		first := read(t, elements, string(output), query)
		require.Equal(t, shown(first), shown(read(t, elements, string(output), query)))
		for each := range first.All() {
			require.True(t, each.Unreadable == "" || each.State == "")
			require.Equal(t, "12", each.Job)
		}
	})
}
