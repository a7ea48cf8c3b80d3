package channel

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

var testMarker = marker("\x1e0123456789abcdef0123456789abcdef")

// split returns the data and the records of a stream.
func split(t testing.TB, source io.Reader, m marker) (data []byte, records []string) {
	t.Helper()
	f := newFrames(source)
	for {
		piece, record, err := f.next(func() []byte { return m })
		if err == io.EOF {
			return data, records
		}
		require.NoError(t, err)
		if piece != nil {
			data = append(data, piece...)
		} else {
			records = append(records, record)
		}
	}
}

func TestRecordsAreTakenOutWhereverTheyStand(t *testing.T) {
	t.Parallel()
	record := func(text string) string { return string(testMarker) + " " + text + "\n" }
	stream := "begin" + record("started 1 2") + "x\x1e0123" + record("exit 0") + "y" + record("end\r") + "\x1e"
	for name, source := range map[string]io.Reader{
		"as a whole": strings.NewReader(stream),
		"in bytes":   iotest.OneByteReader(strings.NewReader(stream)),
		"in halves":  iotest.HalfReader(strings.NewReader(stream)),
	} {
		t.Run(name, func(t *testing.T) {
			data, records := split(t, source, testMarker)
			require.Equal(t, "beginx\x1e0123y\x1e", string(data))
			require.Equal(t, []string{"started 1 2", "exit 0", "end"}, records)
		})
	}
}

func TestOutputIsNotHeldBackForAMarker(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	f := newFrames(reader)
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(writer, "name? 0")
		written <- err
	}()
	data, _, err := f.next(func() []byte { return testMarker })
	require.NoError(t, err)
	require.Equal(t, "name? 0", string(data))
	require.NoError(t, <-written)
}

func TestARecordThatDoesNotEndIsAnError(t *testing.T) {
	t.Parallel()
	f := newFrames(strings.NewReader(string(testMarker) + strings.Repeat("x", frameBuffer)))
	var err error
	for err == nil {
		_, _, err = f.next(func() []byte { return testMarker })
	}
	require.ErrorIs(t, err, errEndlessRecord)
}

// FuzzFrames cuts a stream at random: what comes out must not depend on it.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("data\x00 more"), uint64(1))
	f.Add([]byte("\x00\x00"), uint64(2))
	f.Add([]byte("\x1e\x00 \x1e0123\x00"), uint64(3))
	f.Fuzz(func(t *testing.T, template []byte, seed uint64) {
		if len(template) > 1000 {
			return
		}
		// Zero bytes stand for records.
		stream := bytes.ReplaceAll(template, []byte{0}, []byte(string(testMarker)+" r\n"))
		data, records := split(t, &choppedReader{stream, rand.New(rand.NewPCG(seed, 0))}, testMarker)
		require.Equal(t, string(bytes.ReplaceAll(template, []byte{0}, nil)), string(data))
		require.Len(t, records, bytes.Count(template, []byte{0}))
	})
}

type choppedReader struct {
	left   []byte
	random *rand.Rand
}

func (r *choppedReader) Read(buffer []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	count := copy(buffer, r.left[:min(len(r.left), 1+r.random.IntN(40))])
	r.left = r.left[count:]
	return count, nil
}

func FuzzParseStat(f *testing.F) {
	f.Add("81a4 12 1700000000\n")
	f.Add("81a4 -1 x\n")
	f.Add("")
	f.Fuzz(func(t *testing.T, printed string) {
		info, err := parseStat("/a/file", printed)
		if err == nil {
			require.Equal(t, "file", info.Name())
		}
	})
}

func TestModesOfTheSystemAreThoseOfGo(t *testing.T) {
	t.Parallel()
	for printed, expected := range map[string]string{
		"81a4 5 1": "-rw-r--r--", "41ed 5 1": "drwxr-xr-x", "43ff 5 1": "dtrwxrwxrwx",
		"11a4 5 1": "prw-r--r--", "89ed 5 1": "urwxr-xr-x", "2190 5 1": "Dcrw--w----",
	} {
		info, err := parseStat("/a/file", printed)
		require.NoError(t, err)
		require.Equal(t, expected, info.Mode().String(), printed)
	}
}

// BenchmarkFrames measures what every byte of output passes through.
func BenchmarkFrames(b *testing.B) {
	const size = 64 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		f := newFrames(io.LimitReader(lines{}, size))
		for {
			if _, _, err := f.next(func() []byte { return testMarker }); err != nil {
				break
			}
		}
	}
}

// lines are output like that of a scheduler, without end.
type lines struct{}

var someLines = bytes.Repeat([]byte("  123456 normal   simulation_of_something  alice  R  1-02:03:04  16 node[001-016]\n"), 1000)

func (lines) Read(buffer []byte) (int, error) { return copy(buffer, someLines), nil }
