package rendezvous_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// A door is where connections of one target wait.
type door chan net.Conn

func (d door) accept(ctx context.Context) (net.Conn, error) {
	select {
	case conn := <-d:
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// crowded calls test within a bubble with a server that has two doors, and returns when all is over.
func crowded(t *testing.T, count int, test func(ctx context.Context, p *place, doors [2]door)) {
	t.Helper()
	key, err := rendezvous.NewKey()
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := &place{t: t, key: key, ctx: ctx, changed: make(chan struct{})}
		p.server = rendezvous.NewServer(key, "e", p.observe)
		p.server.Admit(part(1, count))
		doors := [2]door{make(door), make(door)}
		for _, each := range doors {
			go func() { _ = p.server.Serve(ctx, each.accept, func(error) {}) }()
		}
		defer func() {
			cancel()
			p.server.Close()
			synctest.Wait()
		}()
		test(ctx, p, doors)
	})
}

// enters checks in by a door.
func (p *place) enters(ctx context.Context, d door, rank, count int) {
	dial := func(ctx context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case d <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	session, err := rendezvous.CheckIn(ctx, dial, p.pass(1, count), process(rank), rendezvous.Vote{})
	if err == nil {
		_ = session.Close() // nothing more is to come
	}
}

// occupies sends connections that say nothing through a door, as soon as it takes them.
func occupies(ctx context.Context, d door) {
	for {
		_, far := net.Pipe()
		select {
		case d <- far:
		case <-ctx.Done():
			return
		}
	}
}

func TestNoMoreThan64ConnectionsProveThemselvesAtATime(t *testing.T) {
	crowded(t, 1, func(_ context.Context, _ *place, doors [2]door) {
		accepted, wanted := 0, 193 // three turns, and one more
		began := time.Now()
		for range wanted {
			_, far := net.Pipe()
			doors[0] <- far
			if accepted++; time.Since(began) < 5*time.Second {
				require.LessOrEqual(t, accepted, 65, "one waits for its turn")
			}
		}
		require.Equal(t, 10*time.Second, time.Since(began), "each turn takes five seconds")
	})
}

func TestSilentConnectionsOfOneTargetDoNotLockOutAnother(t *testing.T) {
	const count = 100
	crowded(t, count, func(ctx context.Context, p *place, doors [2]door) {
		go occupies(ctx, doors[0])
		synctest.Wait() // all 64 are taken
		began := time.Now()
		for rank := range count {
			go p.enters(ctx, doors[1], rank, count)
		}
		p.awaitsComplete(1)
		require.Less(t, time.Since(began), 20*time.Second)
	})
}

func TestSixtyFourSilentConnectionsDelayOthersByTheirTime(t *testing.T) {
	const count = 100
	crowded(t, count, func(ctx context.Context, p *place, doors [2]door) {
		for range 64 { // each comes again when it is closed
			go func() {
				for {
					near, far := net.Pipe()
					select {
					case doors[0] <- far:
						_, _ = near.Read(make([]byte, 1)) // until it is closed
					case <-ctx.Done():
						return
					}
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		for rank := range count {
			go p.enters(ctx, doors[0], rank, count)
		}
		p.awaitsComplete(1)
		require.Less(t, time.Since(began), 10*time.Second)
	})
}
