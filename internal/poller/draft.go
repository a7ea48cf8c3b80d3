package poller

import (
	"context"
	"fmt"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/polls"
)

// largestShared bounds the bytes of a listing that is kept for others: larger ones
// each process makes in its turn.
const largestShared = 64 << 20

// errTooLarge says that a listing is not kept for others.
var errTooLarge = fmt.Errorf("the listing has more than %d MiB", largestShared>>20)

// A draft is a listing that is being written for others. What goes wrong is kept: the
// listing itself goes on. A nil one takes rows, and does nothing with them.
type draft struct {
	store *polls.Record
	rows  chunkWriter
	made  polls.Listing
	size  int // bytes that were written
	err   error
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
		err = d.store.AddChunk(ctx, d.made.ListingKey, d.made.Begun, d.made.Chunks, chunk)
	}
	d.made.Chunks++
	d.err = err
}

// finish writes the last chunk, and notes how the listing went.
func (d *draft) finish(ctx context.Context, made polls.Listing) error {
	if d.err == nil && len(d.rows.Rows) > 0 {
		d.write(ctx)
	}
	made.Chunks = d.made.Chunks
	d.made = made
	return d.err
}

// whole returns the listing, nil if it is not whole.
func (d *draft) whole() *polls.Listing {
	if d.err != nil {
		return nil
	}
	return &d.made
}
