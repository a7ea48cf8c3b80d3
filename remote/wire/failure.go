package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/rmctl/rmctl/remote"
)

// maxText bounds each text of an error, a question or an answer, so that all of
// them together fit a frame.
const maxText = 4 << 10

// bounded cuts a text that is too long. Texts go as bytes: JSON would change
// those that are not UTF-8.
func bounded(text string) []byte {
	if len(text) <= maxText {
		return []byte(text)
	}
	return []byte(text[:maxText] + "…")
}

// failure is an error on its way.
type failure struct {
	Message []byte
	Is      []string        `json:",omitempty"` // names of what it matches
	Connect *connectFailure `json:",omitempty"`
	Start   *startFailure   `json:",omitempty"`
}

type connectFailure struct {
	Reason              string
	Host, Help, Message []byte
}

type startFailure struct {
	Program, Directory, Message []byte
}

// commonErrors are those that mean the same to every conversation.
func commonErrors() map[string]error {
	return map[string]error{
		"not-exist":         fs.ErrNotExist,
		"exist":             fs.ErrExist,
		"permission":        fs.ErrPermission,
		"command-not-found": remote.ErrCommandNotFound,
		"unreachable":       remote.ErrUnreachable,
		"nobody-to-ask":     remote.ErrNobodyToAsk,
		"canceled":          context.Canceled,
		"deadline":          context.DeadlineExceeded,
	}
}

// Pack makes JSON of an error that keeps what callers tell errors apart by.
func (l *Link) Pack(err error) json.RawMessage {
	packed, marshalErr := json.Marshal(l.pack(err))
	if marshalErr != nil {
		return json.RawMessage("{}") // a failure holds nothing that JSON cannot
	}
	return packed
}

func (l *Link) pack(err error) failure {
	packed := failure{Message: bounded(err.Error())}
	known := commonErrors()
	maps.Copy(known, l.own)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if errors.Is(err, known[name]) {
			packed.Is = append(packed.Is, name)
		}
	}
	var connect *remote.ConnectError
	if errors.As(err, &connect) {
		packed.Connect = &connectFailure{
			Host: bounded(connect.Host), Reason: string(connect.Reason), Help: bounded(connect.Help), Message: bounded(messageOf(connect.Err)),
		}
	}
	var start *remote.StartError
	if errors.As(err, &start) {
		packed.Start = &startFailure{
			Program: bounded(start.Program), Directory: bounded(start.Directory), Message: bounded(messageOf(start.Err)),
		}
	}
	return packed
}

func messageOf(err error) string {
	if err == nil {
		return "unknown reason"
	}
	return err.Error()
}

// Unpack makes an error of what Pack made, which matches the same errors.
func (l *Link) Unpack(packed json.RawMessage) error {
	var received failure
	if err := Decode(packed, &received); err != nil {
		return err
	}
	return l.unpack(received)
}

func (l *Link) unpack(received failure) error {
	known := commonErrors()
	maps.Copy(known, l.own)
	var causes []error
	for _, name := range received.Is {
		if cause := known[name]; cause != nil && !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	}
	if c := received.Connect; c != nil {
		causes = append(causes, &remote.ConnectError{
			Host: string(c.Host), Reason: remote.ConnectReason(c.Reason), Help: string(c.Help), Err: &receivedError{message: string(c.Message)},
		})
	}
	if s := received.Start; s != nil {
		return &remote.StartError{
			Program: string(s.Program), Directory: string(s.Directory), Err: &receivedError{message: string(s.Message), causes: causes},
		}
	}
	return &receivedError{message: string(received.Message), causes: causes}
}

// receivedError is an error of the other end.
type receivedError struct {
	message string
	causes  []error
}

func (e *receivedError) Error() string   { return e.message }
func (e *receivedError) Unwrap() []error { return e.causes }
