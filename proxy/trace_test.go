package proxy

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTracesCarryAnyBytes(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, argument := range []string{string(every), "a\\n", "\u202eé", "ends with \x1b", `\`, " ", "\r\n"} {
		line := Line{FromAgent: true, Frame: Frame{ID: 0xe9, Transaction: 3, Arguments: []string{argument}}}
		var text strings.Builder
		require.NoError(t, NewTrace(&text).Write(line))
		require.Equal(t, 1, strings.Count(text.String(), "\n"))
		require.NotContains(t, text.String(), "\u202e")
		read, err := ParseLine(text.String())
		require.NoError(t, err)
		require.Equal(t, line, read)
	}
}

func TestTracesWithoutEscapesAreRead(t *testing.T) {
	for _, argument := range []string{`C:\new`, `C:\dir`, `\`, `\x4`, `\\`} {
		line := Line{Frame: Frame{ID: 5, Arguments: []string{argument}}}
		read, err := ParseLine("C> " + string(line.Frame.Append(nil)))
		require.NoError(t, err)
		require.Equal(t, line, read)
	}
}

func TestLinesThatAreNoFramesAreErrors(t *testing.T) {
	for text, message := range map[string]string{
		"": errNotLine.Error(), "noise": errNotLine.Error(), "C> noise": "not a frame", "<E 00000017": "unexpected EOF",
		"<E 00000017 0000:00000001:00000000x": "bytes follow the frame",
	} {
		_, err := ParseLine(text)
		require.ErrorContains(t, err, message, text)
	}
	closed, err := ParseLine("<E (connection closed)")
	require.NoError(t, err)
	require.Equal(t, Line{FromAgent: true, Closed: true}, closed)
}

func TestTracesThatCannotBeWrittenAreErrors(t *testing.T) {
	reader, writer := io.Pipe()
	require.NoError(t, reader.Close())
	require.ErrorIs(t, NewTrace(writer).Write(Line{Closed: true}), io.ErrClosedPipe)
}
