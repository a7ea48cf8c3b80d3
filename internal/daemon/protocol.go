package daemon

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"time"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/relay"
	"github.com/rmctl/rmctl/remote/wire"
)

// Protocol is the version of what clients and the process say to each other,
// beside what package relay does. What is said of hello stays the same in all
// versions.
const Protocol = 2

// What a conversation is about, beside those of package relay.
const (
	operationHello       = "hello"
	operationConnections = "connections"
	operationClose       = "close"
	operationStop        = "stop"
	operationSessions    = "sessions"
	operationLaunch      = "session-start"
	operationAttach      = "session-attach"
	operationSend        = "session-send"
	operationEnd         = "session-end"
)

// The frames of a conversation.
const (
	frameItem   wire.Kind = 'i' // of a list, before the frame that ends it
	frameDone   wire.Kind = 'd'
	frameExit   wire.Kind = 'x'
	frameResize wire.Kind = 'r'
	frameSignal wire.Kind = 's'
)

// The streams of a conversation.
const (
	streamInput  = 0
	streamOutput = 1
	streamErrors = 2
)

// request is the header of a conversation.
type request struct {
	Protocol  int
	Operation string
	Build     string        `json:",omitempty"` // of hello: the client's
	Places    []packedPlace `json:",omitempty"` // of close
	Name      string        `json:",omitempty"` // of a session
	Launch    *packedLaunch `json:",omitempty"`
	Attach    *packedAttach `json:",omitempty"`
}

// packedPlace is a place on its way: texts as bytes, which JSON does not change.
type packedPlace struct {
	Transport       string
	Host, SSHConfig []byte
}

// packedLaunch is a Launch on its way.
type packedLaunch struct {
	Request      []byte
	Terminal     bool
	TerminalType string
	Size         remote.Size
}

// packedAttach is an Attachment on its way.
type packedAttach struct {
	Input  bool
	Size   remote.Size
	Prompt bool // whether there may be somebody to ask
}

// exit is how a session ended.
type exit struct {
	Code   int
	Failed []byte `json:",omitempty"` // an error as wire packs it
}

// Greeting is what the process says of itself.
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
	Since      time.Time // zero while Connecting
	Used       time.Time // when somebody used it last
	Users      int       // operations under way and clients that hold it
	Commands   int       // run so far
	Connecting bool
	Waiting    int // clients that wait for it while Connecting
}

// Place returns where the connection leads.
func (i ConnectionInfo) Place() relay.Place {
	return relay.Place{Transport: i.Transport, Host: i.Host, SSHConfig: i.SSHConfig}
}

// errorsByName are those that conversations pass on beside those of package remote.
func errorsByName() map[string]error {
	known := map[string]error{
		"no-session": ErrNoSession, "session-exists": ErrSessionExists, "too-slow": ErrTooSlow,
		"sessions-live": ErrSessionsLive,
	}
	maps.Copy(known, relay.Errors())
	return known
}

// handle takes part in one conversation.
func (p *process) handle(ctx context.Context, link *wire.Link, header []byte) {
	p.arrive()
	defer p.depart()
	var asked request
	if err := wire.Decode(header, &asked); err != nil {
		_ = link.Fail(err) // a client that went away needs no answer
		return
	}
	converse := p.operation(asked.Operation)
	if converse == nil {
		relay.Handle(ctx, link, header, p.pool)
		return
	}
	c := &conversation{link: link, asked: asked, stop: func() {}}
	var err error
	if asked.Protocol != Protocol && asked.Operation != operationHello {
		err = fmt.Errorf("%w: it speaks version %d, not %d", relay.ErrOtherProtocol, Protocol, asked.Protocol)
	} else {
		err = converse(ctx, c)
	}
	if err != nil && ctx.Err() == nil { // a process that ends is gone, and refuses nothing
		_ = link.Fail(err)
	}
	c.stop()
}

// conversation is the process's side of one.
type conversation struct {
	link  *wire.Link
	asked request
	stop  func()
}

// listen reads what the client says from now on.
func (c *conversation) listen(ctx context.Context, handle func(wire.Kind, []byte) error) context.Context {
	ctx, c.stop = c.link.Listen(ctx, nil, handle)
	return ctx
}

// operation returns what takes part in conversations of that kind, nil for
// those of package relay.
func (p *process) operation(name string) func(context.Context, *conversation) error {
	switch name {
	case operationHello:
		return p.hello
	case operationConnections:
		return p.listConnections
	case operationClose:
		return p.closeConnections
	case operationStop:
		return p.stopProcess
	case operationSessions:
		return p.sessions.list
	case operationLaunch:
		return p.sessions.launch
	case operationAttach:
		return p.sessions.attach
	case operationSend:
		return p.sessions.send
	case operationEnd:
		return p.sessions.endOne
	}
	return nil
}

// hello tells what this process is. To a client of another build it makes
// room, unless it hosts sessions; one that tells no build takes any.
func (p *process) hello(_ context.Context, c *conversation) error {
	greeting := Greeting{
		Protocol: Protocol, Build: p.options.Build, Process: os.Getpid(), Since: p.began, Sessions: p.sessions.count(),
		Goroutines: runtime.NumGoroutine(),
	}
	greeting.Retires = c.asked.Build != "" && c.asked.Build != p.options.Build && greeting.Sessions == 0
	if greeting.Retires {
		p.options.Log.Info("making room for another build", "build", c.asked.Build)
		p.retire()
	}
	return c.link.SendValue(frameDone, greeting)
}

func (p *process) listConnections(_ context.Context, c *conversation) error {
	return c.sendConnections(p.pool.list())
}

func (p *process) closeConnections(_ context.Context, c *conversation) error {
	var places []relay.Place
	for _, place := range c.asked.Places {
		places = append(places, relay.Place{Transport: place.Transport, Host: string(place.Host), SSHConfig: string(place.SSHConfig)})
	}
	if len(places) == 0 {
		return c.sendConnections(nil)
	}
	return c.sendConnections(p.pool.closePlaces(places))
}

// stopProcess closes all connections and ends the process.
func (p *process) stopProcess(_ context.Context, c *conversation) error {
	if living := p.sessions.count(); living > 0 {
		return fmt.Errorf("%w: %d of them", ErrSessionsLive, living)
	}
	closed := p.pool.closePlaces(nil)
	p.retire()
	err := c.sendConnections(closed)
	p.end()
	return err
}

// sendConnections sends a list, whose elements may be longer together than a frame.
func (c *conversation) sendConnections(list []ConnectionInfo) error {
	for _, one := range list {
		if err := c.link.SendValue(frameItem, one); err != nil {
			return err
		}
	}
	return c.link.SendValue(frameDone, struct{}{})
}
