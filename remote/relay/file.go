package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/wire"
)

// fileRequest is what a client wants of an open file.
type fileRequest struct {
	kind   wire.Kind
	Count  int   `json:",omitempty"`
	Offset int64 `json:",omitempty"`
	Whence int   `json:",omitempty"`
}

// longestRead is how many bytes of a file go in one frame, beside its first
// byte, which says what follows.
const longestRead = wire.MaxFrame - 1

// The first byte of an answer about an open file.
const (
	answerData   = 'd'
	answerEnd    = 'e' // of the file
	answerValue  = 'v' // as JSON
	answerFailed = 'f' // an error as wire packs it
)

// open serves an open file until the client goes away.
func (s *conversation) open(ctx context.Context) error {
	requests := make(chan fileRequest, 1)
	handle := func(kind wire.Kind, payload []byte) error {
		wanted := fileRequest{kind: kind}
		if err := wire.Decode(payload, &wanted); err != nil {
			return err
		}
		select {
		case requests <- wanted:
			return nil
		default:
			return fmt.Errorf("%w: a second request before the first was answered", wire.ErrProtocol)
		}
	}
	return s.with(ctx, handle, func(ctx context.Context, connection remote.Connection) error {
		file, err := connection.Open(ctx, string(s.asked.Path))
		if err != nil {
			return err
		}
		// A read that hangs ends with the client.
		closed := make(chan struct{})
		unwatch := context.AfterFunc(ctx, func() {
			defer close(closed)
			_ = file.Close() // nobody is left to be told
		})
		defer func() {
			if unwatch() {
				_ = file.Close()
			} else {
				<-closed
			}
		}()
		if err := s.done(struct{}{}, nil); err != nil {
			return err
		}
		for {
			select {
			case wanted := <-requests:
				if err := s.link.Send(frameFile, s.aboutFile(file, wanted)); err != nil {
					return err
				}
			case <-ctx.Done():
				return nil
			}
		}
	})
}

// aboutFile does what a client wants of an open file.
func (s *conversation) aboutFile(file remote.File, wanted fileRequest) []byte {
	value := func(result any, err error) []byte {
		var packed []byte
		if err == nil {
			packed, err = json.Marshal(result)
		}
		if err != nil {
			return append([]byte{answerFailed}, s.link.Pack(err)...)
		}
		return append([]byte{answerValue}, packed...)
	}
	switch wanted.kind {
	case frameRead:
		answer := make([]byte, 1+min(max(wanted.Count, 0), longestRead))
		count, err := file.Read(answer[1:])
		switch {
		case count > 0 || err == nil: // an error comes again with the next read
			answer[0] = answerData
			return answer[:1+count]
		case errors.Is(err, io.EOF):
			return []byte{answerEnd}
		}
		return value(nil, err)
	case frameSeek:
		return value(file.Seek(wanted.Offset, wanted.Whence))
	case frameStat:
		info, err := file.Stat()
		if err != nil {
			return value(nil, err)
		}
		return value(packInfo(info), nil)
	}
	return value(nil, fmt.Errorf("%w: a frame of kind %d", wire.ErrProtocol, wanted.kind))
}

// openFile is the client's side of an open file. As an *os.File it may be used
// by several goroutines, one after the other.
type openFile struct {
	link      *wire.Link
	listening context.Context
	stop      func()
	answers   chan []byte
	lost      func(error) error

	mutex  sync.Mutex
	closed sync.Once
}

// Open opens a file for reading.
func (c *connection) Open(ctx context.Context, path string) (remote.File, error) {
	asked := newRequest(operationOpen, c.place)
	asked.Path = []byte(path)
	answers := make(chan []byte, 1)
	opened := make(chan struct{}, 1)
	handle := func(kind wire.Kind, payload []byte) error {
		switch kind {
		case frameDone:
			offer(opened, struct{}{})
			return nil
		case frameFile:
			offer(answers, payload) // there is one at most, of the request under way
			return nil
		}
		return wire.RefuseFrame(kind, payload)
	}
	talk, err := c.begin(ctx, asked, nil, handle)
	if err != nil {
		return nil, err
	}
	select {
	case <-opened:
		return &openFile{link: talk.link, listening: talk.listening, stop: talk.stop, answers: answers, lost: c.lost}, nil
	case <-talk.listening.Done():
		talk.stop()
		return nil, c.lost(context.Cause(talk.listening))
	case <-ctx.Done():
		talk.stop()
		return nil, fmt.Errorf("opening %q: %w", path, ctx.Err())
	}
}

// ask sends a request and returns the answer.
func (f *openFile) ask(kind wire.Kind, wanted fileRequest) (byte, []byte, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.link.SendValue(kind, wanted); err != nil {
		return 0, nil, f.lost(err)
	}
	select {
	case answer := <-f.answers:
		if len(answer) == 0 {
			return 0, nil, fmt.Errorf("%w: an empty answer", wire.ErrProtocol)
		}
		if answer[0] == answerFailed {
			return 0, nil, f.link.Unpack(answer[1:])
		}
		return answer[0], answer[1:], nil
	case <-f.listening.Done():
		return 0, nil, f.lost(context.Cause(f.listening))
	}
}

// Read reads from the position, as os.File does.
func (f *openFile) Read(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	what, answer, err := f.ask(frameRead, fileRequest{Count: min(len(data), longestRead)})
	switch {
	case err != nil:
		return 0, err
	case what == answerEnd:
		return 0, io.EOF
	case what != answerData || len(answer) > len(data):
		return 0, fmt.Errorf("%w: the answer to a read", wire.ErrProtocol)
	}
	return copy(data, answer), nil
}

// Seek changes the position, as os.File does.
func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	_, answer, err := f.ask(frameSeek, fileRequest{Offset: offset, Whence: whence})
	if err != nil {
		return 0, err
	}
	var position int64
	err = wire.Decode(answer, &position)
	return position, err
}

// Stat describes the file.
func (f *openFile) Stat() (fs.FileInfo, error) {
	_, answer, err := f.ask(frameStat, fileRequest{})
	if err != nil {
		return nil, err
	}
	var info fileInfo
	if err := wire.Decode(answer, &info); err != nil {
		return nil, err
	}
	return info, nil
}

// Close lets go of the file. Closing it again is an error, as for os.File.
func (f *openFile) Close() error {
	err := fs.ErrClosed
	f.closed.Do(func() {
		f.stop()
		err = nil
	})
	return err
}
