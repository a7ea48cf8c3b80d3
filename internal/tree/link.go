package tree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Times of a link. A peer that sends nothing for the silence is lost.
const (
	pingInterval = 5 * time.Second
	mostSilence  = 30 * time.Second
	flushLimit   = 500 * time.Millisecond
)

// queued is how many messages wait for a peer that reads slowly before senders wait, too.
const queued = 16

// Reasons of links that end as planned.
var (
	errEnded = errors.New("ended")
	errGone  = errors.New("connection lost: the other end closed it")
)

// IsEnd reports whether an error is the planned end of a connection, not a failure.
func IsEnd(reason error) bool { return errors.Is(reason, errGone) || errors.Is(reason, errEnded) }

// A link is one connection of the tree. Lines of the protocol pass in both directions.
type link struct {
	stream io.ReadWriteCloser
	reader *bufio.Reader
	queue  chan []byte
	heard  atomic.Int64 // when the peer sent something last

	ended   chan struct{}
	endOnce sync.Once
	reason  error // final once ended is closed

	tasks sync.WaitGroup

	outbox  outbox
	scratch []byte // of the frame that was read last

	// Streams on this link. The mutex of the carrier guards them.
	carrier    *carrier // nil: streams are refused
	isBelow    bool     // the other end may open streams
	halves     map[uint32]*half
	lastStream uint32
}

func newLink(stream io.ReadWriteCloser) *link {
	l := &link{stream: stream, queue: make(chan []byte, queued), ended: make(chan struct{}), outbox: outbox{waiting: make(chan struct{}, 1)}}
	l.reader = bufio.NewReaderSize(heardReader{l}, 4<<10)
	return l
}

// A heardReader notes when something arrives.
type heardReader struct{ *link }

// Read implements [io.Reader].
func (r heardReader) Read(buffer []byte) (int, error) {
	n, err := r.stream.Read(buffer)
	if n > 0 {
		r.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// end closes the link. The first reason counts.
func (l *link) end(reason error) {
	l.endOnce.Do(func() {
		l.reason = reason
		close(l.ended)
		_ = l.stream.Close() // the reason says more
		if l.carrier != nil {
			l.carrier.drop(l)
		}
	})
}

// start lets messages out, and watches over the peer, until the link ends.
func (l *link) start() {
	l.heard.Store(time.Now().UnixNano())
	l.tasks.Go(l.write)
	l.tasks.Go(l.watch)
}

// wait waits for the goroutines of an ended link.
func (l *link) wait() { l.tasks.Wait() }

func (l *link) write() {
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	line, _ := encode(message{Kind: kindPing})
	for {
		var err error
		select {
		case next := <-l.queue:
			if next == nil { // of finish
				l.flush()
				return
			}
			_, err = l.stream.Write(next)
		case <-l.outbox.waiting:
			err = l.writeChunk()
		case <-ping.C:
			_, err = l.stream.Write(line)
		case <-l.ended:
			return
		}
		if err != nil {
			l.end(fmt.Errorf("connection lost: %w", err))
			return
		}
	}
}

// flush ends the link after the frames that wait.
func (l *link) flush() {
	for l.isOpen() && l.outbox.isWaiting() && l.writeChunk() == nil {
	}
	l.end(errEnded)
}

func (l *link) watch() {
	check := time.NewTicker(pingInterval)
	defer check.Stop()
	for {
		select {
		case now := <-check.C:
			if now.Sub(time.Unix(0, l.heard.Load())) > mostSilence {
				l.end(fmt.Errorf("connection lost: no message for %s", mostSilence))
				return
			}
		case <-l.ended:
			return
		}
	}
}

// send queues a message. It waits while the peer does not read.
func (l *link) send(ctx context.Context, m message) error {
	line, err := encode(m)
	if err != nil {
		return err
	}
	return l.enqueue(ctx, line)
}

func (l *link) enqueue(ctx context.Context, line []byte) error {
	select {
	case l.queue <- line:
		return nil
	case <-l.ended:
		return l.reason
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish ends the link after what was sent before, or soon if the peer does not read.
func (l *link) finish() {
	limit := time.AfterFunc(flushLimit, func() { l.end(errEnded) })
	defer limit.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	if l.enqueue(ctx, nil) == nil {
		<-l.ended
	}
	l.end(errEnded)
}

// receive returns the next message, and applies the frames before it. It ends the link if
// there is no further message.
func (l *link) receive() (message, error) {
	err := l.receiveFrames()
	var line []byte
	if err == nil {
		line, err = l.readLine(mostLineBytes)
	}
	if err == nil {
		var m message
		if m, err = decode(line); err == nil {
			return m, nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = errGone
	}
	l.end(err)
	return message{}, l.reason
}

// receiveFrames applies frames until the next line.
func (l *link) receiveFrames() error {
	for {
		first, err := l.reader.Peek(1)
		if err != nil || !isFrame(first[0]) {
			return err
		}
		f, err := l.readFrame()
		if err == nil && l.carrier == nil {
			err = errNoStreams
		}
		if err == nil {
			err = l.carrier.handle(l, f)
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns the next line without its end.
func (l *link) readLine(most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := l.reader.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return nil, fmt.Errorf("a line is longer than %d bytes", most)
		}
		line = append(line, piece...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, errors.New("connection lost within a line")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
