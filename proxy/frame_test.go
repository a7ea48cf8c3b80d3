package proxy

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestFramesAreReadWhereverTheirBytesAreSplit(t *testing.T) {
	frames := append(recordedFrames(t), Frame{ID: 5, Arguments: []string{strings.Repeat("x", 3*bufferSize), ""}})
	var stream []byte
	for _, frame := range frames {
		stream = frame.Append(stream)
	}
	for _, source := range []io.Reader{
		bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)), iotest.HalfReader(bytes.NewReader(stream)), iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		reader := NewReader(source)
		for _, frame := range frames {
			read, err := reader.Read()
			require.NoError(t, err)
			require.Equal(t, frame, read)
		}
		_, err := reader.Read()
		require.Equal(t, io.EOF, err)
	}
}

func TestStreamsThatEndInsideAFrameAreUnexpected(t *testing.T) {
	for _, frame := range []Frame{{ID: 5, Arguments: []string{"a=b"}}, {ID: 5, Arguments: []string{strings.Repeat("x", 2*bufferSize)}}} {
		whole := frame.Append(nil)
		for _, end := range []int{1, 7, 8, 9, 20, len(whole) - 1} {
			_, err := NewReader(bytes.NewReader(whole[:end])).Read()
			require.Equal(t, io.ErrUnexpectedEOF, err, end)
		}
	}
}

func TestErrorsOfTheConnectionAreReturned(t *testing.T) {
	for _, before := range []string{"", "0000", "00000017 0000"} {
		_, err := NewReader(io.MultiReader(strings.NewReader(before), iotest.ErrReader(io.ErrClosedPipe))).Read()
		require.ErrorIs(t, err, io.ErrClosedPipe)
	}
}

func TestTheFrameAfterABrokenOneIsRead(t *testing.T) {
	reader := NewReader(strings.NewReader("00000017 0000;00000001:00000000" + "00000017 0006:00000009:00000000"))
	_, err := reader.Read()
	broken, isBroken := errors.AsType[*FrameError](err)
	require.True(t, isBroken)
	require.False(t, broken.Ends)
	frame, err := reader.Read()
	require.NoError(t, err)
	require.Equal(t, Frame{ID: 6, Transaction: 9}, frame)
}

func TestOffsetsCountFromTheBeginningOfTheStream(t *testing.T) {
	reader := NewReader(strings.NewReader("00000017 0006:00000009:00000000" + "oops"))
	_, err := reader.Read()
	require.NoError(t, err)
	_, err = reader.Read()
	require.EqualError(t, err, `byte 31: not a frame of the proxy protocol: "oops"`)
}

func TestTextThatIsNoFrameIsQuotedAndCut(t *testing.T) {
	_, err := NewReader(strings.NewReader("\x1b[2JWelcome\n" + strings.Repeat("é\x07", 5000))).Read()
	require.ErrorContains(t, err, `"\x1b[2JWelcome\né\x07`)
	require.Less(t, len(err.Error()), 4*longestExcerpt)
	require.NotContains(t, err.Error(), "\x1b")
}

func TestTextWithoutALineBreakIsNotAFrameAtOnce(t *testing.T) {
	reader, writer := io.Pipe()
	defer writer.Close()
	go func() { _, _ = writer.Write([]byte("$ ")) }() // the peer then waits
	_, err := NewReader(reader).Read()
	require.ErrorContains(t, err, "not a frame")
}

// countedWrites counts calls of Write.
type countedWrites struct {
	bytes.Buffer
	calls int
}

func (w *countedWrites) Write(text []byte) (int, error) {
	w.calls++
	return w.Buffer.Write(text)
}

func TestEachFrameIsWrittenAtOnce(t *testing.T) {
	to := &countedWrites{}
	writer := NewWriter(to)
	for range 3 {
		require.NoError(t, writer.Write(Frame{ID: 0xABC, Transaction: 0xDEF, Arguments: []string{"a=b", "", strings.Repeat("x", largestKept)}}))
	}
	require.Equal(t, 3, to.calls)
	require.Equal(t, strings.ToLower(to.String()[:40]), to.String()[:40])
}

func TestFramesBeyondTheLimitsAreNotWritten(t *testing.T) {
	to := &countedWrites{}
	writer := NewWriter(to)
	require.Error(t, writer.Write(Frame{Arguments: []string{strings.Repeat("x", largestFrame)}}))
	require.Error(t, writer.Write(Frame{Arguments: make([]string, mostArguments+1)}))
	require.Zero(t, to.calls)
	largest := Frame{Arguments: []string{strings.Repeat("x", largestFrame-lengthWidth-headerWidth-argumentWidth)}}
	require.NoError(t, writer.Write(largest))
	read, err := NewReader(to).Read()
	require.NoError(t, err)
	require.Equal(t, largest, read)
	require.NoError(t, writer.Write(Frame{Arguments: make([]string, mostArguments)}))
	frame, err := NewReader(to).Read()
	require.NoError(t, err)
	require.Len(t, frame.Arguments, mostArguments)
}

// TestHostileFramesCostLittle bounds what a peer can make a reader allocate, all allocations
// of one frame together.
func TestHostileFramesCostLittle(t *testing.T) {
	ranges := strings.Repeat("1,3,5,7,9,", 1<<20)
	for name, text := range map[string]string{
		"announced only":        "00fffff8 00e6:00000003:000186a0",
		"many arguments":        string(Frame{ID: 0xe6, Arguments: append([]string{"1", "4", "99998"}, make([]string, 99_997)...)}.Append(nil)),
		"many ranges":           string(Frame{ID: 0xf1, Arguments: []string{ranges + "9"}}.Append(nil)),
		"many elements":         string(Frame{ID: 0xf1, Arguments: []string{"0-18446744073709551615"}}.Append(nil)),
		"as many as possible":   string(Frame{ID: 0xf1, Arguments: []string{ranges[:1_999_999]}}.Append(nil)),
		"groups announced":      string(Frame{ID: 0xe6, Arguments: []string{"50000", "1", "0"}}.Append(nil)),
		"many groups":           string(Frame{ID: 0xe6, Arguments: append([]string{"40000"}, strings.Split(strings.Repeat("1 0 ", 40_000)[:159_999], " ")...)}.Append(nil)),
		"definitions announced": string(Frame{ID: 0xfb, Arguments: []string{"14000"}}.Append(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			frame, err := NewReader(strings.NewReader(text)).Read()
			if err == nil {
				_, _ = ParseUpdate(frame) // it may be refused
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(48<<20))
		})
	}
}
