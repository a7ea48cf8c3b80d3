package command

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIDSetKnowsWhatCameBefore(t *testing.T) {
	ids := newIDSet()
	for i := range 10_000 {
		require.True(t, ids.add(strconv.Itoa(i)), i)
		require.False(t, ids.add(strconv.Itoa(i/2)), i)
	}
	for i := range 10_000 {
		require.False(t, ids.add(strconv.Itoa(i)), i)
	}
	require.Less(t, len(ids.slots), 40_000)
}

func TestHashesOfOnePlaceDoNotHideEachOther(t *testing.T) {
	ids := newIDSet()
	hash := func(i uint64) uint64 { return i*fewestSlots + fewestSlots - 1 } // goes round the end
	for i := range uint64(fewestSlots / 2) {
		require.True(t, ids.put(hash(i)), i)
	}
	for i := range uint64(fewestSlots / 2) {
		require.False(t, ids.put(hash(i)), i)
	}
}
