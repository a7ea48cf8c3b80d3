// Package relay serves connections to other processes of the same user over a
// unix socket, and is the client that is a remote.Connection itself. So one
// process can hold a connection that many use.
//
// Each operation has a conversation of its own (see package wire). When a
// client goes away, what it had started ends.
package relay

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/wire"
)

// Protocol is the version of what clients and servers say to each other. Both
// have to be of the same.
const Protocol = 1

// ErrOtherProtocol tells that client and server are of different versions.
var ErrOtherProtocol = errors.New("the process that holds connections is of another version")

// A Place is where a connection leads.
type Place struct {
	Transport string
	Host      string
	SSHConfig string // file, absolute; empty for the usual ones
	// Environment are variables of the client that making the connection
	// depends on, such as SSH_AUTH_SOCK. They do not tell places apart.
	Environment map[string]string
}

// A Provider gives the connections that clients ask for.
type Provider interface {
	// Connection returns the connection to a place, making it if there is
	// none. It may be used until release is called. Prompter asks the client.
	Connection(ctx context.Context, place Place, prompter remote.Prompter) (connection remote.Connection, release func(), err error)
}

// What a conversation is about.
const (
	operationConnect = "connect" // stays, and holds the connection, until the client goes
	operationStart   = "start"
	operationStat    = "stat"
	operationOpen    = "open"
	operationWrite   = "write"
	operationMkdir   = "mkdir"
	operationChmod   = "chmod"
	operationRemove  = "remove"
)

// The streams of a conversation.
const (
	streamInput  = 0 // of a process, or the content of a file
	streamOutput = 1
	streamErrors = 2
)

// The frames of a conversation.
const (
	frameDone      wire.Kind = 'd' // the operation is done, with what it returns; or that the process was started
	frameExit      wire.Kind = 'x' // the process has ended
	frameResize    wire.Kind = 'r'
	frameSignal    wire.Kind = 's'
	frameTerminate wire.Kind = 't'
	frameRead      wire.Kind = 'R' // of an open file
	frameSeek      wire.Kind = 'K'
	frameStat      wire.Kind = 'S'
	frameFile      wire.Kind = 'F' // the answer to these
)

// request is the header of a conversation. Texts are bytes, because JSON would
// change those that are not UTF-8.
type request struct {
	Protocol    int
	Operation   string
	Transport   string
	Host        []byte
	SSHConfig   []byte   `json:",omitempty"`
	Environment [][]byte `json:",omitempty"`
	Path        []byte   `json:",omitempty"`
	Mode        uint32   `json:",omitempty"`
	Command     *command `json:",omitempty"`
}

func newRequest(operation string, place Place) request {
	return request{
		Protocol: Protocol, Operation: operation,
		Transport: place.Transport, Host: []byte(place.Host), SSHConfig: []byte(place.SSHConfig), Environment: packMap(place.Environment),
	}
}

func (r request) place() Place {
	return Place{Transport: r.Transport, Host: string(r.Host), SSHConfig: string(r.SSHConfig), Environment: unpackMap(r.Environment)}
}

// command is a remote.Command on its way.
type command struct {
	Arguments          [][]byte
	Directory          []byte   `json:",omitempty"`
	Environment        [][]byte `json:",omitempty"`
	Unset              [][]byte `json:",omitempty"`
	ReplaceEnvironment bool     `json:",omitempty"`
	Keep               [][]byte `json:",omitempty"`
	Input              bool     `json:",omitempty"`
	Output             bool     `json:",omitempty"`
	Errors             bool     `json:",omitempty"`
	Merged             bool     `json:",omitempty"`
	Terminal           bool     `json:",omitempty"`
	TerminalType       string   `json:",omitempty"`
	Size               remote.Size
	ForwardX11         bool `json:",omitempty"`
}

// packCommand leaves out Foreground: it means this process's group, and the
// process that starts the command is another one.
func packCommand(c remote.Command, merged bool) *command {
	packed := &command{
		Arguments: packList(c.Arguments), Directory: []byte(c.Directory), Environment: packMap(c.Environment),
		Unset: packList(c.Unset), ReplaceEnvironment: c.ReplaceEnvironment, Keep: packList(c.Keep),
		Input: c.Stdin != nil, Output: c.Stdout != nil, Errors: c.Stderr != nil && !merged, Merged: merged, ForwardX11: c.ForwardX11,
	}
	if c.Terminal != nil {
		packed.Terminal, packed.TerminalType, packed.Size = true, c.Terminal.Type, c.Terminal.Size
	}
	return packed
}

// unpack returns the command without its streams.
func (c *command) unpack(resized <-chan remote.Size) remote.Command {
	unpacked := remote.Command{
		Arguments: unpackList(c.Arguments), Directory: string(c.Directory), Environment: unpackMap(c.Environment),
		Unset: unpackList(c.Unset), ReplaceEnvironment: c.ReplaceEnvironment, Keep: unpackList(c.Keep), ForwardX11: c.ForwardX11,
	}
	if c.Terminal {
		unpacked.Terminal = &remote.Terminal{Type: c.TerminalType, Size: c.Size, Resized: resized}
	}
	return unpacked
}

func packList(texts []string) [][]byte {
	packed := make([][]byte, len(texts))
	for i, text := range texts {
		packed[i] = []byte(text)
	}
	return packed
}

func unpackList(packed [][]byte) []string {
	texts := make([]string, len(packed))
	for i, text := range packed {
		texts[i] = string(text)
	}
	return texts
}

// packMap makes a list of names and values in turn: a name may hold a "=".
func packMap(entries map[string]string) [][]byte {
	packed := make([][]byte, 0, 2*len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		packed = append(packed, []byte(name), []byte(entries[name]))
	}
	return packed
}

func unpackMap(packed [][]byte) map[string]string {
	entries := make(map[string]string, len(packed)/2)
	for i := 0; i+1 < len(packed); i += 2 {
		entries[string(packed[i])] = string(packed[i+1])
	}
	return entries
}

// exit is how a process ended.
type exit struct {
	Code   int
	Failed []byte `json:",omitempty"` // an error as wire packs it
}

// fileInfo is an fs.FileInfo on its way.
type fileInfo struct {
	FileName []byte
	FileSize int64
	FileMode fs.FileMode
	Modified time.Time
}

func packInfo(info fs.FileInfo) fileInfo {
	return fileInfo{FileName: []byte(info.Name()), FileSize: info.Size(), FileMode: info.Mode(), Modified: info.ModTime()}
}

func (i fileInfo) Name() string       { return string(i.FileName) }
func (i fileInfo) Size() int64        { return i.FileSize }
func (i fileInfo) Mode() fs.FileMode  { return i.FileMode }
func (i fileInfo) ModTime() time.Time { return i.Modified }
func (i fileInfo) IsDir() bool        { return i.FileMode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

// ownErrors are those that conversations pass on beside those of package remote.
func ownErrors() map[string]error {
	return map[string]error{"other-protocol": ErrOtherProtocol, "too-many-clients": wire.ErrTooManyClients}
}

// describe names what is done to a path, for errors.
func describe(operation string) string {
	switch operation {
	case operationStat:
		return "describing"
	case operationMkdir:
		return "creating directory"
	case operationChmod:
		return "changing the permissions of"
	default:
		return strings.TrimSuffix(operation, "e") + "ing"
	}
}
