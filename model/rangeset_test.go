package model_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

func TestRangeSetsAreWrittenInTheirShortestForm(t *testing.T) {
	for text, want := range map[string]string{
		"1-10,4-12,3":                     "1-12",
		"5":                               "5",
		"5-5":                             "5",
		"34-38,1,2,3,4,5,6,7,41,55,56,57": "1-7,34-38,41,55-57",
		"1-2,3":                           "1-3",
		"0,18446744073709551615":          "0,18446744073709551615",
		"18446744073709551615,5-18446744073709551615": "5-18446744073709551615",
	} {
		set, err := model.ParseRangeSet(text)
		require.NoError(t, err, text)
		require.Equal(t, want, set.String())
	}
}

func TestTextsThatAreNoRangeSetAreRefused(t *testing.T) {
	for _, text := range []string{"", ",", "1,,2", "1, 2", "-5", "a1", "7-3", "1-2-3", "+1", "0x10", "18446744073709551616", "1-", strings.Repeat("1,", 1<<20) + "1"} {
		_, err := model.ParseRangeSet(text)
		require.ErrorIs(t, err, model.ErrRangeSet, "%.40q", text)
	}
}

func TestRangeSetsHoldWhatTheySay(t *testing.T) {
	set := model.RangeSetOf(5, 1, 2, 6, 7, 4, 15, 9, 14)
	require.Equal(t, "1-2,4-7,9,14-15", set.String())
	require.Equal(t, []uint64{1, 2, 4, 5, 6, 7, 9, 14, 15}, slices.Collect(set.All()))
	require.Equal(t, uint64(9), set.Len())
	for number := range uint64(20) {
		require.Equal(t, slices.Contains([]uint64{1, 2, 4, 5, 6, 7, 9, 14, 15}, number), set.Contains(number), number)
	}
	require.Equal(t, "1-9,14-15", set.Union(model.RangeSetOf(3, 8)).String())
	require.Equal(t, "1-2,4-7,9,14-15", set.String(), "a union leaves its parts alone")
	require.Empty(t, model.RangeSet{}.String())
	all, err := model.ParseRangeSet("0-18446744073709551615")
	require.NoError(t, err)
	require.Equal(t, uint64(math.MaxUint64), all.Len())
}

func TestIDsThatAreNoNumbersStayBesideTheSet(t *testing.T) {
	set, others := model.RangeSetOfIDs(slices.Values([]string{"12", "7_3", "11", "007", "node-1"}))
	require.Equal(t, "11-12", set.String())
	require.Equal(t, []string{"7_3", "007", "node-1"}, others)
}

func FuzzRangeSet(f *testing.F) {
	f.Add("1-7,34-38")
	f.Add("3,2,1")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := model.ParseRangeSet(text)
		if err != nil {
			return
		}
		again, err := model.ParseRangeSet(set.String())
		require.NoError(t, err)
		require.Equal(t, set, again)
	})
}
