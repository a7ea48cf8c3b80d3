package bulk_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/bulk"
)

func TestResultsComeInOrder(t *testing.T) {
	second := make(chan struct{})
	work := func(number int) int {
		switch number {
		case 1:
			<-second // the first thing ends after the second
		case 2:
			close(second)
		}
		return number * 10
	}
	var results []int
	bulk.Each([]int{1, 2, 3}, 2, work, func(i, result int) {
		require.Len(t, results, i)
		results = append(results, result)
	})
	require.Equal(t, []int{10, 20, 30}, results)
}

func TestConcurrencyIsLimited(t *testing.T) {
	var running, most atomic.Int32
	bulk.Each(make([]struct{}, 50), 3, func(struct{}) int32 {
		now := running.Add(1)
		defer running.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		return now
	}, func(int, int32) {})
	require.LessOrEqual(t, most.Load(), int32(3))
}
