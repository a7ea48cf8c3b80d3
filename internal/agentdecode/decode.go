// Package agentdecode decodes messages of the proxy protocol from a trace or from one direction of a
// stream.
package agentdecode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/rmctl/rmctl/proxy"
)

// A message is one decoded message, printed as text or JSON.
type message struct {
	Line        int          `json:"line,omitempty"`  // line of a trace
	Frame       int          `json:"frame,omitempty"` // frame number of a stream
	From        string       `json:"from,omitempty"`  // "client" or "agent"
	Name        string       `json:"name,omitempty"`  // such as NEW_JOB
	Transaction *uint32      `json:"transaction,omitempty"`
	Answers     string       `json:"answers,omitempty"` // name of the command, if it is in the trace
	Parent      string       `json:"parent,omitempty"`
	Attributes  []attribute  `json:"attributes,omitempty"`
	Groups      []group      `json:"groups,omitempty"`
	Definitions []definition `json:"definitions,omitempty"`
	Arguments   []string     `json:"arguments,omitempty"` // of messages without a known meaning
	Closed      bool         `json:"closed,omitempty"`    // the connection ended
	Error       string       `json:"error,omitempty"`     // why the message cannot be decoded
}

type attribute struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

type group struct {
	IDs        string      `json:"ids"`
	Count      int         `json:"count"`
	Attributes []attribute `json:"attributes,omitempty"`
}

type definition struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Display     bool     `json:"display"`
	Default     string   `json:"default"`
	Values      []string `json:"values,omitempty"`
	Minimum     string   `json:"minimum,omitempty"`
	Maximum     string   `json:"maximum,omitempty"`
	DateStyle   string   `json:"dateStyle,omitempty"`
	TimeStyle   string   `json:"timeStyle,omitempty"`
	Locale      string   `json:"locale,omitempty"`
}

// The two ends of a session.
const (
	client = "client"
	agent  = "agent"
)

// longestLine bounds a line of a trace: a frame of 16 MiB in which every byte is escaped.
const longestLine = 4*16<<20 + 16

// messages yields the messages of a trace or of the frames of one direction, including those that cannot
// be decoded. The error is a read error.
func messages(r io.Reader) iter.Seq2[message, error] {
	buffered := bufio.NewReader(r)
	start, err := buffered.Peek(3)
	switch {
	case err != nil && err != io.EOF:
		return func(yield func(message, error) bool) { yield(message{}, err) }
	case string(start) == "C> " || string(start) == "<E ":
		return trace(buffered)
	}
	return stream(buffered)
}

// trace yields the messages of a trace.
func trace(r io.Reader) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, longestLine)
		session := session{}
		number := 0
		for lines.Scan() {
			number++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			if !yield(session.line(number, lines.Text()), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(message{}, fmt.Errorf("line %d: %w", number+1, err))
		}
	}
}

// stream yields the messages of frames. The first one shows which end sent them.
func stream(r io.Reader) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		reader := proxy.NewReader(r)
		session := session{}
		from := ""
		for number := 1; ; number++ {
			frame, err := reader.Read()
			if err == io.EOF {
				return
			}
			decoded := message{Frame: number, From: from}
			broken, isBroken := errors.AsType[*proxy.FrameError](err)
			switch {
			case isBroken:
				decoded.Error = broken.Error()
			case errors.Is(err, io.ErrUnexpectedEOF):
				decoded.Error = "the stream ends inside a frame"
			case err != nil:
				yield(message{}, err)
				return
			default:
				if from == "" {
					from = sender(frame)
				}
				decoded.From = from
				session.decode(&decoded, frame)
			}
			if !yield(decoded, nil) || decoded.Error != "" && (!isBroken || broken.Ends) {
				return
			}
		}
	}
}

// sender returns the end that begins with such a frame: commands and updates share some ids.
func sender(frame proxy.Frame) string {
	command := proxy.ParseCommand(frame)
	version, _ := command.Attributes.Value("version")
	_, isSubmission := command.Attributes.Value("jobSubId")
	_, isTermination := command.Attributes.Value("jobId")
	switch command.ID {
	case proxy.ModelDefinition, proxy.StartEvents, proxy.StopEvents, proxy.MoveJob, proxy.FilterEvents, proxy.ChangeJob:
		return client
	case proxy.Init:
		if strings.Contains(version, ".") { // otherwise it is the count of a MESSAGE
			return client
		}
	case proxy.SubmitJob:
		if isSubmission {
			return client
		}
	case proxy.TerminateJob:
		if isTermination {
			return client
		}
	}
	return agent
}

// mostOpen bounds the unanswered commands that are remembered.
const mostOpen = 10_000

// A session has the unanswered commands by transaction.
type session map[uint32]string

// line decodes a line of a trace.
func (s session) line(number int, text string) message {
	decoded := message{Line: number, From: client}
	line, err := proxy.ParseLine(text)
	if line.FromAgent || len(text) > 0 && text[0] == '<' {
		decoded.From = agent
	}
	switch {
	case err != nil:
		decoded.Error = err.Error()
	case line.Closed:
		decoded.Closed = true
	default:
		s.decode(&decoded, line.Frame)
	}
	return decoded
}

// decode adds the meaning of a frame.
func (s session) decode(to *message, frame proxy.Frame) {
	to.Transaction = &frame.Transaction
	if to.From == client {
		command := proxy.ParseCommand(frame)
		to.Name, to.Attributes, to.Arguments = command.Name(), attributesOf(command.Attributes), command.Arguments
		if len(s) < mostOpen {
			s[command.Transaction] = command.Name()
		}
		return
	}
	update, err := proxy.ParseUpdate(frame)
	if err != nil {
		to.Error, to.Arguments = err.Error(), frame.Arguments
		return
	}
	to.Name, to.Parent = update.Name(), update.Parent
	to.Attributes, to.Arguments = attributesOf(update.Attributes), update.Arguments
	for _, each := range update.Groups {
		to.Groups = append(to.Groups, group{each.IDs.String(), each.IDs.Len(), attributesOf(each.Attributes)})
	}
	for _, each := range update.Definitions {
		to.Definitions = append(to.Definitions, definition{
			ID: each.ID, Type: each.Type, Name: each.Name, Description: each.Description, Display: each.Display, Default: each.Default,
			Values: each.Values, Minimum: each.Minimum, Maximum: each.Maximum, DateStyle: each.DateStyle, TimeStyle: each.TimeStyle, Locale: each.Locale,
		})
	}
	if answers(update) {
		to.Answers = s[update.Transaction]
		delete(s, update.Transaction)
	}
}

// answers reports whether an update completes a command.
func answers(update proxy.Update) bool {
	switch update.Change {
	case proxy.OK:
		return len(update.Arguments) == 0
	case proxy.Error, proxy.SubmitError, proxy.TerminateError, proxy.ShutDown:
		return true
	}
	return false
}

func attributesOf(attributes proxy.Attributes) []attribute {
	var shown []attribute
	for _, each := range attributes {
		shown = append(shown, attribute(each))
	}
	return shown
}
