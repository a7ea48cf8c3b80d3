package launch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"

	"github.com/rmctl/rmctl/debug"
)

// mostUnsent bounds the bytes that wait for a rank that does not read.
const mostUnsent = 4 << 20

// firstBuffer is the initial size of a rank's buffer. Most lines are short, and there may be thousands of ranks.
const firstBuffer = 2 << 10

// Gather joins the streams of ranks to a session, until accept returns an error or the context ends. It closes each
// stream, calls joined when a rank has joined, and returns when all streams have ended.
func Gather(ctx context.Context, session *debug.Session, accept func(context.Context) (net.Conn, error), joined func()) error {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel()
	for {
		conn, err := accept(ctx)
		if err != nil {
			return err
		}
		tasks.Go(func() { serve(ctx, session, conn, joined) })
	}
}

// serve passes the lines of a rank on.
func serve(ctx context.Context, session *debug.Session, conn net.Conn, joined func()) {
	out := &outbox{conn: conn}
	defer out.writers.Wait()
	defer conn.Close() // what was not sent is of no use
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	member := session.Join(out.send)
	scanner := bufio.NewScanner(conn)
	scanner.Buffer(make([]byte, firstBuffer), debug.MostLine)
	for isFirst := true; scanner.Scan(); isFirst = false {
		if member.Receive(scanner.Bytes()) != nil {
			return
		}
		if isFirst {
			joined()
		}
	}
	switch err := scanner.Err(); {
	case ctx.Err() != nil:
		member.Leave("the session has ended")
	case err != nil:
		member.Leave(err.Error())
	default:
		member.Leave("its debugger ended the connection")
	}
}

// An outbox holds the lines for a rank until they are written. Only then it has a goroutine.
type outbox struct {
	conn    net.Conn
	writers sync.WaitGroup

	mutex     sync.Mutex
	unsent    []byte
	isWriting bool
	err       error
}

// send never waits.
func (o *outbox) send(line []byte) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.err != nil {
		return o.err
	}
	if len(o.unsent)+len(line) > mostUnsent {
		o.err = errors.New("it does not read its requests")
		_ = o.conn.Close()
		return o.err
	}
	o.unsent = append(o.unsent, line...)
	if !o.isWriting {
		o.isWriting = true
		o.writers.Go(o.write)
	}
	return nil
}

// write writes waiting lines until none is left.
func (o *outbox) write() {
	for {
		o.mutex.Lock()
		lines := o.unsent
		o.unsent = nil
		o.isWriting = len(lines) > 0
		o.mutex.Unlock()
		if len(lines) == 0 {
			return
		}
		if _, err := o.conn.Write(lines); err != nil {
			o.mutex.Lock()
			o.err = err
			o.mutex.Unlock()
			_ = o.conn.Close()
			return
		}
	}
}
