package agenttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rmctl/rmctl/proxy"
	"github.com/rmctl/rmctl/remote"
)

// An Agent is an agent scripted by a test.
type Agent struct {
	Input  io.Reader
	Output io.Writer

	reader *proxy.Reader
	events uint32 // transaction of the last START_EVENTS
}

// errDone ends an agent.
var errDone = errors.New("the agent ends")

// Acting returns a place where act is the agent. The agent ends when act returns or its client
// disconnects.
func Acting(act func(a *Agent)) *Place {
	return &Place{Agent: func(_ context.Context, command remote.Command) (code int) {
		defer func() {
			if cause := recover(); cause != nil {
				if cause != errDone {
					fmt.Fprintln(os.Stderr, "agent:", cause)
				}
				code = 1
			}
		}()
		act(&Agent{Input: command.Stdin, Output: command.Stdout, reader: proxy.NewReader(command.Stdin)})
		return 0
	}}
}

// Next waits for a command.
func (a *Agent) Next() proxy.Command {
	frame, err := a.reader.Read()
	if err != nil {
		panic(errDone)
	}
	command := proxy.ParseCommand(frame)
	if command.ID == proxy.StartEvents {
		a.events = command.Transaction
	}
	return command
}

// Await waits for a command of one kind.
func (a *Agent) Await(id proxy.CommandID) proxy.Command {
	for {
		if command := a.Next(); command.ID == id {
			return command
		}
	}
}

// Begin answers commands until START_EVENTS, which it returns. With features, the agent acts as rmctl.
func (a *Agent) Begin(features string, definitions ...proxy.Definition) proxy.Command {
	a.OK(a.Await(proxy.Init))
	asked := a.Await(proxy.ModelDefinition)
	if features != "" {
		definitions = append([]proxy.Definition{{ID: proxy.FeaturesAttribute, Type: "STRING", Default: features}}, definitions...)
	}
	if len(definitions) > 0 {
		a.Send(proxy.Update{Change: proxy.Defined, Transaction: asked.Transaction, Definitions: definitions})
	}
	a.OK(asked)
	return a.Await(proxy.StartEvents)
}

// OK completes a command.
func (a *Agent) OK(command proxy.Command) {
	a.Send(proxy.Update{Transaction: command.Transaction})
}

// Send sends updates unchanged.
func (a *Agent) Send(updates ...proxy.Update) {
	var text []byte
	for _, update := range updates {
		text = update.Frame().Append(text)
	}
	a.Write(text)
}

// Write sends bytes.
func (a *Agent) Write(text []byte) {
	if _, err := a.Output.Write(text); err != nil {
		panic(errDone)
	}
}

// Events sends events, each a line of words: the id of the frame in hexadecimal and its
// arguments, such as "e0 0 1 5 1 name=batch". An underscore in an argument is a blank, ^ a line break.
func (a *Agent) Events(lines ...string) {
	var text []byte
	for _, line := range lines {
		words := strings.Fields(line)
		frame := proxy.Frame{Transaction: a.events}
		if _, err := fmt.Sscanf(words[0], "%x", &frame.ID); err != nil {
			panic(err)
		}
		for _, word := range words[1:] {
			frame.Arguments = append(frame.Arguments, blanks.Replace(word))
		}
		text = frame.Append(text)
	}
	a.Write(text)
}

var blanks = strings.NewReplacer("_", " ", "^", "\n")
