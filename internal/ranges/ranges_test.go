package ranges_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
)

func TestRangesOfTasks(t *testing.T) {
	for text, want := range map[string]string{
		"3": "3", "[3,6-9%1]": "3,6-9", "1-12:1": "1-12", "1-7:3": "1,4,7", "5,4,3": "3-5", "1-3,2-8": "1-8", "0": "0",
	} {
		numbers, isRanges := ranges.Parse(text)
		require.True(t, isRanges, text)
		require.Equal(t, want, numbers.String())
	}
	for _, text := range []string{"", "x", "3-1", "1-2:0", "-1", "1,", "99999999999", "1-1073741824:2", "[]"} {
		_, isRanges := ranges.Parse(text)
		require.False(t, isRanges, text)
	}
}

func TestRangesAreCombined(t *testing.T) {
	all, _ := ranges.Parse("1-5,8")
	some, _ := ranges.Parse("2-3,7-9")
	require.Equal(t, "1-5,7-9", all.Union(some).String())
	require.Equal(t, "1,4-5", all.Without(some).String())
	require.Equal(t, "1-5,8", all.String())
	require.Equal(t, 6, all.Count())
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, " 12 ": 12, "1-12": 12, "1-12:2": 6, "[3,6-9%1]": 5, "1073741824": 1 << 30} {
		count, isCount := ranges.ParseCount(text)
		require.True(t, isCount, text)
		require.Equal(t, want, count, text)
	}
	for _, text := range []string{"", " ", "-", "-1", "1.5", "1e3", "many", "99999999999", "1-99999999999", "9-1"} {
		_, isCount := ranges.ParseCount(text)
		require.False(t, isCount, text)
	}
}

func TestNumbersInRangesAreCounted(t *testing.T) {
	total, _ := ranges.Count([]string{"0-3", "5"})
	require.Equal(t, "5", total)
	total, odd := ranges.Count([]string{"0-3", ""})
	require.Empty(t, total)
	require.Empty(t, odd)
}
