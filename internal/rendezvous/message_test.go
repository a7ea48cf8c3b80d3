package rendezvous_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// group starts and releases parts with some processes each, and returns their sessions by serial and rank.
func (p *place) group(counts ...int) [][]*rendezvous.Session {
	p.t.Helper()
	var serials []int
	ended := make([][]<-chan outcome, len(counts))
	for i, count := range counts {
		p.server.Admit(part(i+1, count))
		for rank := range count {
			ended[i] = append(ended[i], p.checksIn(p.pass(i+1, count), process(rank)))
		}
		p.awaitsComplete(i + 1)
		serials = append(serials, i+1)
	}
	p.releases(serials...)
	sessions := make([][]*rendezvous.Session, len(counts))
	for i := range ended {
		for _, each := range ended[i] {
			sessions[i] = append(sessions[i], p.session(each))
		}
	}
	return sessions
}

func (p *place) structure(s *rendezvous.Session) rendezvous.Structure {
	p.t.Helper()
	structure, err := s.Structure(p.ctx)
	require.NoError(p.t, err)
	return structure
}

func (p *place) receives(s *rendezvous.Session, filter rendezvous.Filter) rendezvous.Message {
	p.t.Helper()
	m, err := s.Receive(p.ctx, filter)
	require.NoError(p.t, err)
	return m
}

func TestTheStructureHasTheOtherParts(t *testing.T) {
	p := newPlace(t)
	alone := part(9, 1)
	alone.Joins = false
	p.server.Admit(alone)
	lone := p.checksIn(p.pass(9, 1), process(0))
	p.awaitsComplete(9)
	sessions := p.group(2, 1, 3)
	p.releases(9)
	structure := p.structure(sessions[1][0])
	require.True(t, structure.Joined)
	require.Equal(t, 6, structure.World)
	require.Equal(t, 2, structure.Own.FirstRank)
	require.Len(t, structure.Others, 2)
	require.Equal(t, []int{1, 3}, []int{structure.Others[0].Index, structure.Others[1].Index})
	require.Equal(t, 3, structure.Others[1].FirstRank)
	require.Equal(t, "node", structure.Others[0].Host)

	outside := p.session(lone)
	require.False(t, p.structure(outside).Joined)
	require.ErrorIs(t, outside.Send(p.ctx, structure.Own.Address, "t", nil), rendezvous.ErrNotJoined)
	_, err := outside.Exchange(p.ctx, "", []byte("x"))
	require.ErrorIs(t, err, rendezvous.ErrNotJoined)
}

func TestAProcessThatIsWritingLearnsWhyItIsEnded(t *testing.T) {
	const requesters = 4
	p := newPlace(t)
	for serial := 1; serial <= 100; serial++ {
		p.server.Admit(part(serial, 1))
		checked := p.checksIn(p.pass(serial, 1), process(0))
		p.awaitsComplete(serial)
		p.releases(serial)
		session := p.session(checked)
		reasons := make(chan error, requesters)
		for range requesters {
			go func() {
				var err error
				for err == nil {
					_, err = session.Structure(p.ctx)
				}
				reasons <- err
			}()
		}
		p.structure(session)
		p.server.Remove(serial, "canceled")
		for range requesters {
			requireAborted(t, <-reasons)
		}
		requireAborted(t, session.Err())
	}
}

func TestMessagesAreReceivedByTagInOrder(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(1, 1, 1)
	a, b, c := sessions[0][0], sessions[1][0], sessions[2][0]
	address := p.structure(a).Own.Address
	for i := range 10 {
		require.NoError(t, b.Send(p.ctx, address, "even", []byte{byte(i)}))
		require.NoError(t, b.Send(p.ctx, address, "odd", []byte{byte(i)}))
	}
	require.NoError(t, c.Send(p.ctx, address, "odd", []byte("of c")))
	third := p.structure(c).Own.Address
	require.Equal(t, rendezvous.Message{From: third, Inter: true, Data: []byte("of c")}, p.receives(a, rendezvous.Filter{Tag: "odd", From: &third}))
	for _, tag := range []string{"odd", "even"} {
		for i := range 10 {
			require.Equal(t, []byte{byte(i)}, p.receives(a, rendezvous.Filter{Tag: tag}).Data)
		}
	}
}

