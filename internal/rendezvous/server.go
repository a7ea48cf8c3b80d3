package rendezvous

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// A Part is a part whose processes may check in. The last three members are of a part that was
// released before the server started.
type Part struct {
	Serial, Index int
	Label         string
	Count         int
	Gate          string
	Joins         bool // the group that exchanges messages
	Incarnation   int
	Released      bool
	Instances     []string // by rank
}

// A Server is the co-allocator's end. Its methods may be called concurrently.
type Server struct {
	key      *Key
	ensemble string
	tls      *tls.Config
	observe  func(ProcessEvent)
	proving  chan struct{} // holds something for each connection that proves itself
	cancel   context.CancelFunc
	tasks    sync.WaitGroup

	mutex sync.Mutex
	parts map[int]*part
	links map[*link]struct{}
	group *group // nil before the release
	kept  int    // bytes of messages and exchanges
	// Exchanges that have names.
	exchanged      map[string][]byte // results on record
	recording      map[string]bool   // whose results are being recorded
	recordExchange func(name string, result []byte) bool
	closed         bool
}

var (
	errClosed      = errors.New("the co-allocator has ended")
	errTooMany     = errors.New("too many connections")
	errUnknownPart = errors.New("the co-allocator does not know the part yet")
	errOutOfOrder  = errors.New("a frame is out of order")
)

// NewServer returns a server. It calls observe with each event, in order; observe must not block,
// and may not call the server. The caller closes the server.
func NewServer(key *Key, ensemble string, observe func(ProcessEvent)) *Server {
	s := &Server{
		key: key, ensemble: ensemble, tls: serverTLS(key), observe: observe,
		proving: make(chan struct{}, mostUnproven), parts: map[int]*part{}, links: map[*link]struct{}{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.tasks.Go(func() { s.beat(ctx) })
	return s
}

// Close ends all connections. Processes that wait connect to the next server.
func (s *Server) Close() {
	s.cancel()
	s.mutex.Lock()
	s.closed = true
	links := slices.Collect(maps.Keys(s.links))
	s.mutex.Unlock()
	// Those that were aborted or released just now read that first.
	ctx, cancel := context.WithTimeout(context.Background(), lastWordsTime)
	defer cancel()
	for _, l := range links {
		l.flush(ctx)
		l.close()
	}
	s.tasks.Wait()
}

// Admit lets the processes of a part prove themselves from now on.
func (s *Server) Admit(admitted Part) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.parts[admitted.Serial] != nil {
		return
	}
	p := newPart(admitted)
	s.parts[admitted.Serial] = p
	if p.released {
		s.join(p)
	}
}

// Remove ends the processes of a part: those that wait, and those that check in later.
func (s *Server) Remove(serial int, reason string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	p := s.parts[serial]
	if p == nil {
		p = newPart(Part{Serial: serial})
		s.parts[serial] = p
	}
	p.isRemoved, p.reason = true, bounded(reason, mostReason)
	s.endPart(p)
	for l := range s.links {
		if l.part == p {
			s.send(l, &frame{Kind: kindAbort, Reason: p.reason})
			l.finish()
		}
	}
	p.thaw()
}

// End says that the job of a part has ended. It returns how many messages nobody received.
func (s *Server) End(serial int) (dropped int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if p := s.parts[serial]; p != nil {
		return s.endPart(p)
	}
	return 0
}

// Status returns how many processes of a part wait or were released, and its incarnation.
func (s *Server) Status(serial int) (checkedIn, incarnation int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	p := s.parts[serial]
	if p == nil {
		return 0, 0
	}
	return p.present(), p.incarnation
}

// An Accept returns the next connection of a process.
type Accept func(ctx context.Context) (net.Conn, error)

// Serve serves the connections that accept returns, until accept fails or ctx is done, and returns why. It calls
// ended at the end of each. It accepts no further connections while too many are unproven: they wait at their
// origin. Several calls take turns.
func (s *Server) Serve(ctx context.Context, accept Accept, ended func(error)) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := accept(ctx)
		if err != nil {
			return err
		}
		select {
		case s.proving <- struct{}{}:
			serving.Go(func() { ended(s.serve(ctx, conn)) })
		case <-ctx.Done():
			_ = conn.Close() // the process connects again
			return context.Cause(ctx)
		}
	}
}

