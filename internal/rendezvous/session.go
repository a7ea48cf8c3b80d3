package rendezvous

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of sessions, beside those of ctx.
var (
	ErrNotJoined = errors.New("the part is not in the group")
	ErrEnded     = errors.New("the receiver has ended")
	ErrFull      = errors.New("too much waits for processes that do not receive it yet")
	ErrLost      = errors.New("the connection to the co-allocator is lost")
)

// A Session of a process that was released exchanges messages. Its methods may be called concurrently.
type Session struct {
	conn     *tls.Conn
	rank     int
	arranged bool
	pass     *Pass
	tasks    sync.WaitGroup

	writing sync.Mutex
	mutex   sync.Mutex
	last    int64
	replies map[int64]chan *frame
	failure error
	ended   chan struct{} // closed with failure
}

// A Message is a message of another process.
type Message struct {
	From  int  // the address of its part, or its rank in this part
	Inter bool // from another part
	Data  []byte
}

// A Filter selects messages: those with the tag and, if set, from that sender.
type Filter struct {
	Tag   string
	Scope string // "inter", "intra" or "" for both
	From  *int
}

// A RequestError says why the co-allocator refuses a request.
type RequestError struct{ Reason string }

// Error returns the reason.
func (e *RequestError) Error() string { return e.Reason }

// OpenSession opens another session of a released process. It reconnects like [CheckIn].
func OpenSession(ctx context.Context, dial Dial, pass *Pass, identity Identity) (*Session, error) {
	return persist(ctx, func() (*Session, error) {
		conn, answer, err := connect(ctx, dial, pass, wantOf(purposeSession, identity))
		if err != nil {
			return nil, err
		}
		return newSession(conn, answer.Rank, false, pass), nil
	})
}

func newSession(conn *tls.Conn, rank int, arranged bool, pass *Pass) *Session {
	s := &Session{conn: conn, rank: rank, arranged: arranged, pass: pass, replies: map[int64]chan *frame{}, ended: make(chan struct{})}
	s.tasks.Go(s.read)
	return s
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.ended }

// Err returns why the session has ended: [ErrLost] or an *[AbortError].
func (s *Session) Err() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.failure
}

// Rank returns the rank of the process in its part.
func (s *Session) Rank() int { return s.rank }

// IsArranged reports whether the rank is the order of arrival, because no launcher gave one.
func (s *Session) IsArranged() bool { return s.arranged }

// Size returns the number of processes of the part.
func (s *Session) Size() int { return s.pass.Count }

// Close ends the session.
func (s *Session) Close() error {
	err := s.conn.NetConn().Close()
	s.tasks.Wait()
	return err
}

// read distributes what the co-allocator sends.
func (s *Session) read() {
	for {
		f, err := readFrame(s.conn, mostPayload)
		if err == nil && f.Kind == kindAbort {
			err = &AbortError{f.Reason}
		}
		if err != nil {
			s.fail(err)
			return
		}
		switch f.Kind {
		case kindPing:
			_ = s.write(&frame{Kind: kindPong, ID: f.ID}) // the next read fails, too
		case kindReply:
			s.mutex.Lock()
			reply := s.replies[f.ID]
			delete(s.replies, f.ID)
			s.mutex.Unlock()
			if reply != nil {
				reply <- f
			}
		}
	}
}

// fail ends all requests.
func (s *Session) fail(err error) {
	var abort *AbortError
	if !errors.As(err, &abort) {
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.failure != nil {
		return
	}
	s.failure = err
	close(s.ended)
	for id, reply := range s.replies {
		close(reply)
		delete(s.replies, id)
	}
	_ = s.conn.NetConn().Close() // the error says more
}

func (s *Session) write(f *frame) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.writeLocked(f)
}