func TestProcessesOfAPartSendByRank(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(3, 1)
	require.NoError(t, sessions[0][2].SendToRank(p.ctx, 1, "t", []byte("x")))
	require.Equal(t, rendezvous.Message{From: 2, Data: []byte("x")}, p.receives(sessions[0][1], rendezvous.Filter{Tag: "t", Scope: "intra"}))
	require.Error(t, sessions[0][2].SendToRank(p.ctx, 2, "t", nil), "to itself")
	require.Error(t, sessions[0][2].SendToRank(p.ctx, 3, "t", nil), "there is no such rank")
	other := p.structure(sessions[1][0]).Own.Address
	require.ErrorContains(t, sessions[0][2].Send(p.ctx, other, "t", nil), "only rank 0")
	require.Error(t, sessions[0][0].Send(p.ctx, other+1, "t", nil), "there is no such part")
}

func TestAMessageMayComeAfterItsReceiver(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(2)
	received := make(chan rendezvous.Message, 1)
	go func() {
		m, _ := sessions[0][0].Receive(p.ctx, rendezvous.Filter{Tag: "t"}) // an error leaves the message empty
		received <- m
	}()
	require.NoError(t, sessions[0][1].SendToRank(p.ctx, 0, "other", []byte("no")))
	require.NoError(t, sessions[0][1].SendToRank(p.ctx, 0, "t", []byte("yes")))
	require.Equal(t, []byte("yes"), (<-received).Data)
}

func TestARequestThatWasGivenUpTakesNoMessage(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(2)
	for i := range 50 {
		ctx, cancel := context.WithTimeout(p.ctx, time.Duration(i)*20*time.Microsecond)
		sent := make(chan error, 1)
		go func() { sent <- sessions[0][1].SendToRank(p.ctx, 0, "t", []byte{byte(i)}) }()
		m, err := sessions[0][0].Receive(ctx, rendezvous.Filter{Tag: "t"})
		cancel()
		require.NoError(t, <-sent)
		if err != nil {
			m = p.receives(sessions[0][0], rendezvous.Filter{Tag: "t"})
		}
		require.Equal(t, []byte{byte(i)}, m.Data)
	}
}

func TestAFullQueueRefusesMessagesAndLosesNone(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(2)
	data, kept := bytes.Repeat([]byte("x"), 1<<20), 0
	for {
		err := sessions[0][1].SendToRank(p.ctx, 0, "t", data)
		if err != nil {
			require.ErrorIs(t, err, rendezvous.ErrFull)
			break
		}
		kept++
	}
	require.Equal(t, 16, kept)
	for range kept {
		require.Len(t, p.receives(sessions[0][0], rendezvous.Filter{Tag: "t"}).Data, 1<<20)
	}
	require.NoError(t, sessions[0][1].SendToRank(p.ctx, 0, "t", data))
}

func TestTooLongTagsAndMessagesAreRefused(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(2)
	long := string(bytes.Repeat([]byte("t"), 257))
	require.ErrorContains(t, sessions[0][1].SendToRank(p.ctx, 0, long, nil), "tag")
	_, err := sessions[0][0].Receive(p.ctx, rendezvous.Filter{Tag: long})
	require.ErrorContains(t, err, "tag")
	require.Error(t, sessions[0][1].SendToRank(p.ctx, 0, "t", make([]byte, 1<<20+1)))
}

func TestMessagesToAPartThatEndedAreErrors(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(1, 1)
	address := p.structure(sessions[1][0]).Own.Address
	require.NoError(t, sessions[0][0].Send(p.ctx, address, "t", nil))
	require.Equal(t, 1, p.server.End(2))
	require.ErrorIs(t, sessions[0][0].Send(p.ctx, address, "t", nil), rendezvous.ErrEnded)
}

func TestAnExchangeGivesAllPartsAllData(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(2, 1, 1)
	for round := range 3 {
		results := make(chan []rendezvous.Information, 4)
		for i, part := range sessions {
			for rank, each := range part {
				var data []byte
				if rank == 0 {
					data = fmt.Appendf(nil, "%d of %d", round, i+1)
				}
				go func() {
					all, _ := each.Exchange(p.ctx, "", data) // an error leaves the result empty
					results <- all
				}()
			}
		}
		for range 4 {
			var given []string
			for _, each := range <-results {
				given = append(given, fmt.Sprintf("%d: %s", each.Index, each.Data))
			}
			require.Equal(t, []string{fmt.Sprintf("1: %d of 1", round), fmt.Sprintf("2: %d of 2", round), fmt.Sprintf("3: %d of 3", round)}, given)
		}
	}
}

