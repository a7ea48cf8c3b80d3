package sdm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/proxy"
)

const (
	// mostQueued bounds the bytes that wait for a client that does not read.
	mostQueued = 64 << 20
	// fewQueued is how much may wait before the output of the program waits, too.
	fewQueued = 1 << 20
	// writeLimit bounds how long a client does not read.
	writeLimit = time.Minute
)

// A controller is the connection to the client.
type controller struct {
	conn   net.Conn
	reader *proxy.Reader

	mutex   sync.Mutex
	queue   []proxy.Frame
	bytes   int // of queue
	isEnd   bool
	failed  error
	changed chan struct{} // closed and replaced whenever one of these changes
}

func newController(conn net.Conn) *controller {
	return &controller{conn: conn, reader: proxy.NewReader(conn), changed: make(chan struct{})}
}

// change wakes all who wait. The mutex is held.
func (c *controller) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// send queues a frame. The clients written in Java read ASCII only.
func (c *controller) send(frame proxy.Frame) {
	size := 32
	for i, argument := range frame.Arguments {
		frame.Arguments[i] = ascii(argument)
		size += len(argument) + 10
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isEnd || c.failed != nil {
		return
	}
	if c.bytes += size; c.bytes > mostQueued {
		c.failed = errors.New("the client does not read what the debugger sends")
		_ = c.conn.Close() // the error says more
	}
	c.queue = append(c.queue, frame)
	c.change()
}

func ascii(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, text)
}

// room returns a channel that is closed once something has changed, and whether little is queued.
func (c *controller) room() (changed <-chan struct{}, hasRoom bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.changed, c.bytes < fewQueued || c.failed != nil
}

// end lets write return once it has written everything.
func (c *controller) end() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.isEnd = true
	c.change()
}

// write writes the queue until the end, and closes the connection.
func (c *controller) write() {
	defer c.conn.Close()
	writer := proxy.NewWriter(c.conn)
	for {
		frames, isOver, changed := c.take()
		for _, frame := range frames {
			if err := c.writeOne(writer, frame); err != nil {
				return
			}
		}
		switch {
		case isOver:
			return
		case len(frames) == 0:
			<-changed
		}
	}
}

// take returns the queued bytes, or reports that nothing follows.
func (c *controller) take() (frames []proxy.Frame, isOver bool, changed <-chan struct{}) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	frames, c.queue, c.bytes = c.queue, nil, 0
	isOver = c.failed != nil || c.isEnd && len(frames) == 0
	if len(frames) > 0 {
		c.change()
	}
	return frames, isOver, c.changed
}

func (c *controller) writeOne(writer *proxy.Writer, frame proxy.Frame) error {
	err := c.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	if err == nil {
		err = writer.Write(frame)
	}
	if err != nil {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.failed = fmt.Errorf("writing to the client: %w", err)
		c.change()
	}
	return err
}

// problem returns why the connection was given up, or nil.
func (c *controller) problem() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.failed
}

// connectController connects to the client, or waits for it to connect if no host is given.
func connectController(ctx context.Context, o *Options) (net.Conn, error) {
	address := net.JoinHostPort(o.Host, fmt.Sprint(o.Port))
	if o.Host != "" {
		dialer := net.Dialer{Timeout: 30 * time.Second, KeepAliveConfig: keepAlive}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("connecting to the client: %w", err)
		}
		return conn, nil
	}
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for the client: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })() // it has nothing to write
	conn, err := listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("waiting for the client: %w", errors.Join(context.Cause(ctx), err))
	}
	return conn, listener.Close()
}

// keepAlive ends connections to hosts that are gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}
