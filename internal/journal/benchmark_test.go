package journal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/barrier"
)

func BenchmarkReleaseOf10000Processes(b *testing.B) {
	for _, parts := range []int{25, 1000} {
		b.Run(fmt.Sprintf("%d parts", parts), func(b *testing.B) {
			store := openStore(b, b.TempDir())
			released := rosters(parts, 10_000/parts)
			for i := 0; b.Loop(); i++ {
				require.NoError(b, store.Journal().RecordRelease(b.Context(), fmt.Sprint(i), released, noon))
			}
		})
	}
}

func BenchmarkLoadWith10000Processes(b *testing.B) {
	store := openStore(b, b.TempDir())
	create(b, store, "e1", 25)
	require.NoError(b, store.Journal().RecordRelease(b.Context(), "e1", rosters(25, 400), noon))
	for b.Loop() {
		_, err := store.Journal().Load(b.Context(), "e1")
		require.NoError(b, err)
	}
}

func BenchmarkSaveAnEvent(b *testing.B) {
	store := openStore(b, b.TempDir())
	saved := create(b, store, "e1", 25)
	for i := 1; b.Loop(); i++ {
		saved.Ensemble.Notices = i
		require.NoError(b, store.Journal().Save(b.Context(), barrier.Change{Ensemble: saved.Ensemble, Notices: notices(i, i)}))
	}
}
