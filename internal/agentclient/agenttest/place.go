package agenttest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/rmctl/rmctl/remote"
)

// Main plays a script as a program with the arguments [--proxy=stdio|tcp --host=HOST --port=PORT] FILE,
// in any order. It returns the exit code.
func Main(arguments []string) int {
	if err := run(arguments); err != nil {
		fmt.Fprintln(os.Stderr, "play-agent:", err)
		return 1
	}
	return 0
}

func run(arguments []string) error {
	var file, host, port, way string
	for _, argument := range arguments {
		name, value, isOption := strings.Cut(argument, "=")
		switch {
		case isOption && name == "--proxy":
			way = value
		case isOption && name == "--host":
			host = value
		case isOption && name == "--port":
			port = value
		default:
			file = argument
		}
	}
	script, err := Read(file)
	if err != nil {
		return err
	}
	if way != "tcp" {
		return script.Play(os.Stdin, os.Stdout)
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return script.Play(conn, conn)
}

// A Place is a connection whose only program is an agent in a goroutine.
type Place struct {
	remote.Connection // nil: nothing else works

	// Agent is the program: it uses command.Stdin and command.Stdout and returns its exit code.
	// Terminating it cancels ctx.
	Agent func(ctx context.Context, command remote.Command) int
}

// Start implements remote.Connection.
func (p *Place) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	input, feed := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	h := &handle{cancel: cancel, done: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { _ = feed.Close() })
	if given := command.Stdin; given != nil {
		go func() { // do not wait for a pending Read, like every connection
			_, err := io.Copy(feed, given)
			_ = feed.CloseWithError(err)
		}()
	}
	command.Stdin = input
	go func() {
		defer close(h.done)
		h.code = p.Agent(ctx, command)
		stop()
		_ = input.Close()
	}()
	return h, nil
}

// A handle is the handle of an agent in a goroutine.
type handle struct {
	cancel context.CancelFunc
	done   chan struct{}
	code   int
}

// Wait implements remote.Handle.
func (h *handle) Wait() (int, error) {
	<-h.done
	h.cancel()
	return h.code, nil
}

// Terminate implements remote.Handle.
func (h *handle) Terminate() { h.cancel() }

// Signal implements remote.Handle.
func (h *handle) Signal(syscall.Signal) error {
	h.cancel()
	return nil
}

// Playing returns a place where a script is the agent.
func Playing(script *Script) *Place {
	return &Place{Agent: func(_ context.Context, command remote.Command) int {
		if err := script.Play(command.Stdin, command.Stdout); err != nil {
			return 1
		}
		return 0
	}}
}
