package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Times of a relay that waits for another one of the same directory to end.
const (
	shortestTakeover = 50 * time.Millisecond
	longestTakeover  = 500 * time.Millisecond
)

// strangerLimit is how long a connection may take to prove the secret.
const strangerLimit = 5 * time.Second

// serveStreams takes the streams of processes on this host, while no other relay of the same
// directory does.
func (r *Relay) serveStreams() {
	socket, lock := streamFiles(r.options.Streams, r.options.Job)
	wait := shortestTakeover
	for r.ctx.Err() == nil {
		if file, err := tryLock(lock); err == nil && file != nil {
			wait = shortestTakeover
			r.acceptStreams(socket)
			unlock(file)
		}
		pause(r.ctx, wait)
		wait = min(wait*2, longestTakeover)
	}
}

// acceptStreams serves a socket until the relay is closed.
func (r *Relay) acceptStreams(socket string) {
	_ = os.Remove(socket) // of a relay that was killed: the lock is ours
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return // another attempt follows
	}
	if os.Chmod(socket, 0o600) != nil {
		_ = listener.Close()
		return
	}
	r.acceptAs(true, listener, func(conn net.Conn, known func()) {
		if checkUser(conn) != nil {
			_ = conn.Close() // the other end may not learn why
			known()
			return
		}
		r.greetAs(conn, known, roleStream)
	})
}

// streamFiles returns the socket and the lock for the streams of a directory.
func streamFiles(private, job string) (socket, lock string) {
	base := private + "/streams-" + hashName(job)
	return base + ".sock", base + ".lock"
}

// passStream connects a process that has proved the secret to rmctl. It does not wait for the end.
func (r *Relay) passStream(l *link) {
	conn, isConn := l.stream.(net.Conn)
	source, isSource := l.stream.(syscall.Conn)
	if !isConn || !isSource {
		l.end(errNoStreams)
		return
	}
	p := &pump{conn: conn}
	s, err := r.carrier.open(p.changed)
	answer := message{Kind: kindOpened}
	if err != nil {
		answer = message{Kind: kindRefused, Problem: err.Error()}
	}
	if failed := l.writeNow(answer); failed != nil || err != nil {
		if s != nil {
			s.reset(errProcess)
		}
		l.end(errEnded)
		return
	}
	buffered, _ := l.reader.Peek(l.reader.Buffered()) // never fails
	first := bytes.Clone(buffered)
	r.tasks.Go(func() { // with a small stack, unlike that of the handshake
		defer context.AfterFunc(r.ctx, p.stop)()
		p.run(s, source, first)
	})
}

var errProcess = errors.New("the process has gone")

// A pump carries bytes between a connection of a process and its stream. Idle, it holds no buffers.
type pump struct {
	conn   net.Conn
	active sync.WaitGroup

	mutex    sync.Mutex
	stream   *stream
	draining bool
	again    bool // something arrived while it was draining
	stopping bool // the relay ends
	finished bool
}

// run carries until both directions have ended.
func (p *pump) run(s *stream, source syscall.Conn, first []byte) {
	p.mutex.Lock()
	p.stream = s
	p.mutex.Unlock()
	p.changed(false) // what arrived before
	_, err := s.Write(first)
	if err == nil {
		err = p.read(s, source)
	}
	if errors.Is(err, io.EOF) {
		_ = s.CloseWrite() // it may be closed
		s.awaitOver()
	}
	p.mutex.Lock()
	p.finished = true
	p.mutex.Unlock()
	p.active.Wait()
	s.reset(errProcess) // unless it has ended
	_ = p.conn.Close()  // it may be closed
}

// stop closes the connection, after what is being written.
func (p *pump) stop() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.stopping = true
	if p.draining {
		_ = p.conn.SetWriteDeadline(time.Now().Add(flushLimit)) // only a closed connection has none
	} else {
		_ = p.conn.Close() // it may be closed
	}
}

// buffers are those of reads and writes that have something to carry.
var buffers = sync.Pool{New: func() any { return new([mostFrameBytes]byte) }}

// read carries from the connection to the stream.
func (p *pump) read(s *stream, source syscall.Conn) error {
	raw, err := source.SyscallConn()
	for err == nil {
		var n int
		var buffer *[mostFrameBytes]byte
		var failed error
		err = raw.Read(func(descriptor uintptr) bool {
			buffer = buffers.Get().(*[mostFrameBytes]byte)
			for {
				n, failed = syscall.Read(int(descriptor), buffer[:])
				if failed != syscall.EINTR {
					break
				}
			}
			if failed == syscall.EAGAIN {
				buffers.Put(buffer)
				buffer = nil
				return false
			}
			return true
		})
		switch {
		case err != nil:
		case failed != nil:
			err = failed
		case n == 0:
			err = io.EOF
		default:
			_, err = s.Write(buffer[:n])
		}
		if buffer != nil {
			buffers.Put(buffer)
		}
	}
	return err
}

// changed writes to the connection what has arrived. It does not wait.
func (p *pump) changed(failed bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if failed {
		_ = p.conn.SetWriteDeadline(time.Now().Add(flushLimit)) // only a closed connection has none
	}
	switch {
	case p.stream == nil || p.finished: // run comes to it
	case p.draining:
		p.again = true
	default:
		p.draining = true
		p.active.Go(p.drain)
	}
}

// drain carries from the stream to the connection, until there is nothing more.
func (p *pump) drain() {
	for {
		data, ended, over := p.stream.takeArrived()
		if len(data) > 0 {
			if _, err := p.conn.Write(data); err != nil {
				p.stream.reset(errProcess)
				_ = p.conn.Close() // the error above says more
				return
			}
			p.stream.written(len(data))
			continue
		}
		if p.isDrained(ended, over) {
			return
		}
	}
}

// isDrained passes the end of the stream on, and reports whether there is nothing more to write.
func (p *pump) isDrained(ended, over bool) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	conn, canHalf := p.conn.(interface{ CloseWrite() error })
	switch {
	case over || p.stopping:
		_ = p.conn.Close() // it may be closed
	case ended && canHalf:
		_ = conn.CloseWrite() // it may be closed
	}
	p.draining, p.again = p.again, false
	return !p.draining
}
