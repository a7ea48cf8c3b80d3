package listing

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestALedgerKeepsWhatWasDrawnOfOneRevision(t *testing.T) {
	m := webtest.Demonstration(t, 10, 10, webtest.Noon)
	l, made := NewLedger(""), 0
	ask := func(s *model.Snapshot, key string) int {
		return Kept(l, s, key, func() int { made++; return made })
	}
	before := m.Snapshot()
	require.Equal(t, 1, ask(before, "a"))
	require.Equal(t, 1, ask(before, "a"))
	require.Equal(t, 2, ask(before, "b"))
	m.Update(func(u *model.Update) { u.Put(model.Row{Manager: "cluster", Kind: model.Queue, ID: "new"}) })
	require.Equal(t, 3, ask(m.Snapshot(), "a"), "another revision is another picture")
	require.Equal(t, 4, ask(before, "a"), "an old snapshot is drawn, and not kept")
	require.Equal(t, 3, ask(m.Snapshot(), "a"))
	for i := range 10 * mostEntries {
		ask(m.Snapshot(), fmt.Sprint(i))
	}
	require.LessOrEqual(t, len(l.entries), mostEntries)
}
