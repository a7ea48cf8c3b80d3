package command

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARowCounterKnowsWhichIDsCameBefore(t *testing.T) {
	rows := newRowCounter(nil)
	for i := range 10_000 {
		require.True(t, rows.isNew(strconv.Itoa(i)), i)
		require.False(t, rows.isNew(strconv.Itoa(i/2)), i)
	}
	for i := range 10_000 {
		require.False(t, rows.isNew(strconv.Itoa(i)), i)
	}
}
