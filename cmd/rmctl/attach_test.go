package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAJobIsCanceledOnceAndOnlyWhileItIsShown(t *testing.T) {
	failure := errors.New("no")
	times := 0
	end := func() error {
		times++
		return failure
	}
	var typedTwice cancellation
	typedTwice.begin(end)
	typedTwice.begin(end)
	require.ErrorIs(t, typedTwice.wait(), failure)
	require.Equal(t, 1, times)

	var typedLate cancellation
	require.NoError(t, typedLate.wait())
	typedLate.begin(end)
	require.NoError(t, typedLate.wait())
	require.Equal(t, 1, times)
}
