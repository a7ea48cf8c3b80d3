package daemon

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// A conversation begins with a header, one line of JSON, and a reply, one frame.
// Both stay the same in all versions, so that processes of different builds
// understand them. Everything after them is multiplexed.

// Limits of accepted messages.
const (
	longestHeader = 16 << 20 // bytes; older versions put a whole command line here
	longestReply  = 64 << 10
)

// The kinds of reply.
const (
	replyDone    = 'd' // a Greeting where that was the operation
	replyRefusal = 7   // a failure
)

// replyHead is the kind of a reply and the length of its payload.
const replyHead = 1 + 4

// errProtocol reports a message that the protocol does not allow.
var errProtocol = errors.New("the other process violates the protocol")

// header describes a conversation.
type header struct {
	Protocol  int
	Operation string
	Build     string `json:",omitempty"` // of hello: the client's
}

// readHeader reads the line that begins a conversation.
func readHeader(reader io.Reader) (h header, err error) {
	// No message follows a header before its reply.
	line, err := bufio.NewReader(io.LimitReader(reader, longestHeader+1)).ReadBytes('\n')
	switch {
	case len(line) > longestHeader:
		return header{}, fmt.Errorf("%w: a header of more than %d bytes", errProtocol, longestHeader)
	case err != nil:
		return header{}, err
	}
	return h, decodeJSON(line, &h)
}

func decodeJSON(text []byte, value any) error {
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return nil
}

// writeReply answers a header.
func writeReply(writer io.Writer, kind byte, value any) error {
	payload, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a reply: %w", err)
	}
	frame := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	_, err = writer.Write(append(frame, payload...))
	return err
}

// readReply reads the reply to a header into value. The error is a *peer.ReceivedError if
// the other end refuses the conversation.
func readReply(reader io.Reader, value any) error {
	var head [replyHead]byte
	if _, err := io.ReadFull(reader, head[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > longestReply {
		return fmt.Errorf("%w: a reply of %d bytes", errProtocol, length)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(reader, payload); err != nil {
		return err
	}
	switch head[0] {
	case replyDone:
		return decodeJSON(payload, value)
	case replyRefusal:
		var refused failure
		if err := decodeJSON(payload, &refused); err != nil {
			return err
		}
		return refused.unpack()
	}
	return fmt.Errorf("%w: a reply of kind %d", errProtocol, head[0])
}

// greet sends a header and reads the reply into value. If the process ends
// meanwhile, the error is a *GoneError.
func greet(conn net.Conn, h header, value any) error {
	line, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encoding a header: %w", err)
	}
	_, err = conn.Write(append(line, '\n'))
	if err == nil || isCut(err) { // a process that is full refuses before it reads
		err = readReply(conn, value)
	}
	if isCut(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &GoneError{err}
	}
	return err
}

// isCut reports whether an error means that the process at the other end is gone.
func isCut(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
