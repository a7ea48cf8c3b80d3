package daemon

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/remote"
)

// protocolVersion is the version of the messages after the header of a conversation and
// its reply.
const protocolVersion = 6

// The operations.
const (
	operationHello       = "hello"
	operationConnections = "connections"
	operationClose       = "close"
	operationStop        = "stop"

	operationSessions = "sessions"
	operationLaunch   = "session-start"
	operationAttach   = "session-attach"
	operationSend     = "session-send"
	operationEnd      = "session-end"

	operationConnect = "connect" // stays, and holds the connection, until the client goes
	operationStart   = "start"
	operationStat    = "stat"
	operationOpen    = "open"
	operationWrite   = "write"
	operationMkdir   = "mkdir"
	operationChmod   = "chmod"
	operationRemove  = "remove"
	operationListen  = "listen"
)

var (
	errOtherProtocol  = errors.New("the background process has another version")
	errTooManyClients = errors.New("too many clients at once")
)

// A Place is where a connection leads.
type Place struct {
	Transport string
	Host      string
	SSHConfig string // file, absolute; empty for the usual ones
	Agent     Agent  // that the connection has a session with; none without arguments
	// Environment are variables of the client that making the connection
	// depends on, such as SSH_AUTH_SOCK. They do not distinguish places.
	Environment map[string]string
}

// An Agent is an agent of the proxy protocol.
type Agent struct {
	Arguments   []string // its program first
	Proxy       string
	Environment map[string]string // for the agent
}

// request is the first message of a conversation. Texts are bytes, because JSON
// would change those that are not UTF-8.
type request struct {
	Place    packedPlace
	Places   []packedPlace   `json:",omitempty"` // of close
	Path     []byte          `json:",omitempty"`
	Mode     fs.FileMode     `json:",omitempty"`
	Command  packedCommand   // to start
	Terminal *packedTerminal `json:",omitempty"` // of the command or session

	Name    string      `json:",omitempty"` // of a session
	Launch  []byte      `json:",omitempty"` // the request for a session
	Yields  bool        `json:",omitempty"`
	Attach  bool        `json:",omitempty"`
	Size    remote.Size // of the attached terminal
	Prompt  bool        `json:",omitempty"` // whether a user can answer prompts
	Content []byte      `json:",omitempty"` // to send

	// The streams that the client opens for a command or session.
	Input, Output, Errors bool
	Merged                bool `json:",omitempty"` // Output is for both
}

// packedPlace is an encoded Place.
type packedPlace struct {
	Transport       string
	Host, SSHConfig []byte
	Environment     [][]byte `json:",omitempty"`

	Agent            [][]byte `json:",omitempty"` // its arguments
	Proxy            string   `json:",omitempty"`
	AgentEnvironment [][]byte `json:",omitempty"`
}

func (p Place) pack() packedPlace {
	return packedPlace{
		Transport: p.Transport, Host: []byte(p.Host), SSHConfig: []byte(p.SSHConfig), Environment: packMap(p.Environment),
		Agent: converted[[]byte](p.Agent.Arguments), Proxy: p.Agent.Proxy, AgentEnvironment: packMap(p.Agent.Environment),
	}
}

func (p packedPlace) unpack() Place {
	place := Place{Transport: p.Transport, Host: string(p.Host), SSHConfig: string(p.SSHConfig), Environment: unpackMap(p.Environment)}
	if len(p.Agent) > 0 {
		place.Agent = Agent{Arguments: converted[string](p.Agent), Proxy: p.Proxy, Environment: unpackMap(p.AgentEnvironment)}
	}
	return place
}

// packedCommand is an encoded remote.Command without its streams and terminal.
type packedCommand struct {
	Arguments          [][]byte `json:",omitempty"`
	Directory          []byte   `json:",omitempty"`
	Environment        [][]byte `json:",omitempty"`
	Unset              [][]byte `json:",omitempty"`
	ReplaceEnvironment bool     `json:",omitempty"`
	Keep               [][]byte `json:",omitempty"`
	ForwardX11         bool     `json:",omitempty"`
}

// packedTerminal is an encoded remote.Terminal.
type packedTerminal struct {
	Type string
	Size remote.Size
}

