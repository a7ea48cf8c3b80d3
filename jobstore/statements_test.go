package jobstore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStatementThatIsKeptCanBeRunWhileItsRowsAreBeingRead(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	one, err := store.database.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, one.Close()) }()
	const count = "SELECT value FROM (SELECT 1 AS value UNION ALL SELECT 2 UNION ALL SELECT 3) WHERE value <= ?"
	var inner int
	for range 2 { // the second time it is kept
		rows, err := one.QueryContext(t.Context(), count, 3)
		require.NoError(t, err)
		var outer []int
		for rows.Next() {
			var value int
			require.NoError(t, rows.Scan(&value))
			outer = append(outer, value)
			require.NoError(t, one.QueryRowContext(t.Context(), count, 1).Scan(&inner))
			require.Equal(t, 1, inner)
		}
		require.NoError(t, rows.Err())
		require.Equal(t, []int{1, 2, 3}, outer)
	}
}

// SQLite does what a PRAGMA says when it prepares it.
func TestSettingsOfAConnectionAreMadeEachTime(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	one, err := store.database.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, one.Close()) }()
	for _, level := range []int{2, 1, 2, 1} {
		_, err := one.ExecContext(t.Context(), fmt.Sprintf("PRAGMA synchronous = %d", level))
		require.NoError(t, err)
		var now int
		require.NoError(t, one.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&now))
		require.Equal(t, level, now)
	}
}

func TestAConnectionKeepsSoManyStatementsOnly(t *testing.T) {
	t.Parallel()
	store, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	one, err := store.database.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, one.Close()) }()
	for number := range mostStatements + 10 {
		var value int
		require.NoError(t, one.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %d", number)).Scan(&value))
		require.Equal(t, number, value)
	}
	require.NoError(t, one.Raw(func(driver any) error {
		require.Len(t, driver.(*connection).kept, mostStatements)
		return nil
	}))
}
