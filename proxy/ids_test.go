package proxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIDsAreSortedAndMerged(t *testing.T) {
	for text, canonical := range map[string]string{
		"1-10,4-12,3": "1-12", "1,2,3-7,34-38,41,55,56,57": "1-7,34-38,41,55-57", "7-3": "", "5-5": "5", "007": "7",
		"5,1,2,6,7,4,15,9,14": "1-2,4-7,9,14-15", "0,18446744073709551615": "0,18446744073709551615", "": "",
		"1-2-3": "1-2-3", "1,,2": "1,,2", "1, 2": "1, 2", "-5": "-5", "a1": "a1", "+5": "+5",
	} {
		ids, err := ParseIDs(text)
		require.NoError(t, err)
		require.Equal(t, canonical, ids.String(), text)
	}
	require.Equal(t, "1-2,4-7,9,14-15", IDsOf(5, 1, 2, 6, 7, 4, 15, 9, 14).String())
}

func TestIDsAreListedInOrder(t *testing.T) {
	ids, err := ParseIDs("9,3-5")
	require.NoError(t, err)
	require.Equal(t, 4, ids.Len())
	require.Equal(t, []string{"3", "4", "5", "9"}, slices.Collect(ids.All()))
	for id := range ids.All() {
		require.Equal(t, "3", id)
		break
	}
	last, err := ParseIDs("18446744073709551614-18446744073709551615")
	require.NoError(t, err)
	require.Equal(t, []string{"18446744073709551614", "18446744073709551615"}, slices.Collect(last.All()))
	text, err := ParseIDs("job.7")
	require.NoError(t, err)
	require.Equal(t, []string{"job.7"}, slices.Collect(text.All()))
	require.Empty(t, slices.Collect(IDs{}.All()))
}

func TestIDsAreCountedBeforeTheyAreExpanded(t *testing.T) {
	for _, text := range []string{"1-1000000", "5,1-999999,1000000"} {
		ids, err := ParseIDs(text)
		require.NoError(t, err)
		require.Equal(t, mostIDs, ids.Len())
	}
	for _, text := range []string{"0-1000000", "1-1000000,2000000", "0-18446744073709551615", strings.Repeat("1,", mostIDs) + "1"} {
		_, err := ParseIDs(text)
		var broken *FrameError
		require.ErrorAs(t, err, &broken)
		require.True(t, broken.Ends)
	}
}
