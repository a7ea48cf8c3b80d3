package polls

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/rmctl/rmctl/internal/stored"
)

// A ListingKey identifies a listing that processes share.
type ListingKey struct {
	PollKey        // the query that makes it
	Variant string // distinguishes targets that share the query and read its rows in other ways
}

// A Listing describes a listing that one process made and shares with the others of this
// user. Its rows are in chunks, in an encoding of the caller.
type Listing struct {
	ListingKey
	Begun  time.Time     // of its query; zero if no listing is shared
	Took   time.Duration // the query
	Chunks int           // that its rows are in

	Rows, Again, NotUnderstood int // the summary of the rows

	Wanted time.Time // when a process last wanted a listing that another one made; only read
}

// AddChunk writes a part of the rows of a listing that is being made. Places are counted
// from 0. Others see the rows after the listing was passed to Finish.
func (r *Record) AddChunk(ctx context.Context, key ListingKey, begun time.Time, place int, rows []byte) error {
	err := r.write(ctx, func(ctx context.Context, transaction *sql.Tx) error {
		_, err := transaction.ExecContext(ctx,
			`INSERT OR IGNORE INTO listings (kind, key, variant, wanted, begun, took, chunks, rows, again, not_understood)
			VALUES (?, ?, ?, '', '', 0, 0, 0, 0, 0)`, key.Kind, key.Key, key.Variant)
		if err == nil {
			_, err = transaction.ExecContext(ctx,
				"INSERT INTO listing_chunks (listing, begun, place, rows, sum) SELECT number, ?, ?, ?, ? FROM listings WHERE kind = ? AND key = ? AND variant = ?",
				stored.Time(begun), place, rows, sumOfChunk(begun, place, rows), key.Kind, key.Key, key.Variant)
		}
		return err
	})
	return r.failed(err, "recording what was listed")
}

func sumOfChunk(begun time.Time, place int, rows []byte) int64 {
	return stored.Sum("listing_chunks", stored.At(&begun), &place, &rows)
}

// replaceListings shows a listing to all processes, if its chunks are all there, and
// removes unused chunks: all chunks of a query except those of its last listing, which a
// process may be reading, and of this one.
func replaceListings(ctx context.Context, transaction *sql.Tx, key PollKey, begun time.Time, listed *Listing) error {
	isShown, err := false, error(nil)
	if listed != nil {
		isShown, err = showListing(ctx, transaction, listed)
	}
	if err != nil {
		return err
	}
	shown := ""
	if isShown {
		shown = stored.Time(begun)
	}
	_, err = transaction.ExecContext(ctx,
		`DELETE FROM listing_chunks WHERE listing IN (SELECT number FROM listings WHERE kind = ?1 AND key = ?2)
		AND begun <> ?3 AND begun NOT IN (SELECT begun FROM polls WHERE kind = ?1 AND key = ?2)`, key.Kind, key.Key, shown)
	return err
}

// showListing makes a listing the one that others read. It reports false if another process
// has taken over meanwhile and removed chunks of it.
func showListing(ctx context.Context, transaction *sql.Tx, listed *Listing) (bool, error) {
	var chunks int
	row := transaction.QueryRowContext(ctx,
		"SELECT count(*) FROM listing_chunks WHERE begun = ? AND listing IN (SELECT number FROM listings WHERE kind = ? AND key = ? AND variant = ?)",
		stored.Time(listed.Begun), listed.Kind, listed.Key, listed.Variant)
	if err := row.Scan(&chunks); err != nil || chunks != listed.Chunks {
		return false, err
	}
	_, err := transaction.ExecContext(ctx,
		`INSERT INTO listings (kind, key, variant, wanted, begun, took, chunks, rows, again, not_understood) VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?)
		ON CONFLICT (kind, key, variant) DO UPDATE SET begun = excluded.begun, took = excluded.took, chunks = excluded.chunks,
		rows = excluded.rows, again = excluded.again, not_understood = excluded.not_understood`,
		listed.Kind, listed.Key, listed.Variant, stored.Time(listed.Begun), listed.Took.Nanoseconds(), listed.Chunks, listed.Rows, listed.Again, listed.NotUnderstood)
	return err == nil, err
}

// Want records that a process wants what another one lists.
func (r *Record) Want(ctx context.Context, key ListingKey, now time.Time) error {
	_, err := r.write.Execute(ctx,
		`INSERT INTO listings (kind, key, variant, wanted, begun, took, chunks, rows, again, not_understood) VALUES (?, ?, ?, ?, '', 0, 0, 0, 0, 0)
		ON CONFLICT (kind, key, variant) DO UPDATE SET wanted = excluded.wanted`, key.Kind, key.Key, key.Variant, stored.Time(now))
	return r.failed(err, "recording that a listing is wanted")
}

// Listing returns the last listing that a process shared.
func (r *Record) Listing(ctx context.Context, key ListingKey) (Listing, error) {
	listing := Listing{ListingKey: key}
	err := r.read.QueryRowContext(ctx, "SELECT wanted, begun, took, chunks, rows, again, not_understood FROM listings WHERE kind = ? AND key = ? AND variant = ?",
		key.Kind, key.Key, key.Variant).Scan(
		stored.At(&listing.Wanted), stored.At(&listing.Begun), &listing.Took, &listing.Chunks, &listing.Rows, &listing.Again, &listing.NotUnderstood)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err != nil {
		return Listing{}, r.failed(err, "looking up what was listed")
	}
	return listing, nil
}

// ErrGone is matched by the error for rows that were removed.
var ErrGone = errors.New("the rows of the listing were removed")

// Chunk returns a part of the rows of a listing; the error matches ErrGone where
// it was removed, as after two newer listings.
func (r *Record) Chunk(ctx context.Context, listing Listing, place int) (rows []byte, err error) {
	row := r.read.QueryRowContext(ctx,
		"SELECT rows, sum FROM listing_chunks WHERE begun = ? AND place = ? AND listing = (SELECT number FROM listings WHERE kind = ? AND key = ? AND variant = ?)",
		stored.Time(listing.Begun), place, listing.Kind, listing.Key, listing.Variant)
	var sum int64
	err = row.Scan(&rows, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = ErrGone
	case err == nil && sum != stored.Unsummed && sum != sumOfChunk(listing.Begun, place, rows):
		err = stored.ErrChecksum
	}
	return rows, r.failed(err, "reading what was listed")
}
