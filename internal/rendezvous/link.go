package rendezvous

import (
	"context"
	"crypto/tls"
	"sync"
	"sync/atomic"
	"time"
)

// A link is the connection of a process.
type link struct {
	server *Server
	conn   *tls.Conn
	heard  atomic.Int64 // when the last frame came, in nanoseconds since 1970
	pinged time.Time    // of the server's mutex

	// Of the server's mutex, once the process is known.
	part     *part
	rank     int
	instance string
	host     string

	mutex     sync.Mutex
	queue     [][]byte
	unwritten int // bytes
	isWriting bool
	finishing bool // close once the queue is written
	isClosed  bool
	idle      chan struct{} // closed when nothing is written any more; nil if nobody waits
	ping      int64
	pongs     []pongWaiter
}

type pongWaiter struct {
	id       int64
	answered chan struct{}
}

func newLink(s *Server, conn *tls.Conn) *link {
	l := &link{server: s, conn: conn}
	l.hear()
	return l
}

func (l *link) hear() { l.heard.Store(time.Now().UnixNano()) }

func (l *link) lastHeard() time.Time { return time.Unix(0, l.heard.Load()) }

// enqueue sends bytes after those that were sent before. It does not wait.
func (l *link) enqueue(encoded []byte) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.isClosed || l.finishing {
		return
	}
	l.queue = append(l.queue, encoded)
	l.unwritten += len(encoded)
	if !l.isWriting {
		l.isWriting = true
		l.server.tasks.Go(l.write)
	}
}

// write writes the queue. A goroutine exists only as long as there is something to write:
// 10,000 processes wait for hours.
func (l *link) write() {
	for {
		l.mutex.Lock()
		if len(l.queue) == 0 || l.isClosed {
			l.queue, l.isWriting, l.unwritten = nil, false, 0
			if l.idle != nil {
				close(l.idle)
				l.idle = nil
			}
			isLast := l.finishing
			l.mutex.Unlock()
			if isLast {
				l.close()
			}
			return
		}
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.mutex.Unlock()
		_ = l.conn.SetWriteDeadline(time.Now().Add(writeTime)) // a connection without deadlines waits longer
		_, err := l.conn.Write(next)
		l.written(len(next))
		if err != nil {
			l.close()
		}
	}
}

func (l *link) written(count int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.unwritten = max(l.unwritten-count, 0)
}

// isBehind reports whether the process reads too slowly.
func (l *link) isBehind() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.unwritten > mostQueuedBytes
}

// throttle makes a process that does not read its answers wait with its requests.
func (l *link) throttle(ctx context.Context) {
	l.mutex.Lock()
	isFull := len(l.queue) > mostUnwritten
	l.mutex.Unlock()
	if isFull {
		l.flush(ctx)
	}
}

// finish closes the connection once everything is written.
func (l *link) finish() {
	l.mutex.Lock()
	l.finishing = true
	isIdle := !l.isWriting
	l.mutex.Unlock()
	if isIdle {
		l.close()
	}
}

// flush waits until everything is written.
func (l *link) flush(ctx context.Context) {
	l.mutex.Lock()
	if !l.isWriting {
		l.mutex.Unlock()
		return
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	idle := l.idle
	l.mutex.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// close ends the connection. The transport below is closed first: a process that does not read must not
// hold up a last message of TLS.
func (l *link) close() {
	l.mutex.Lock()
	wasClosed := l.isClosed
	l.isClosed = true
	l.mutex.Unlock()
	if !wasClosed {
		_ = l.conn.NetConn().Close()
	}
}

// expectPong returns the number of the next ping, and a channel that its answer closes.
func (l *link) expectPong() (int64, <-chan struct{}) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.ping++
	waiter := pongWaiter{l.ping, make(chan struct{})}
	if len(l.pongs) < 16 {
		l.pongs = append(l.pongs, waiter)
	}
	return l.ping, waiter.answered
}

// pong notes the answer to a ping, which answers earlier ones, too.
func (l *link) pong(id int64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var open []pongWaiter
	for _, waiter := range l.pongs {
		if waiter.id <= id {
			close(waiter.answered)
		} else {
			open = append(open, waiter)
		}
	}
	l.pongs = open
}
