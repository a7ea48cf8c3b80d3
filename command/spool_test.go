package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStreamWithoutEndDoesNotFillTheDisk(t *testing.T) {
	kept := spool{size: spoolLimit - 4}
	t.Cleanup(kept.discard)
	_, err := kept.Write([]byte("last"))
	require.NoError(t, err)
	_, err = kept.Write([]byte("more"))
	require.ErrorIs(t, err, errTooMuchOutput)
	var read bytes.Buffer
	require.NoError(t, kept.copyTo(&read))
	require.Equal(t, "last", read.String())
}
