package rendezvous_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

func TestProcessesWaitUntilTheRelease(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 3))
	var ended []<-chan outcome
	for rank := range 3 {
		ended = append(ended, p.checksIn(p.pass(1, 3), process(rank)))
	}
	p.awaitsComplete(1)
	for _, each := range ended {
		require.Empty(t, each, "a process went on before the release")
	}
	rosters := p.releases(1)
	require.Len(t, rosters[0].Instances, 3)
	for rank, each := range ended {
		require.Equal(t, rank, p.session(each).Rank())
	}
	p.awaitsKind(rendezvous.ReleaseReceived)
}

func TestAMissingProcessHoldsTheRelease(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 2))
	p.checksIn(p.pass(1, 2), process(0))
	p.awaitsKind(rendezvous.CheckedIn)
	_, err := p.server.Freeze(p.ctx, []int{1})
	require.EqualError(t, err, "processes are missing: part part: 1 of 2")
}

func TestAWrongSecretIsDenied(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	wrong := p.pass(1, 1)
	wrong.Secret = p.key.PartSecret(2)
	foreign := p.pass(1, 1)
	foreign.Ensemble = "another"
	for _, pass := range []*rendezvous.Pass{wrong, foreign} {
		o := <-p.checksIn(pass, process(0))
		require.ErrorIs(t, o.err, rendezvous.ErrDenied)
	}
	require.Empty(t, p.events)
}

func TestAnotherCertificateIsNotTrusted(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	pass := p.pass(1, 1)
	other, err := rendezvous.NewKey()
	require.NoError(t, err)
	pass.Fingerprint = other.Fingerprint()
	ctx, cancel := context.WithTimeout(p.ctx, 500*time.Millisecond)
	defer cancel()
	o := <-p.votes(ctx, pass, process(0), rendezvous.Vote{})
	require.ErrorContains(t, o.err, "another certificate")
}

func TestALostProcessComesBackWithItsInstance(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	ended := p.checksIn(p.pass(1, 1), process(0))
	p.awaitsComplete(1)
	require.NoError(t, p.last.Close())
	p.awaitsKind(rendezvous.Lost)
	require.Eventually(t, func() bool { present, _ := p.server.Status(1); return present == 1 }, 20*time.Second, time.Millisecond)
	_, incarnation := p.server.Status(1)
	require.Equal(t, 1, incarnation)
	p.releases(1)
	p.session(ended)
}

func TestARequeuedPartIsANewIncarnation(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 2))
	ctx, cancel := context.WithCancel(p.ctx)
	p.votes(ctx, p.pass(1, 2), process(0), rendezvous.Vote{})
	p.votes(ctx, p.pass(1, 2), process(1), rendezvous.Vote{})
	p.awaitsComplete(1)
	cancel() // the node is gone
	require.Eventually(t, func() bool { present, _ := p.server.Status(1); return present == 0 }, 20*time.Second, time.Millisecond)
	first := p.checksIn(p.pass(1, 2), process(0))
	require.Equal(t, 2, p.awaitsKind(rendezvous.NewIncarnation).Incarnation)
	second := p.checksIn(p.pass(1, 2), process(1))
	p.awaits(func(e rendezvous.ProcessEvent) bool { return e.Complete && e.Incarnation == 2 })
	require.Equal(t, 2, p.releases(1)[0].Incarnation)
	p.session(first)
	p.session(second)
}

func TestARequeuedProcessDoesNotPassTheOldRelease(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	ended := p.checksIn(p.pass(1, 1), process(0))
	p.awaitsComplete(1)
	p.releases(1)
	p.session(ended)
	o := <-p.checksIn(p.pass(1, 1), process(0))
	requireRefused(t, o.err)
	p.awaitsKind(rendezvous.Refused)
}

func TestTheSecondProcessWithARankIsRefused(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 2))
	p.checksIn(p.pass(1, 2), process(0))
	p.awaitsKind(rendezvous.CheckedIn)
	o := <-p.checksIn(p.pass(1, 2), process(0))
	requireRefused(t, o.err)
	require.Contains(t, p.awaitsKind(rendezvous.Refused).Reason, "another process has rank 0")
	o = <-p.checksIn(p.pass(1, 2), process(2))
	requireRefused(t, o.err)
}

func TestTheReleaseIsKnownAfterARestart(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	me := process(0)
	ended := p.checksIn(p.pass(1, 1), me)
	p.awaitsComplete(1)
	roster := p.releases(1)[0]
	p.session(ended)
	p.restarts()
	restored := part(1, 1)
	restored.Released, restored.Incarnation, restored.Instances = true, roster.Incarnation, roster.Instances
	p.server.Admit(restored)
	p.session(p.checksIn(p.pass(1, 1), me))
	o := <-p.checksIn(p.pass(1, 1), process(0))
	requireRefused(t, o.err)
}

func TestAVoteAgainstTheStartIsObserved(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	o := <-p.votes(p.ctx, p.pass(1, 1), process(0), rendezvous.Vote{No: true, Reason: "no disk\nspace"})
	requireAborted(t, o.err)
	require.Equal(t, "no disk space", p.awaitsKind(rendezvous.VotedNo).Reason)
}

