package channel

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endedChannel is one whose command has ended, and printed nothing.
type endedChannel struct{ Channel }

func (endedChannel) Stdout() io.Reader { return strings.NewReader("") }
func (endedChannel) Stderr() io.Reader { return strings.NewReader("") }

func TestAShellThatHasEndedIsKnownToHaveWhenItsCommandIs(t *testing.T) {
	t.Parallel()
	p := newPool(nil, Settings{})
	for range 2000 {
		s := newSession(p, endedChannel{})
		<-s.setTask(testMarker, nil, nil, false, 2).ended
		require.False(t, s.alive(), "it would be given the next command")
	}
	<-p.crew.gone()
}
