package api

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A slowAnswer takes writes as a connection does: none after its limit has passed.
type slowAnswer struct {
	header  http.Header
	text    string
	limited bool // whether the limit that was set last has passed
}

func (a *slowAnswer) Header() http.Header { return a.header }
func (a *slowAnswer) WriteHeader(int)     {}
func (a *slowAnswer) Flush()              {}

func (a *slowAnswer) SetWriteDeadline(time.Time) error {
	a.limited = false
	return nil
}

func (a *slowAnswer) Write(p []byte) (int, error) {
	if a.limited {
		return 0, os.ErrDeadlineExceeded
	}
	a.text += string(p)
	return len(p), nil
}

func TestOutputThatComesAfterALongTimeIsSentAndSoIsItsEnd(t *testing.T) {
	answer := &slowAnswer{header: http.Header{}}
	out := &outputWriter{w: answer, left: 1 << 20}
	require.NoError(t, out.start(true))
	for _, line := range []string{"one\n", "two\n"} {
		answer.limited = true // the job wrote nothing for long
		_, err := out.Write([]byte(line))
		require.NoError(t, err)
	}
	require.Equal(t, "one\ntwo\n", answer.text)
	answer.limited = true
	require.NoError(t, out.end())
	require.False(t, answer.limited, "what net/http writes at the end reaches the client, too")
}