func TestProcessesOfARemovedPartAreAborted(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 2))
	waiting := p.checksIn(p.pass(1, 2), process(0))
	p.awaitsKind(rendezvous.CheckedIn)
	p.server.Remove(1, "deleted")
	o := <-waiting
	requireAborted(t, o.err)
	o = <-p.checksIn(p.pass(1, 2), process(1))
	requireAborted(t, o.err)
	p.awaitsKind(rendezvous.Late)
}

func TestProcessesWithoutRanksAreNumberedByArrival(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 2))
	first := p.checksIn(p.pass(1, 2), process(-1))
	p.awaitsKind(rendezvous.CheckedIn)
	second := p.checksIn(p.pass(1, 2), process(-1))
	p.awaitsComplete(1)
	o := <-p.checksIn(p.pass(1, 2), process(-1))
	require.Error(t, o.err)
	p.releases(1)
	require.Equal(t, 0, p.session(first).Rank())
	last := p.session(second)
	require.Equal(t, 1, last.Rank())
	require.True(t, last.IsArranged())
}

func TestAnOpenPartRunsAtOnce(t *testing.T) {
	p := newPlace(t)
	open := part(1, 1)
	open.Gate = rendezvous.GateOpen
	p.server.Admit(open)
	p.session(p.checksIn(p.pass(1, 1), process(0)))
}

func TestStrangersDoNotKeepConnections(t *testing.T) {
	p := newPlace(t)
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(p.ctx, p.server, far) }()
	go func() { _, _ = near.Write([]byte("GET / HTTP/1.0\r\n\r\n")) }()
	go func() { _, _ = near.Read(make([]byte, 100)) }()
	require.Error(t, <-served)
}

func TestAProcessWaitsForACoAllocatorThatDoesNotKnowItsPartYet(t *testing.T) {
	p := newPlace(t)
	ended := p.checksIn(p.pass(1, 1), process(0))
	require.Eventually(t, func() bool { return p.connections() > 1 }, 20*time.Second, time.Millisecond, "it did not try again")
	p.server.Admit(part(1, 1))
	p.awaitsComplete(1)
	p.releases(1)
	p.session(ended)
}

func TestAProcessThatWasNotReleasedCannotVote(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	ended := p.checksIn(p.pass(1, 1), process(0))
	p.awaitsComplete(1)
	p.releases(1)
	p.session(ended)
	o := <-p.votes(p.ctx, p.pass(1, 1), process(0), rendezvous.Vote{No: true, Reason: "no disk"})
	requireRefused(t, o.err)
	p.awaitsKind(rendezvous.Refused)
}

func TestAReleaseIsOnlyForItsRoster(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	ended := p.checksIn(p.pass(1, 1), process(0))
	p.awaitsComplete(1)
	other := process(0)
	p.server.Release([]rendezvous.Roster{{Serial: 1, Incarnation: 1, Instances: []string{other.Instance}}})
	requireRefused(t, (<-ended).err)
	p.session(p.checksIn(p.pass(1, 1), other))
}

func TestAServerSendsItsLastFramesBeforeItEnds(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 64))
	var ended []<-chan outcome
	for rank := range 64 {
		ended = append(ended, p.checksIn(p.pass(1, 64), process(rank)))
	}
	p.awaitsComplete(1)
	p.server.Remove(1, "canceled")
	p.server.Close()
	for _, each := range ended {
		requireAborted(t, (<-each).err)
	}
}

func TestAFrozenSetDoesNotChange(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	ctx, cancel := context.WithCancel(p.ctx)
	first := process(0)
	p.votes(ctx, p.pass(1, 1), first, rendezvous.Vote{})
	p.awaitsComplete(1)
	rosters, err := p.server.Freeze(p.ctx, []int{1})
	require.NoError(t, err)
	cancel()
	p.awaitsKind(rendezvous.Lost)
	second := p.checksIn(p.pass(1, 1), process(0))
	again := p.checksIn(p.pass(1, 1), first)
	require.Eventually(t, func() bool { return p.connections() >= 3 }, 20*time.Second, time.Millisecond)
	require.Never(t, func() bool { _, incarnation := p.server.Status(1); return incarnation != 1 }, 300*time.Millisecond, 5*time.Millisecond)
	p.server.Release(rosters)
	p.session(again)
	requireRefused(t, (<-second).err)
}

func TestAReleaseThatWasGivenUpLetsOthersIn(t *testing.T) {
	p := newPlace(t)
	p.server.Admit(part(1, 1))
	ctx, cancel := context.WithCancel(p.ctx)
	p.votes(ctx, p.pass(1, 1), process(0), rendezvous.Vote{})
	p.awaitsComplete(1)
	_, err := p.server.Freeze(p.ctx, []int{1})
	require.NoError(t, err)
	cancel()
	p.awaitsKind(rendezvous.Lost)
	ended := p.checksIn(p.pass(1, 1), process(0))
	p.server.Thaw()
	p.awaits(func(e rendezvous.ProcessEvent) bool { return e.Complete && e.Incarnation == 2 })
	require.Equal(t, 2, p.releases(1)[0].Incarnation)
	p.session(ended)
}