func packTerminal(t *remote.Terminal) *packedTerminal {
	if t == nil {
		return nil
	}
	return &packedTerminal{t.Type, t.Size}
}

func (t *packedTerminal) unpack(resized <-chan remote.Size) *remote.Terminal {
	if t == nil {
		return nil
	}
	return &remote.Terminal{Type: t.Type, Size: t.Size, Resized: resized}
}

// newStartRequest leaves out Foreground, which means the process group of the caller.
func newStartRequest(place Place, c remote.Command) request {
	merged := execution.SameWriter(c.Stdout, c.Stderr)
	return request{
		Place: place.pack(), Input: c.Stdin != nil, Output: c.Stdout != nil, Errors: c.Stderr != nil && !merged, Merged: merged,
		Command: packedCommand{
			Arguments: converted[[]byte](c.Arguments), Directory: []byte(c.Directory), Environment: packMap(c.Environment), Unset: converted[[]byte](c.Unset),
			ReplaceEnvironment: c.ReplaceEnvironment, Keep: converted[[]byte](c.Keep), ForwardX11: c.ForwardX11,
		},
		Terminal: packTerminal(c.Terminal),
	}
}

// command returns the command without its streams.
func (r request) command(resized <-chan remote.Size) remote.Command {
	c := r.Command
	return remote.Command{
		Arguments: converted[string](c.Arguments), Directory: string(c.Directory), Environment: unpackMap(c.Environment), Unset: converted[string](c.Unset),
		ReplaceEnvironment: c.ReplaceEnvironment, Keep: converted[string](c.Keep), Terminal: r.Terminal.unpack(resized), ForwardX11: c.ForwardX11,
	}
}

// converted turns texts into bytes, or back.
func converted[To, From string | []byte](texts []From) []To {
	list := make([]To, len(texts))
	for i, text := range texts {
		list[i] = To(text)
	}
	return list
}

// packMap returns names and values in turn, because a name may hold a "=".
func packMap(entries map[string]string) [][]byte {
	packed := make([][]byte, 0, 2*len(entries))
	for name, value := range entries {
		packed = append(packed, []byte(name), []byte(value))
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

// instruction is a message of the client while its process runs.
type instruction struct {
	Terminate bool           `json:",omitempty"`
	Signal    syscall.Signal `json:",omitempty"`
	Resize    *remote.Size   `json:",omitempty"`
}

// exit is how a process or session ended. It follows all output.
type exit struct {
	Code   int
	Failed *failure `json:",omitempty"`
}

// fileRequest asks to read from an open file, to seek in it or, if empty, to describe it.
type fileRequest struct {
	Read   int // bytes
	Seek   bool
	Offset int64
	Whence int
}

// fileAnswer answers a fileRequest.
type fileAnswer struct {
	Failed   *failure `json:",omitempty"`
	Count    int      // bytes, which precede the answer in the stream of the file
	End      bool     // of the file
	Position int64
	Info     *files.Info `json:",omitempty"`
}

// verdict is the message that ends the content of a file.
type verdict struct{ IsWhole bool }

func packInfo(info fs.FileInfo) *files.Info {
	return &files.Info{FileName: []byte(info.Name()), FileSize: info.Size(), FileMode: info.Mode(), Modified: info.ModTime()}
}

// Greeting is the description of a process.
type Greeting struct {
	Protocol   int       `json:"protocol"`
	Build      string    `json:"build"`
	Process    int       `json:"process"` // its id
	Since      time.Time `json:"since"`
	Sessions   int       `json:"sessions"`
	Goroutines int       `json:"goroutines"` // that it runs, also for this client
	Retires    bool      `json:"retires"`    // it makes room for the build of the client
}

// ConnectionInfo describes a connection that is kept.
type ConnectionInfo struct {
	Transport  string
	Host       string
	SSHConfig  string
	Agent      string    // its arguments, separated by blanks; empty without one
	Proxy      string    // of the agent
	Since      time.Time // zero while Connecting
	Used       time.Time // when it was last used
	Users      int       // operations under way and clients that hold it
	Commands   int       // run so far
	Connecting bool
	Waiting    int // clients that wait for it while Connecting
}
