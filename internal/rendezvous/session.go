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
	ErrFull      = errors.New("the queue of the receiver is full")
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
}

// A Message is a message of another process.
type Message struct {
	From  int  // the address of its part, or its rank in this part
	Inter bool // from another part
	Data  []byte
}

// A Filter says which messages to receive: those with the tag, and where the others are set, from
// that sender.
type Filter struct {
	Tag   string
	Scope string // "inter", "intra" or "" for both
	From  *int
}

// OpenSession opens another session of a process that was released.
func OpenSession(ctx context.Context, dial Dial, pass *Pass, identity Identity) (*Session, error) {
	conn, answer, err := connect(ctx, dial, pass, wantOf(purposeSession, identity))
	if err != nil {
		return nil, err
	}
	return newSession(conn, answer.Rank, false, pass), nil
}

func newSession(conn *tls.Conn, rank int, arranged bool, pass *Pass) *Session {
	s := &Session{conn: conn, rank: rank, arranged: arranged, pass: pass, replies: map[int64]chan *frame{}}
	s.tasks.Go(s.read)
	return s
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
	s.failure = err
	for id, reply := range s.replies {
		close(reply)
		delete(s.replies, id)
	}
	_ = s.conn.NetConn().Close() // the error says more
}

func (s *Session) write(f *frame) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return write(s.conn, f)
}

// request sends a request, and waits for its reply.
func (s *Session) request(ctx context.Context, f *frame) (*frame, error) {
	reply := make(chan *frame, 1)
	s.mutex.Lock()
	if s.failure != nil {
		defer s.mutex.Unlock()
		return nil, s.failure
	}
	s.last++
	f.ID = s.last
	s.replies[f.ID] = reply
	s.mutex.Unlock()
	if err := s.write(f); err != nil {
		s.forget(f.ID)
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	select {
	case answer, isOpen := <-reply:
		if !isOpen {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			return nil, s.failure
		}
		return answer, failureOf(answer)
	case <-ctx.Done():
		return s.giveUp(ctx, f.ID, reply)
	}
}

// giveUp ends a request. An answer that is on the way counts: it may be a message, which nobody gets again.
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
	if known != nil {
		return known
	}
	return errors.New(reply.Error)
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
	_, err := s.request(ctx, &frame{Kind: kindSend, Scope: scopeInter, To: address, Tag: tag, payload: data})
	return err
}

// SendToRank sends a message to another process of the part.
func (s *Session) SendToRank(ctx context.Context, rank int, tag string, data []byte) error {
	_, err := s.request(ctx, &frame{Kind: kindSend, Scope: scopeIntra, To: rank, Tag: tag, payload: data})
	return err
}

// Receive waits for the next message that a filter means. Messages of one sender with one tag arrive in the
// order in which they were sent.
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
// their indices. Only rank 0 of a part gives data; the others pass nil.
func (s *Session) Exchange(ctx context.Context, data []byte) ([]Information, error) {
	var all []Information
	reply, err := s.request(ctx, &frame{Kind: kindExchange, payload: data})
	if err == nil {
		err = json.Unmarshal(reply.payload, &all)
	}
	return all, err
}