// serve serves the connection of a process, which holds something in proving, until it ends.
func (s *Server) serve(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	p, err := s.prove(ctx, conn)
	<-s.proving
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	l := newLink(s, p.conn)
	if err := s.add(l); err != nil {
		return err
	}
	defer s.remove(l)
	if p.want.Purpose == purposeCheckIn {
		err = s.checkIn(ctx, l, p)
	} else {
		err = s.openSession(l, p)
	}
	if err != nil {
		l.finish()
		l.flush(ctx)
		return err
	}
	return s.converse(ctx, l)
}

// prove lets a connection prove itself within a time.
func (s *Server) prove(ctx context.Context, conn net.Conn) (*proven, error) {
	limited, cancel := context.WithTimeout(ctx, provingTime)
	defer cancel()
	defer context.AfterFunc(limited, func() { _ = conn.Close() })()
	return s.verify(limited, conn)
}

// add adds a connection, which does not belong to a process yet.
func (s *Server) add(l *link) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return errClosed
	}
	s.links[l] = struct{}{}
	return nil
}

// remove forgets a connection that has ended.
func (s *Server) remove(l *link) {
	l.close()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.links, l)
	if p := l.part; p != nil {
		p.connections--
		if box := p.boxes[l.rank]; box != nil {
			box.forgetAll(l)
		}
		if s.group != nil {
			s.group.forgetAll(l)
		}
		s.lose(p, l)
	}
}

// beat pings processes, and closes the connections of silent ones.
func (s *Server) beat(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.mutex.Lock()
			for l := range s.links {
				switch heard := now.Sub(l.lastHeard()); {
				case heard > silence:
					l.close()
				case heard > pingInterval && now.Sub(l.pinged) > pingInterval:
					s.ping(l, now)
				}
			}
			s.mutex.Unlock()
		}
	}
}

// ping sends a ping. The channel is closed by its answer.
func (s *Server) ping(l *link, now time.Time) <-chan struct{} {
	l.pinged = now
	id, answered := l.expectPong()
	s.send(l, &frame{Kind: kindPing, ID: id})
	return answered
}

// send sends a frame over a connection. The mutex is held.
func (s *Server) send(l *link, f *frame) {
	encoded, err := f.encode()
	if err != nil {
		encoded, _ = (&frame{Kind: kindReply, ID: f.ID, Error: err.Error(), Code: codeTooLong}).encode()
	}
	s.sendEncoded(l, encoded)
}

func (s *Server) sendEncoded(l *link, encoded []byte) {
	if !s.closed {
		l.enqueue(encoded)
	}
}

// converse reads frames of a process until its connection ends.
func (s *Server) converse(ctx context.Context, l *link) error {
	for {
		f, err := readFrame(l.conn, mostPayload)
		if err != nil {
			return err
		}
		l.hear()
		switch f.Kind {
		case kindPong:
			l.pong(f.ID)
		case kindReceived:
			s.received(l)
		case kindStructure, kindSend, kindReceive, kindExchange, kindForget:
			if err := s.handle(l, f); err != nil {
				return err
			}
			l.throttle(ctx)
		default:
			return fmt.Errorf("%w: %.20q", errOutOfOrder, f.Kind)
		}
	}
}

// received observes that a process has read the release.
func (s *Server) received(l *link) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if l.part.isOpen() {
		s.observe(l.part.event(ReleaseReceived, l))
	}
}

// bounded cuts a text of another end.
func bounded(text string, longest int) string {
	if len(text) > longest {
		text = text[:longest]
	}
	return text
}

// sorted returns parts in the order of their indices.
func sorted(parts []*part) []*part {
	slices.SortFunc(parts, func(a, b *part) int { return a.Index - b.Index })
	return parts
}