func TestAnExchangeDoesNotWaitForAPartThatEnded(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(1, 1)
	results := make(chan []rendezvous.Information, 1)
	go func() {
		all, _ := sessions[0][0].Exchange(p.ctx, "", []byte("x")) // an error leaves the result empty
		results <- all
	}()
	p.server.End(2)
	all := <-results
	require.Len(t, all, 2)
	require.True(t, all[1].Ended)
}

func TestAnotherSessionNeedsAnInstanceThatWasReleased(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	me := process(0)
	ended := p.checksIn(p.pass(1, 1), me)
	p.awaitsComplete(1)
	_, err := rendezvous.OpenSession(p.ctx, p.dial, p.pass(1, 1), me)
	requireRefused(t, err)
	p.releases(1)
	p.session(ended)
	again, err := rendezvous.OpenSession(p.ctx, p.dial, p.pass(1, 1), me)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	_, err = rendezvous.OpenSession(p.ctx, p.dial, p.pass(1, 1), process(0))
	requireRefused(t, err)
}

func TestAnExchangeWithANameMayBeRepeated(t *testing.T) {
	p := newPlace(t)
	sessions := p.group(1, 1)
	first, second := sessions[0][0], sessions[1][0]
	given := func(s *rendezvous.Session, name, data string) string {
		all, err := s.Exchange(p.ctx, name, []byte(data))
		require.NoError(t, err)
		return fmt.Sprintf("%s %s", all[0].Data, all[1].Data)
	}
	limited, cancel := context.WithCancel(p.ctx)
	cancel()
	_, err := first.Exchange(limited, "port", []byte("a")) // given up, as if the connection were lost
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "a b", given(second, "port", "b"))
	require.Equal(t, "a b", given(first, "port", "a"))
	require.Equal(t, "a b", given(second, "port", "b"))

	var refused *rendezvous.RequestError
	_, err = first.Exchange(p.ctx, "port", []byte("other"))
	require.ErrorAs(t, err, &refused)
	_, err = first.Exchange(p.ctx, strings.Repeat("n", 257), nil)
	require.ErrorAs(t, err, &refused)
}

func TestAnExchangeWithANameHasItsResultAfterARestart(t *testing.T) {
	p := newPlace(t)
	kept := map[string][]byte{}
	p.server.KeepExchanges(map[string][]byte{}, func(name string, result []byte) bool {
		kept[name] = result
		return true
	})
	identities := []rendezvous.Identity{process(0), process(0)}
	var sessions []*rendezvous.Session
	var ended []<-chan outcome
	for i, identity := range identities {
		p.server.Admit(part(i+1, 1))
		ended = append(ended, p.checksIn(p.pass(i+1, 1), identity))
		p.awaitsComplete(i + 1)
	}
	p.releases(1, 2)
	for _, each := range ended {
		sessions = append(sessions, p.session(each))
	}
	both := make(chan []rendezvous.Information, 1)
	go func() {
		all, _ := sessions[0].Exchange(p.ctx, "port", []byte("a")) // an error leaves the result empty
		both <- all
	}()
	given, err := sessions[1].Exchange(p.ctx, "port", []byte("b"))
	require.NoError(t, err)
	require.Equal(t, given, <-both)
	require.Len(t, kept, 1)

	p.restarts()
	p.server.KeepExchanges(kept, func(string, []byte) bool { return false })
	for i, identity := range identities {
		again := part(i+1, 1)
		again.Released, again.Incarnation, again.Instances = true, 1, []string{identity.Instance}
		p.server.Admit(again)
	}
	again, err := rendezvous.OpenSession(p.ctx, p.dial, p.pass(1, 1), identities[0])
	require.NoError(t, err)
	all, err := again.Exchange(p.ctx, "port", []byte("a"))
	require.NoError(t, err)
	require.Equal(t, given, all)

	limited, cancel := context.WithTimeout(p.ctx, 100*time.Millisecond)
	defer cancel()
	_, err = again.Exchange(limited, "other", []byte("a"))
	require.ErrorIs(t, err, context.DeadlineExceeded, "the other part did not take part")
	require.NoError(t, again.Close())
}
