package rendezvous

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Seats are consistent with a scan of all members.
func TestSeatsKnowTheirMembersAfterAnyChange(t *testing.T) {
	t.Parallel()
	const count = 6
	random := rand.New(rand.NewPCG(1, 2))
	s := newSeats()
	for range 20_000 {
		rank := random.IntN(count)
		switch each := s.members[rank]; random.IntN(4) {
		case 0:
			s.add(rank, strconv.Itoa(rank)+"-"+strconv.Itoa(random.IntN(3)))
		case 1:
			s.remove(rank)
		case 2:
			if each != nil {
				s.connect(each, &link{})
			}
		case 3:
			if each != nil {
				s.connect(each, nil)
			}
		}
		requireSeats(t, &s, count)
	}
}

func requireSeats(t *testing.T, s *seats, count int) {
	t.Helper()
	connected, free, lost := 0, -1, -1
	for rank := count - 1; rank >= 0; rank-- {
		switch each := s.members[rank]; {
		case each == nil:
			free = rank
		case each.link == nil:
			lost = rank
		default:
			connected++
		}
		if each := s.members[rank]; each != nil {
			found, isKnown := s.rankOf(each.instance)
			require.True(t, isKnown)
			require.Equal(t, rank, found)
		}
	}
	require.Equal(t, connected, s.connected)
	require.Len(t, s.ranks, len(s.members))
	if free < 0 {
		free = lost
	}
	found, isFree := s.freeRank(count)
	require.Equal(t, free >= 0, isFree)
	if isFree {
		require.Equal(t, free, found)
	}
}
