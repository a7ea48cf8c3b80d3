package adapter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/google/go-dap"
)

const (
	mostContent    = 16 << 20 // bytes of a message
	mostHeaderLine = 4 << 10  // bytes
	mostHeaders    = 32       // lines before a message
)

// readContent reads a message. Package dap refuses messages above 4 MiB, and reads headers of any length.
func readContent(reader *bufio.Reader) ([]byte, error) {
	length := -1
	for range mostHeaders {
		line, err := reader.ReadSlice('\n')
		if err != nil && (!errors.Is(err, io.EOF) || len(line) > 0) {
			return nil, fmt.Errorf("invalid header of a message: %w", err)
		}
		if err != nil {
			return nil, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if length < 0 {
				return nil, errors.New("invalid header of a message: no Content-Length")
			}
			return readBody(reader, length)
		}
		if length, err = headerLength(text, length); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("invalid header of a message: too many lines")
}

// headerLength returns the length in a header line, otherwise the one before.
func headerLength(line string, before int) (int, error) {
	name, value, isHeader := strings.Cut(line, ":")
	if !isHeader {
		return 0, fmt.Errorf("invalid header of a message: %.100q", line)
	}
	if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
		return before, nil
	}
	length, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("invalid Content-Length %.100q", value)
	}
	if length > mostContent {
		return 0, fmt.Errorf("a message of %d bytes exceeds %d bytes", length, mostContent)
	}
	return int(length), nil
}

// readBody allocates only as much memory as arrives.
func readBody(reader *bufio.Reader, length int) ([]byte, error) {
	var body bytes.Buffer
	if _, err := io.CopyN(&body, reader, int64(length)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading a message of the editor: %w", err)
	}
	return body.Bytes(), nil
}

// write sends a message. The loop flushes.
func (a *adapter) write(message dap.Message) {
	content, err := json.Marshal(message)
	if err == nil {
		_, err = fmt.Fprintf(a.out, "Content-Length: %d\r\n\r\n", len(content))
	}
	if err == nil {
		_, err = a.out.Write(content)
	}
	if err != nil && a.writeError == nil {
		a.writeError = err
	}
}

// send sends an event.
func (a *adapter) send(name string, message dap.EventMessage) {
	a.lastSequence++
	*message.GetEvent() = dap.Event{ProtocolMessage: dap.ProtocolMessage{Seq: a.lastSequence, Type: "event"}, Event: name}
	a.write(message)
}

// respond answers a request.
func (a *adapter) respond(r *request, message dap.ResponseMessage) {
	if r.isAnswered {
		return
	}
	a.close(r)
	a.lastSequence++
	*message.GetResponse() = dap.Response{
		ProtocolMessage: dap.ProtocolMessage{Seq: a.lastSequence, Type: "response"},
		RequestSeq:      r.Seq, Command: r.Command, Success: true,
	}
	a.write(message)
}

// fail answers that a request has failed.
func (a *adapter) fail(r *request, text string) {
	if r.isAnswered {
		return
	}
	if r.isCanceled {
		text = "cancelled" // the protocol's word
	}
	a.close(r)
	a.lastSequence++
	a.write(&dap.ErrorResponse{
		Response: dap.Response{
			ProtocolMessage: dap.ProtocolMessage{Seq: a.lastSequence, Type: "response"},
			RequestSeq:      r.Seq, Command: r.Command, Message: text,
		},
		Body: dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: 1, Format: text, ShowUser: showsErrors[r.Command] && !r.isCanceled}},
	})
}

// showsErrors are the requests whose errors an editor does not show by itself.
var showsErrors = map[string]bool{
	"launch": true, "attach": true, "restart": true, "terminate": true, "disconnect": true,
	"continue": true, "next": true, "stepIn": true, "stepOut": true, "pause": true,
}

// close ends the pending work of a request.
func (a *adapter) close(r *request) {
	r.isAnswered = true
	r.cancel()
	if a.requests[r.Seq] == r {
		delete(a.requests, r.Seq)
	}
}
