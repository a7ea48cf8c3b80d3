package hostlist

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Lists of nodes are untrusted: reading any list must stop on request, and no name may be longer than the
// list.
func FuzzListsOfNodes(f *testing.F) {
	for _, list := range []string{"n[1-3,007-012],gpu1", "rack[0-1]n[0-3]", "node1/0*4+node2/1", "4*hosta:hostb", "n[1-999999999999999999][3-1]", "[,][,]]["} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		list = list[:min(len(list), 4096)]
		visits := 0
		Each(list, func(name string) bool {
			visits++
			require.LessOrEqual(t, len(name), len(list)+maxDigits)
			return visits < 100
		})
		require.LessOrEqual(t, visits, 100)
	})
}
