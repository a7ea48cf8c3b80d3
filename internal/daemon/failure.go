package daemon

import (
	"context"
	"errors"
	"io/fs"

	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/remote"
)

// longestText bounds each text of an error, a question or an answer.
const longestText = 4 << 10

// bounded cuts a text that is too long.
func bounded(text string) string {
	if len(text) <= longestText {
		return text
	}
	return text[:longestText] + "…"
}

// failure is an encoded error. Texts are bytes, because JSON changes strings that are
// not UTF-8.
type failure struct {
	Message []byte
	Is      []string        `json:",omitempty"` // names of the errors that it matches
	Connect *connectFailure `json:",omitempty"`
	Start   *startFailure   `json:",omitempty"`
	Listen  *listenFailure  `json:",omitempty"`
}

type connectFailure struct {
	Reason              string
	Host, Help, Message []byte
}

type startFailure struct {
	Program, Directory, Message []byte
}

type listenFailure struct{ Host, Help, Message []byte }

// knownErrors are the errors that keep their identity at the other end.
func knownErrors() map[string]error {
	return map[string]error{
		"not-exist":         fs.ErrNotExist,
		"exist":             fs.ErrExist,
		"permission":        fs.ErrPermission,
		"command-not-found": remote.ErrCommandNotFound,
		"unreachable":       remote.ErrUnreachable,
		"nobody-to-ask":     remote.ErrNobodyToAsk,
		"canceled":          context.Canceled,
		"deadline":          context.DeadlineExceeded,
		"other-protocol":    errOtherProtocol,
		"too-many-clients":  errTooManyClients,
		"no-session":        ErrNoSession,
		"session-exists":    ErrSessionExists,
		"leaving":           ErrLeaving,
		"sessions-live":     errSessionsLive,
		"too-slow":          ErrTooSlow,
	}
}

// pack encodes an error with everything that callers distinguish errors by. pack(nil) is nil.
func pack(err error) *failure {
	if err == nil {
		return nil
	}
	packed := &failure{Message: packText(err.Error()), Is: peer.NamesOf(err, knownErrors())}
	if connect, isConnect := errors.AsType[*remote.ConnectError](err); isConnect {
		packed.Connect = &connectFailure{
			Host: packText(connect.Host), Reason: string(connect.Reason), Help: packText(connect.Help), Message: packText(messageOf(connect.Err)),
		}
	}
	if start, isStart := errors.AsType[*remote.StartError](err); isStart {
		packed.Start = &startFailure{
			Program: packText(start.Program), Directory: packText(start.Directory), Message: packText(messageOf(start.Err)),
		}
	}
	if listen, isListen := errors.AsType[*remote.ListenError](err); isListen {
		packed.Listen = &listenFailure{packText(listen.Host), packText(listen.Help), packText(messageOf(listen.Err))}
	}
	return packed
}

func packText(text string) []byte { return []byte(bounded(text)) }

func messageOf(err error) string {
	if err == nil {
		return "unknown reason"
	}
	return err.Error()
}

// unpack returns a *peer.ReceivedError that matches the same errors as the encoded one, nil
// for a nil failure.
func (f *failure) unpack() error {
	if f == nil {
		return nil
	}
	causes := peer.Named(f.Is, knownErrors())
	if c := f.Connect; c != nil {
		causes = append(causes, &remote.ConnectError{
			Host: string(c.Host), Reason: remote.ConnectReason(c.Reason), Help: string(c.Help), Err: &peer.ReceivedError{Message: string(c.Message)},
		})
	}
	if l := f.Listen; l != nil {
		causes = append(causes, &remote.ListenError{Host: string(l.Host), Help: string(l.Help), Err: &peer.ReceivedError{Message: string(l.Message)}})
	}
	if s := f.Start; s != nil {
		causes = []error{&remote.StartError{
			Program: string(s.Program), Directory: string(s.Directory), Err: &peer.ReceivedError{Message: string(s.Message), Causes: causes},
		}}
	}
	return &peer.ReceivedError{Message: string(f.Message), Causes: causes}
}
