package openssh

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLastWordsAreHeardThoughTheirTimeIsOver(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, writer.Close())
		require.NoError(t, reader.Close())
	})
	_, err = io.WriteString(writer, "Received exit status from master 3\n")
	require.NoError(t, err)
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(-time.Second)))
	heard, err := io.ReadAll(&lastReader{source: reader})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the writer is open, and is not waited for")
	require.Equal(t, "Received exit status from master 3\n", string(heard))
}
