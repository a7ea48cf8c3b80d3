package execution

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBufferedOutputIsReadAfterTheDeadline(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	buffer := make([]byte, 10)
	_, err = writer.WriteString("last words")
	require.NoError(t, err)
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(-time.Second)))
	_, err = reader.Read(buffer)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a read that comes too late does not look")

	count, err := readNow(reader, buffer)
	require.NoError(t, err)
	require.Equal(t, "last words", string(buffer[:count]))
	_, err = readNow(reader, buffer)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, writer.Close())
	_, err = readNow(reader, buffer)
	require.ErrorIs(t, err, io.EOF)
}

func TestFinalOutputIsReadAfterTheDeadline(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, writer.Close())
		require.NoError(t, reader.Close())
	})
	_, err = io.WriteString(writer, "Received exit status from master 3\n")
	require.NoError(t, err)
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(-time.Second)))
	heard, err := io.ReadAll(NewLateReader(reader))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the writer is open, and is not waited for")
	require.Equal(t, "Received exit status from master 3\n", string(heard))
}
