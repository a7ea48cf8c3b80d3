package remote_test

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

func TestWhatIsThereIsReadThoughItsTimeIsOver(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	buffer := make([]byte, 10)
	_, err = writer.WriteString("last words")
	require.NoError(t, err)
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(-time.Second)))
	_, err = reader.Read(buffer)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a read that comes too late does not look")

	count, err := remote.ReadNow(reader, buffer)
	require.NoError(t, err)
	require.Equal(t, "last words", string(buffer[:count]))
	_, err = remote.ReadNow(reader, buffer)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, writer.Close())
	_, err = remote.ReadNow(reader, buffer)
	require.ErrorIs(t, err, io.EOF)
}
