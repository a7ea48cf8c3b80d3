package rendezvous_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// delayed is a connection that delays writes. The other end delays reads.
type delayed struct {
	net.Conn
	delay time.Duration
	queue chan late
	ended chan struct{}
	once  sync.Once
}

// late is bytes with the time at which they leave.
type late struct {
	data []byte
	at   time.Time
}

func delay(conn net.Conn, by time.Duration) net.Conn {
	d := &delayed{Conn: conn, delay: by, queue: make(chan late, 1024), ended: make(chan struct{})}
	go func() {
		for {
			select {
			case next := <-d.queue:
				time.Sleep(time.Until(next.at))
				_, _ = conn.Write(next.data) // the reader notices what is missing
			case <-d.ended:
				return
			}
		}
	}()
	return d
}

// Write implements [net.Conn].
func (d *delayed) Write(data []byte) (int, error) {
	select {
	case d.queue <- late{append([]byte(nil), data...), time.Now().Add(d.delay)}:
		return len(data), nil
	case <-d.ended:
		return 0, net.ErrClosed
	}
}

// Close implements [net.Conn].
func (d *delayed) Close() error {
	d.once.Do(func() { close(d.ended) })
	return d.Conn.Close()
}

// measured returns a place for a benchmark with a part whose processes were released.
func measured(b *testing.B, count int) (*place, []*rendezvous.Session) {
	b.Helper()
	p := newPlace(b)
	return p, p.group(count)[0]
}

// BenchmarkMessage measures messages of 1 KiB from one process to another: alone, and many at a time.
func BenchmarkMessage(b *testing.B) {
	data := make([]byte, 1024)
	b.Run("one", func(b *testing.B) {
		p, sessions := measured(b, 2)
		for b.Loop() {
			require.NoError(b, sessions[0].SendToRank(p.ctx, 1, "t", data))
			p.receives(sessions[1], rendezvous.Filter{Tag: "t"})
		}
	})
	b.Run("many", func(b *testing.B) {
		p, sessions := measured(b, 2)
		b.SetParallelism(16)
		b.RunParallel(func(running *testing.PB) {
			for running.Next() {
				require.NoError(b, sessions[0].SendToRank(p.ctx, 1, "t", data))
				p.receives(sessions[1], rendezvous.Filter{Tag: "t"})
			}
		})
	})
}

// BenchmarkDistantMessage measures messages of 1 KiB between processes that are ten milliseconds from their
// co-allocator, without the time on the network.
func BenchmarkDistantMessage(b *testing.B) {
	const way = 10 * time.Millisecond
	data := make([]byte, 1024)
	p := newPlace(b)
	p.delay = way
	sessions := p.group(2)[0]
	received := make(chan time.Time)
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	go func() {
		for {
			if _, err := sessions[1].Receive(ctx, rendezvous.Filter{Tag: "t"}); err != nil {
				close(received)
				return
			}
			received <- time.Now()
		}
	}()
	var one, both []time.Duration
	for b.Loop() {
		time.Sleep(3 * way) // until the request of the receiver is there
		began := time.Now()
		require.NoError(b, sessions[0].SendToRank(p.ctx, 1, "t", data))
		both = append(both, time.Since(began)-2*way)
		one = append(one, (<-received).Sub(began)-2*way)
	}
	b.ReportMetric(median(one), "median-ms-beyond/received")
	b.ReportMetric(median(both), "median-ms-beyond/confirmed")
}

// median returns the median in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
