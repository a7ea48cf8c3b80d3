package rendezvous

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFramesHaveTheirAnnouncedLength(t *testing.T) {
	t.Parallel()
	encoded, err := (&frame{Kind: kindSend, Tag: "t", payload: []byte("data")}).encode()
	require.NoError(t, err)
	read, err := readFrame(bytes.NewReader(encoded), mostPayload)
	require.NoError(t, err)
	require.Equal(t, &frame{Kind: kindSend, Tag: "t", payload: []byte("data")}, read)
	for length := range encoded {
		_, err := readFrame(bytes.NewReader(encoded[:length]), mostPayload)
		require.Error(t, err, "%d of %d bytes", length, len(encoded))
	}
}

func TestLengthsAreCheckedBeforeMemoryIsTaken(t *testing.T) {
	t.Parallel()
	for _, lengths := range [][2]uint32{{mostHeader + 1, 0}, {1 << 31, 0}, {2, mostPayload + 1}, {2, 1<<32 - 1}} {
		text := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, lengths[0]), lengths[1])
		_, err := readFrame(bytes.NewReader(text), mostPayload)
		require.ErrorContains(t, err, "more than")
	}
	_, err := readFrame(bytes.NewReader([]byte{0, 0, 0, 2, 0, 0, 0, 1, '{', '}', 'x'}), 0)
	require.ErrorContains(t, err, "more than", "no payload comes before the proof")
}

func FuzzFrame(f *testing.F) {
	for _, each := range []*frame{{Kind: kindHello, Version: 1, Nonce: []byte("n")}, {Kind: kindSend, Tag: "t", payload: []byte("x")}, {Kind: kindPong, ID: 7}} {
		encoded, err := each.encode()
		require.NoError(f, err)
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := readFrame(bytes.NewReader(text), 1<<16)
		if err != nil {
			return
		}
		encoded, err := read.encode()
		if err != nil {
			return // invalid characters become longer
		}
		again, err := readFrame(bytes.NewReader(encoded), 1<<16)
		require.NoError(t, err)
		require.Equal(t, read.Kind, again.Kind)
		require.Equal(t, read.payload, again.payload)
	})
}

func FuzzPass(f *testing.F) {
	pass := Pass{Ensemble: "e", Count: 1, Gate: GateHeld, Secret: []byte("s"), Fingerprint: "f", Arguments: []string{"true"}}
	text, err := pass.Encode()
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		pass, err := parsePass(text)
		if err != nil {
			return
		}
		require.Positive(t, pass.Count)
		require.NotEmpty(t, pass.Arguments)
		require.Positive(t, pass.Wait)
	})
}

func FuzzKey(f *testing.F) {
	key, err := NewKey()
	require.NoError(f, err)
	text, err := key.Encode()
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := ParseKey(text)
		if err == nil {
			require.Len(t, key.PartSecret(1), 32)
		}
	})
}
