package polls_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/jobstore"
)

// noon is the time at which the tests' first query is made.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

func openStore(t testing.TB, directory string) *jobstore.Store {
	t.Helper()
	store, err := jobstore.Open(t.Context(), directory)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
