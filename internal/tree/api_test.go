package tree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/tree"
)

func TestTextOfOutsideIsOnePrintableLine(t *testing.T) {
	require.Equal(t, "a b [31mc\ufffd", tree.OneLine(" a\nb\t\x1b[31mc\xff\u202e"))
}

// uses are the guarantees that other packages rely on.
var _ = []any{tree.NewRelay, tree.ReadSecret, tree.Connect, tree.Join, tree.PrivateDirectory, tree.LockSession, tree.DialStream}
