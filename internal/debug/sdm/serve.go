package sdm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rmctl/rmctl/debug"
)

const (
	// joinLimit bounds how long the master tries to reach the servers. Their launcher may start them late.
	joinLimit = 10 * time.Minute
	// mostDials bounds the servers that the master connects to at a time.
	mostDials = 64
	// mostUnsent bounds the requests that wait for a server which does not read, in bytes.
	mostUnsent = 8 << 20
)

// RunMaster connects the servers and the client, and serves the client until it ends the session or is gone, which is an error.
func RunMaster(ctx context.Context, o *Options) error {
	if len(o.Hosts) > 0 {
		if err := writeRoutes(o.Routes, o.Hosts); err != nil {
			return err
		}
	}
	if o.Collects {
		if err := collectRoutes(ctx, o.Routes); err != nil {
			return err
		}
	}
	routes, err := awaitRoutes(ctx, o.Routes, isAny)
	if err != nil {
		return err
	}
	secret, err := shareSecret(o.Routes)
	if err != nil {
		return err
	}
	defer os.Remove(o.Routes + secretSuffix)
	conn, err := connectController(ctx, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	session := &debug.Session{}
	joined := joinServers(ctx, session, routes, secret)
	defer joined.wait()
	defer cancel()
	return newMaster(session, newController(conn), len(routes), joined.all).run(ctx)
}

// servers are the connections to the servers.
type servers struct {
	all   chan struct{} // closed once each has said who it is, or could not be reached
	tasks sync.WaitGroup
}

func (s *servers) wait() { s.tasks.Wait() }

// joinServers connects a session to servers, until the context ends.
func joinServers(ctx context.Context, session *debug.Session, routes []route, secret []byte) *servers {
	s := &servers{all: make(chan struct{})}
	var joining sync.WaitGroup
	turns := make(chan struct{}, mostDials)
	for rank, at := range routes {
		joining.Add(1)
		s.tasks.Go(func() {
			joined := sync.OnceFunc(joining.Done)
			defer joined()
			conn, err := dialInTurn(ctx, turns, at, rank, secret)
			if err != nil {
				fmt.Fprintln(os.Stderr, "rmctl-node:", err)
				return
			}
			converse(ctx, session, conn, joined)
		})
	}
	s.tasks.Go(func() {
		joining.Wait()
		close(s.all)
	})
	return s
}

// dialInTurn connects to a server, as one of few at a time.
func dialInTurn(ctx context.Context, turns chan struct{}, at route, rank int, secret []byte) (net.Conn, error) {
	turns <- struct{}{}
	defer func() { <-turns }()
	limited, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	return dialServer(limited, at, rank, secret)
}

// converse passes lines between a session and a server until the connection ends. It calls joined after the first line.
func converse(ctx context.Context, session *debug.Session, conn net.Conn, joined func()) {
	out := &outbox{conn: conn, filled: make(chan struct{}, 1)}
	member := session.Join(out.send)
	ctx, cancel := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() { out.write(ctx) })
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // the reason is in the context
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 0, 4<<10), debug.MostLine+1)
	err := errors.New("its server has closed the connection")
	for lines.Scan() {
		if received := member.Receive(bytes.Clone(lines.Bytes())); received != nil {
			err = received
			break
		}
		joined()
	}
	if lines.Err() != nil {
		err = lines.Err()
	}
	member.Leave(err.Error())
	cancel()
	stop()
	_ = conn.Close() // the error says more
	writing.Wait()
}

// An outbox holds lines for a server.
type outbox struct {
	conn   net.Conn
	filled chan struct{}

	mutex  sync.Mutex
	unsent []byte
}

// send queues a line, as [debug.Session.Join] requires.
func (o *outbox) send(line []byte) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.unsent)+len(line) > mostUnsent {
		return errors.New("its server does not read")
	}
	o.unsent = append(o.unsent, line...)
	select {
	case o.filled <- struct{}{}:
	default: // the writer is about to look
	}
	return nil
}

func (o *outbox) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.filled:
		}
		o.mutex.Lock()
		lines := o.unsent
		o.unsent = nil
		o.mutex.Unlock()
		if _, err := o.conn.Write(lines); err != nil {
			_ = o.conn.Close() // the reader reports it
			return
		}
	}
}

// AwaitMaster waits for the master, and returns the connection to it and the number of ranks. What passes then are the lines
// of package debug. Host is the name of this host for others.
func AwaitMaster(ctx context.Context, o *Options, host string) (conn io.ReadWriteCloser, size int, err error) {
	isCurrent := isAny
	if o.Collects {
		at := route{host, randomPort()}
		if err := announce(o.Routes, o.Rank, max(o.Size, 1), at); err != nil {
			return nil, 0, fmt.Errorf("writing the address of this server: %w", err)
		}
		isCurrent = func(routes []route) bool { return o.Rank < len(routes) && routes[o.Rank] == at }
	}
	routes, err := awaitRoutes(ctx, o.Routes, isCurrent)
	if err != nil {
		return nil, 0, err
	}
	if o.Rank >= len(routes) {
		return nil, 0, fmt.Errorf("%s has addresses of %d servers, but this process has rank %d", o.Routes, len(routes), o.Rank)
	}
	secret, err := shareSecret(o.Routes)
	if err != nil {
		return nil, 0, err
	}
	listener, err := listenForMaster(ctx, routes[o.Rank])
	if err != nil {
		return nil, 0, err
	}
	defer listener.Close()
	limited, cancel := context.WithTimeout(ctx, routesTries*time.Second)
	defer cancel()
	conn, err = acceptMaster(limited, listener, o.Rank, secret)
	return conn, len(routes), err
}
