package daemon

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARingKeepsTheLastBytesAndAllUnreadOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := newRing(time.Hour)
	var all strings.Builder
	for range 3000 {
		text := strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(300))
		r.write(byte(1+random.IntN(2)), []byte(text))
		all.WriteString(text)
	}
	late := r.read()
	more := strings.Repeat("more", ringBytes/2)
	go func() {
		r.write(1, []byte(more)) // when the reader reads it
		r.finish()
	}()
	var read strings.Builder
	for {
		_, data, err := late.next(context.Background())
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		count := 1 + random.IntN(len(data))
		read.Write(data[:count])
		late.advance(count)
	}
	kept := all.String()[all.Len()-ringBytes:]
	require.True(t, kept+more == read.String())
}

func TestAStuckReaderIsDisconnected(t *testing.T) {
	r := newRing(time.Millisecond)
	slow := r.read()
	r.write(1, make([]byte, ringBytes))
	_, data, err := slow.next(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, data)
	r.write(1, []byte("x"))
	_, _, err = slow.next(t.Context())
	require.ErrorIs(t, err, ErrTooSlow)
	slow.stop()
}
