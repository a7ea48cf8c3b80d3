package terminal_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/terminal"
)

func TestAJobIsCanceledOnceAndOnlyWhileItIsShown(t *testing.T) {
	failure := errors.New("no")
	times := 0
	end := func() error {
		times++
		return failure
	}
	var typedTwice terminal.Cancellation
	typedTwice.Start(end)
	typedTwice.Start(end)
	require.ErrorIs(t, typedTwice.Wait(), failure)
	require.Equal(t, 1, times)

	var typedLate terminal.Cancellation
	require.NoError(t, typedLate.Wait())
	typedLate.Start(end)
	require.NoError(t, typedLate.Wait())
	require.Equal(t, 1, times)
}