// writeLocked writes a frame. A part of one would end the stream, so any failure ends the session: soon, once what the
// co-allocator sent before is read, since that may be why the connection has ended.
func (s *Session) writeLocked(f *frame) error {
	encoded, err := f.encode()
	if err != nil {
		return &RequestError{err.Error()}
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime)) // without it, a write lasts longer
	if _, err = s.conn.Write(encoded); err != nil {
		_ = s.conn.SetReadDeadline(time.Now().Add(lastWordsTime)) // the connection is of no use
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// A pending is a request that was written.
type pending struct {
	id    int64
	reply <-chan *frame
}

// begin writes a request. Requests leave in the order of the calls.
func (s *Session) begin(f *frame) (pending, error) {
	p, err := s.enqueue(f)
	if errors.Is(err, ErrLost) {
		<-s.ended
		err = s.Err()
	}
	return p, err
}

func (s *Session) enqueue(f *frame) (pending, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	reply := make(chan *frame, 1)
	s.mutex.Lock()
	if s.failure != nil {
		defer s.mutex.Unlock()
		return pending{}, s.failure
	}
	s.last++
	f.ID = s.last
	s.replies[f.ID] = reply
	s.mutex.Unlock()
	if err := s.writeLocked(f); err != nil {
		s.forget(f.ID)
		return pending{}, err
	}
	return pending{f.ID, reply}, nil
}

// await waits for the reply to a request.
func (s *Session) await(ctx context.Context, p pending) (*frame, error) {
	select {
	case answer, isOpen := <-p.reply:
		if !isOpen {
			return nil, s.Err()
		}
		return answer, failureOf(answer)
	case <-ctx.Done():
		return s.giveUp(ctx, p.id, p.reply)
	}
}

// giveUp ends a request. An answer that is on the way counts, because it may be a message that nobody would get
// again.
func (s *Session) giveUp(ctx context.Context, id int64, reply <-chan *frame) (*frame, error) {
	defer s.forget(id)
	if err := s.write(&frame{Kind: kindForget, ID: id}); err != nil {
		return nil, ctx.Err()
	}
	timer := time.NewTimer(forgetTime)
	defer timer.Stop()
	select {
	case answer, isOpen := <-reply:
		if isOpen && answer.Code != codeForgotten {
			return answer, failureOf(answer)
		}
	case <-timer.C:
	}
	return nil, ctx.Err()
}

// request sends a request, and waits for its reply.
func (s *Session) request(ctx context.Context, f *frame) (*frame, error) {
	p, err := s.begin(f)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, p)
}

func (s *Session) forget(id int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.replies, id)
}

// failureOf returns the error in a reply.
func failureOf(reply *frame) error {
	if reply.Error == "" {
		return nil
	}
	known := map[string]error{codeNotJoined: ErrNotJoined, codeEnded: ErrEnded, codeFull: ErrFull}[reply.Code]
	switch known {
	case nil:
	case ErrFull:
		return fmt.Errorf("%w: %s", known, reply.Error)
	default:
		return known
	}
	return &RequestError{reply.Error}
}

// Structure returns the group.
func (s *Session) Structure(ctx context.Context) (Structure, error) {
	var structure Structure
	reply, err := s.request(ctx, &frame{Kind: kindStructure})
	if err == nil {
		err = json.Unmarshal(reply.payload, &structure)
	}
	return structure, err
}

// Send sends a message to the first process of the part with an address.
func (s *Session) Send(ctx context.Context, address int, tag string, data []byte) error {
	return s.Post(Destination{Number: address}, tag, data)(ctx)
}

// SendToRank sends a message to another process of the part.
func (s *Session) SendToRank(ctx context.Context, rank int, tag string, data []byte) error {
	return s.Post(Destination{Number: rank, Intra: true}, tag, data)(ctx)
}

// A Destination is the address of a part or, with Intra, a rank in this part.
type Destination struct {
	Number int
	Intra  bool
}

// Post sends a message, and returns a function that waits until the co-allocator has it. Messages
// leave in the order of the calls.
func (s *Session) Post(to Destination, tag string, data []byte) (wait func(context.Context) error) {
	f := &frame{Kind: kindSend, Scope: scopeInter, To: to.Number, Tag: tag, payload: data}
	if to.Intra {
		f.Scope = scopeIntra
	}
	p, err := s.begin(f)
	return func(ctx context.Context) error {
		if err == nil {
			_, err = s.await(ctx, p)
		}
		return err
	}
}

// Receive waits for the next message that matches a filter. Messages of one sender with one tag arrive in order.
func (s *Session) Receive(ctx context.Context, filter Filter) (Message, error) {
	f := &frame{Kind: kindReceive, Scope: filter.Scope, Tag: filter.Tag}
	if filter.From != nil {
		f.HasFrom, f.From = true, *filter.From
	}
	reply, err := s.request(ctx, f)
	if err != nil {
		return Message{}, err
	}
	return Message{From: reply.From, Inter: reply.Scope == scopeInter, Data: reply.payload}, nil
}

// Exchange waits until each part of the group has given data, and returns all, in the order of
// their indices. Only rank 0 of a part gives data; the others pass nil. Exchanges with one name are
// one exchange, and a process may repeat it. Those without a name are numbered by each process.
func (s *Session) Exchange(ctx context.Context, name string, data []byte) ([]Information, error) {
	var all []Information
	reply, err := s.request(ctx, &frame{Kind: kindExchange, Tag: name, payload: data})
	if err == nil {
		err = json.Unmarshal(reply.payload, &all)
	}
	return all, err
}
