package sorting_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/sorting"
)

func TestEqualElementsKeepTheirOrder(t *testing.T) {
	type entry struct{ key, place int }
	byKey := func(a, b entry) int { return a.key - b.key }
	for _, length := range []int{0, 1, 2, 20, 1000} {
		list := make([]entry, length)
		for i := range list {
			list[i] = entry{rand.IntN(5), i}
		}
		expected := slices.Clone(list)
		slices.SortStableFunc(expected, byKey)
		sorting.Stable(list, byKey)
		require.Equal(t, expected, list)
	}
}
