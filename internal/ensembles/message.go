package ensembles

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// A client of a control socket sends one request, a line of JSON. The server answers with lines: events, if the
// request asks for them, then the answer.

// Bounds of what is accepted.
const (
	longestRequest = 64 << 20
	longestAnswer  = 64 << 20
	longestText    = 64 << 10 // of an error
)

// The operations.
const (
	operationStatus     = "status"
	operationAdd        = "add"
	operationDelete     = "delete"
	operationSubstitute = "substitute"
	operationCommit     = "commit"
	operationCancel     = "cancel"
	operationEvents     = "events"
)

var errProtocol = errors.New("the other process violates the protocol of control sockets")

// A request asks for one operation.
type request struct {
	Operation string   `json:"operation"`
	Labels    []string `json:"labels,omitempty"`
	Parts     []byte   `json:"parts,omitempty"` // see packParts
	Now       bool     `json:"now,omitempty"`
	After     int      `json:"after,omitempty"`
}

// An answer is a line of the server.
type answer struct {
	Event  *coalloc.EnsembleEvent `json:"event,omitempty"` // more lines follow
	Status *coalloc.Status        `json:"status,omitempty"`
	Failed *failure               `json:"failed,omitempty"`
}

// A failure is an encoded error.
type failure struct {
	Message string   `json:"message"`
	Is      []string `json:"is,omitempty"` // names of what it matches
	Usage   bool     `json:"usage,omitempty"`
}

// knownErrors keep their identity at the other end.
func knownErrors() map[string]error {
	return map[string]error{
		"unknown-ensemble": coalloc.ErrUnknownEnsemble,
		"unknown-part":     coalloc.ErrUnknownPart,
		"duplicate-label":  coalloc.ErrDuplicateLabel,
		"released":         coalloc.ErrReleased,
		"ended":            coalloc.ErrEnded,
		"incomplete":       coalloc.ErrIncomplete,
		"no-parts":         coalloc.ErrNoParts,
		"running":          coalloc.ErrRunning,
		"not-running":      coalloc.ErrNotRunning,
		"unreachable":      remote.ErrUnreachable,
		"canceled":         context.Canceled,
		"deadline":         context.DeadlineExceeded,
	}
}

func pack(err error) *failure {
	if err == nil {
		return nil
	}
	text := err.Error()
	if len(text) > longestText {
		text = text[:longestText] + "…"
	}
	return &failure{Message: text, Is: peer.NamesOf(err, knownErrors()), Usage: isUsage(err)}
}

// isUsage reports whether a target cannot run a request.
func isUsage(err error) bool {
	_, isUnsupported := errors.AsType[*control.UnsupportedError](err)
	_, isValue := errors.AsType[*control.ValueError](err)
	_, isReceived := errors.AsType[*UsageError](err)
	return isUnsupported || isValue || isReceived
}

// unpack returns an error that matches the same errors as the encoded one, nil for a nil failure.
func (f *failure) unpack() error {
	if f == nil {
		return nil
	}
	received := &peer.ReceivedError{Message: f.Message, Causes: peer.Named(f.Is, knownErrors())}
	if f.Usage {
		return &UsageError{received}
	}
	return received
}

// A UsageError is a mistake in a request or in how a command is used.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Is reports whether an error is [coalloc.ErrInvalid], which it matches.
func (e *UsageError) Is(err error) bool { return err == coalloc.ErrInvalid }

// packParts encodes parts. Their texts may hold any bytes, which JSON would change.
func packParts(parts []coalloc.Part) ([]byte, error) {
	var encoded bytes.Buffer
	if err := gob.NewEncoder(&encoded).Encode(parts); err != nil {
		return nil, fmt.Errorf("encoding parts: %w", err)
	}
	if encoded.Len() > longestRequest/2 {
		return nil, fmt.Errorf("the parts have more than %d bytes", longestRequest/2)
	}
	return encoded.Bytes(), nil
}

func unpackParts(encoded []byte) (parts []coalloc.Part, err error) {
	if err := gob.NewDecoder(bytes.NewReader(encoded)).Decode(&parts); err != nil {
		return nil, fmt.Errorf("%w: %w", errProtocol, err)
	}
	for i := range parts {
		if err := parts[i].Check(); err != nil {
			return nil, &UsageError{err}
		}
	}
	return parts, nil
}

func writeLine(w io.Writer, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads a line of at most some bytes into value.
func readLine(r *bufio.Reader, most int, value any) error {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > most:
			return fmt.Errorf("%w: a line of more than %d bytes", errProtocol, most)
		case err == nil:
			if err := json.Unmarshal(line, value); err != nil {
				return fmt.Errorf("%w: %w", errProtocol, err)
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
