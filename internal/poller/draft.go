package poller

import (
	"context"
	"fmt"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/polls"
)

// largestShared bounds the bytes of a listing that is kept for others: larger ones
// each process makes in its turn.
const largestShared = 64 << 20

// errTooLarge reports that a listing is too large to share.
var errTooLarge = fmt.Errorf("the listing has more than %d MiB", largestShared>>20)

// A draft is a listing that is being written for others. It keeps its first error: the
// listing itself goes on. A nil draft ignores rows.
type draft struct {
	store  *polls.Record
	key    polls.ListingKey
	begun  time.Time
	rows   chunkWriter
	chunks int // that were written
	size   int // of these, in bytes
	err    error
}

// add adds a row.
func (d *draft) add(ctx context.Context, row command.Row) {
	if d == nil || d.err != nil {
		return
	}
	d.rows.add(row)
	if d.rows.size >= chunkSize {
		d.write(ctx)
	}
}

// write writes what rows there are as a chunk.
func (d *draft) write(ctx context.Context) {
	chunk, err := d.rows.flush()
	if d.size += len(chunk); err == nil && d.size > largestShared {
		err = errTooLarge
	}
	if err == nil {
		err = d.store.AddChunk(ctx, d.key, d.begun, d.chunks, chunk)
	}
	d.chunks++
	d.err = err
}

// finish writes the last chunk, and returns how many there are.
func (d *draft) finish(ctx context.Context) (chunks int, err error) {
	if d.err == nil && len(d.rows.Rows) > 0 {
		d.write(ctx)
	}
	return d.chunks, d.err
}
