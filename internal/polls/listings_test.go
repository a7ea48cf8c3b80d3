package polls_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/polls"
	"github.com/rmctl/rmctl/jobstore"
)

var nodes = polls.ListingKey{PollKey: polls.PollKey{Kind: "list-nodes", Key: "slurm over local"}}

// lists lets a process list in some chunks, and finish that with them.
func lists(t *testing.T, store *jobstore.Store, holder string, after time.Duration, chunks ...string) polls.Listing {
	t.Helper()
	turn := claimAt(holder, after)
	turn.PollKey = nodes.PollKey
	require.True(t, claim(t, store, turn))
	for place, rows := range chunks {
		require.NoError(t, store.Polls().AddChunk(t.Context(), nodes, turn.Now, place, []byte(rows)))
	}
	made := polls.Listing{ListingKey: nodes, Begun: turn.Now, Took: time.Second, Chunks: len(chunks), Rows: 5, Again: 2, NotUnderstood: 1}
	require.NoError(t, store.Polls().Finish(t.Context(), turn, polls.Poll{Begun: turn.Now}, &made))
	return made
}

func chunksOf(t *testing.T, store *jobstore.Store, listing polls.Listing) (chunks []string) {
	t.Helper()
	for place := range listing.Chunks {
		rows, err := store.Polls().Chunk(t.Context(), listing, place)
		require.NoError(t, err)
		chunks = append(chunks, string(rows))
	}
	return chunks
}

func TestAListingOfOneProcessIsReadByAnother(t *testing.T) {
	directory := t.TempDir()
	made := lists(t, openStore(t, directory), "a", 0, "one\xff\x00", "two")
	other := openStore(t, directory)
	read, err := other.Polls().Listing(t.Context(), nodes)
	require.NoError(t, err)
	require.Equal(t, made, read)
	require.Equal(t, []string{"one\xff\x00", "two"}, chunksOf(t, other, read))
	variant := nodes
	variant.Variant = "partition=debug"
	read, err = other.Polls().Listing(t.Context(), variant)
	require.NoError(t, err)
	require.Zero(t, read.Begun)
}

func TestAnIncompleteListingIsInvisible(t *testing.T) {
	store := openStore(t, t.TempDir())
	first := lists(t, store, "a", 0, "old")
	next := claimAt("a", time.Minute)
	next.PollKey = nodes.PollKey
	require.True(t, claim(t, store, next))
	require.NoError(t, store.Polls().AddChunk(t.Context(), nodes, next.Now, 0, []byte("half")))
	read, err := store.Polls().Listing(t.Context(), nodes)
	require.NoError(t, err)
	require.Equal(t, first, read)

	require.NoError(t, store.Polls().Finish(t.Context(), next, polls.Poll{Begun: next.Now}, &polls.Listing{ListingKey: nodes, Begun: next.Now, Chunks: 2}))
	read, err = store.Polls().Listing(t.Context(), nodes)
	require.NoError(t, err)
	require.Equal(t, first, read, "one of its chunks is missing")
}

func TestAListingIsRemovedAfterTwoMore(t *testing.T) {
	store := openStore(t, t.TempDir())
	killed := claimAt("killed", 0)
	killed.PollKey = nodes.PollKey
	require.True(t, claim(t, store, killed))
	require.NoError(t, store.Polls().AddChunk(t.Context(), nodes, killed.Now, 0, []byte("half")))
	isThere := func(begun time.Time) bool {
		_, err := store.Polls().Chunk(t.Context(), polls.Listing{ListingKey: nodes, Begun: begun}, 0)
		return err == nil
	}
	first := lists(t, store, "a", time.Hour, "first")
	require.False(t, isThere(killed.Now))
	second := lists(t, store, "a", 2*time.Hour, "second")
	require.True(t, isThere(first.Begun), "somebody may be reading it")
	require.True(t, isThere(second.Begun))
	third := lists(t, store, "a", 3*time.Hour, "third")
	require.False(t, isThere(first.Begun))
	require.True(t, isThere(third.Begun))
	_, err := store.Polls().Chunk(t.Context(), first, 0)
	require.ErrorIs(t, err, polls.ErrGone)
}

func TestForgettingAQueryRemovesItsListing(t *testing.T) {
	store := openStore(t, t.TempDir())
	made := lists(t, store, "a", 0, "rows")
	later := claimAt("a", 25*time.Hour)
	require.True(t, claim(t, store, later))
	finish(t, store, later, polls.Poll{Begun: later.Now})
	read, err := store.Polls().Listing(t.Context(), nodes)
	require.NoError(t, err)
	require.Zero(t, read.Begun)
	_, err = store.Polls().Chunk(t.Context(), made, 0)
	require.ErrorIs(t, err, polls.ErrGone)
}

func TestTheRequestForAListingIsKeptAfterTheListing(t *testing.T) {
	store := openStore(t, t.TempDir())
	for i := range 2 {
		require.NoError(t, store.Polls().Want(t.Context(), nodes, noon.Add(time.Duration(i)*time.Minute)))
	}
	lists(t, store, "a", time.Hour, "rows")
	read, err := store.Polls().Listing(t.Context(), nodes)
	require.NoError(t, err)
	require.Equal(t, noon.Add(time.Minute), read.Wanted)
}

// A listing of 100,000 jobs takes about 16 MB, in chunks as the poller makes them.
//
//	go test ./internal/polls -run '^$' -bench Chunks
func BenchmarkChunks(b *testing.B) {
	store := openStore(b, b.TempDir())
	const chunks = 64
	rows := make([]byte, 256<<10)
	b.SetBytes(chunks * int64(len(rows)))
	count := 0
	for b.Loop() {
		count++
		begun := noon.Add(time.Duration(count) * time.Minute)
		turn := polls.Claim{PollKey: nodes.PollKey, Target: "slurm", Holder: "a", Lease: lease, Now: begun, Due: func(polls.Poll) bool { return true }}
		_, granted, err := store.Polls().Claim(b.Context(), turn)
		require.NoError(b, err)
		require.True(b, granted)
		for place := range chunks {
			copy(rows, fmt.Sprint(place))
			require.NoError(b, store.Polls().AddChunk(b.Context(), nodes, begun, place, rows))
		}
		listing := polls.Listing{ListingKey: nodes, Begun: begun, Chunks: chunks}
		require.NoError(b, store.Polls().Finish(b.Context(), turn, polls.Poll{Begun: begun}, &listing))
	}
}
