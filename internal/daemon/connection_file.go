package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// longestRead is how many bytes of a file one answer holds at most.
const longestRead = 64 << 10

// remoteFile is the client's side of an open file. Like an *os.File it may be used
// concurrently.
type remoteFile struct {
	connection *connection
	link       *link
	content    io.Reader

	mutex  sync.Mutex
	closed sync.Once
}

// ask sends a request and returns the answer. Content goes into buffer.
func (f *remoteFile) ask(message fileRequest, buffer []byte) (fileAnswer, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var answer fileAnswer
	err := f.link.send(message)
	if err == nil {
		err = f.link.receive(&answer)
	}
	if err == nil && answer.Count > len(buffer) {
		return answer, fmt.Errorf("%w: the answer to a read", errProtocol)
	}
	if err == nil && answer.Count > 0 {
		_, err = io.ReadFull(f.content, buffer[:answer.Count])
	}
	if err != nil {
		return answer, f.connection.lost(err)
	}
	return answer, answer.Failed.unpack()
}

// Read reads from the position, as os.File does.
func (f *remoteFile) Read(buffer []byte) (int, error) {
	if len(buffer) == 0 {
		return 0, nil
	}
	answer, err := f.ask(fileRequest{Read: min(len(buffer), longestRead)}, buffer)
	if err == nil && answer.End {
		err = io.EOF
	}
	return answer.Count, err
}

// Seek changes the position, as os.File does.
func (f *remoteFile) Seek(offset int64, whence int) (int64, error) {
	answer, err := f.ask(fileRequest{Seek: true, Offset: offset, Whence: whence}, nil)
	return answer.Position, err
}

// Stat describes the file.
func (f *remoteFile) Stat() (fs.FileInfo, error) {
	answer, err := f.ask(fileRequest{}, nil)
	if err != nil {
		return nil, err
	}
	if answer.Info == nil {
		return nil, fmt.Errorf("%w: invalid description of a file", errProtocol)
	}
	return answer.Info, nil
}

// Close lets go of the file. Closing it again is an error, as for os.File.
func (f *remoteFile) Close() error {
	err := fs.ErrClosed
	f.closed.Do(func() {
		f.link.close()
		err = nil
	})
	return err
}

// Open opens a file for reading.
func (c *connection) Open(ctx context.Context, path string) (remote.File, error) {
	l, err := c.openConversation(ctx, operationOpen, request{Place: c.place.pack(), Path: []byte(path)})
	if err != nil {
		return nil, err
	}
	content, err := l.open()
	if err == nil {
		err = l.await(ctx)
	}
	if err != nil {
		l.close()
		return nil, c.failed(ctx, operationOpen, path, err)
	}
	return &remoteFile{connection: c, link: l, content: content}, nil
}

// contentReader reads the content of a file as it arrives, up to the verdict.
type contentReader struct {
	stream io.Reader
	link   *link
	ended  error // not nil at the end
}

func (r *contentReader) Read(buffer []byte) (int, error) {
	if r.ended != nil {
		return 0, r.ended
	}
	count, err := r.stream.Read(buffer)
	if err != nil {
		r.ended = r.end(err)
	}
	return count, r.ended
}

// end receives the verdict after the content: io.EOF if the content is whole.
func (r *contentReader) end(err error) error {
	var answer verdict
	if err == io.EOF {
		err = r.link.receive(&answer)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errLost, err)
	case !answer.IsWhole:
		return errors.New("the client could not continue reading")
	}
	return io.EOF
}
