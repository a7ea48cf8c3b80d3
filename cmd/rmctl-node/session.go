package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/tree"
)

const (
	// mostRequestLine bounds a line: a message in base64, and what is around it.
	mostRequestLine = 2 << 20
	mostSending     = 1024 // messages that the co-allocator has not confirmed; more wait
	mostReceiving   = 256  // requests that wait for other processes; more are refused
	// sendingTime bounds how long a session stays for its last messages.
	sendingTime = 30 * time.Second
)

// runSession exchanges messages for the program that started this one, until stdin ends. Each line of stdin is
// a request, each line of stdout an answer with the id of its request, in any order; data is base64:
//
//	< {"session":{"rank":0,"size":1,"index":0,"label":"server","ensemble":"8256972d853c"}}
//	> {"id":1,"request":"send","to":1804289383,"tag":"greeting","data":"aGVsbG8="}
//	> {"id":2,"request":"receive","tag":"answer","timeout":30}
//	< {"id":1}
//	< {"id":2,"message":{"from":1804289383,"data":"d29ybGQ="}}
//
// The requests are exchange (name, data, timeout; answer: parts), receive (tag, from or fromRank, timeout;
// answer: message), send (to or toRank, tag, data) and structure (timeout; answer: structure). A failed request
// has error and code, an exit code. An error without id ends the session.
func runSession(ctx context.Context, arguments []string) int {
	if len(arguments) > 0 {
		return wrongUsage("session", "")
	}
	p, err := currentProcess()
	if err != nil {
		return fail(err)
	}
	session, err := p.open(ctx)
	if err != nil {
		return failRequest(err)
	}
	streams := standardStreams()
	var closing sync.WaitGroup
	closing.Go(func() {
		<-session.Done()
		_ = streams.input.Close() // ends the read of the next line
	})
	c := &conversation{session: session, output: json.NewEncoder(streams), sending: make(chan struct{}, mostSending), receiving: make(chan struct{}, mostReceiving)}
	c.print(sessionAnswer{Session: &sessionStart{Rank: session.Rank(), Size: session.Size(), Index: p.pass.Index, Label: p.pass.Label, Ensemble: p.pass.Ensemble}})
	err = c.serve(ctx, streams)
	ended := session.Err() // of the co-allocator, before this end closes it
	_ = session.Close()    // nothing else is sent
	closing.Wait()
	if ended != nil {
		err = ended
	}
	return conclude(err)
}

// A sessionStart is the first line of a session.
type sessionStart struct {
	Rank     int    `json:"rank"`
	Size     int    `json:"size"`
	Index    int    `json:"index"`
	Label    string `json:"label"`
	Ensemble string `json:"ensemble"`
}

// A sessionAnswer is a line of stdout.
type sessionAnswer struct {
	ID        int64                    `json:"id,omitempty"` // of the request; 0: of the session
	Error     string                   `json:"error,omitempty"`
	Code      int                      `json:"code,omitempty"` // the exit code that a command would have
	Session   *sessionStart            `json:"session,omitempty"`
	Structure *rendezvous.Structure    `json:"structure,omitempty"`
	Message   *receivedMessage         `json:"message,omitempty"`
	Parts     []rendezvous.Information `json:"parts,omitempty"`
}

// A conversation is a session with a program.
type conversation struct {
	session            *rendezvous.Session
	sending, receiving chan struct{} // hold something for each request
	tasks              sync.WaitGroup

	mutex  sync.Mutex
	output *json.Encoder
	failed error // of output
}

func (c *conversation) print(answer sessionAnswer) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.failed == nil {
		c.failed = c.output.Encode(answer)
	}
}

func (c *conversation) problem() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.failed
}

// report prints the error of a request. The text may be of other processes.
func (c *conversation) report(id int64, err error) {
	c.print(sessionAnswer{ID: id, Error: tree.OneLine(err.Error()), Code: codeOf(err)})
}

// serve answers requests until input ends. It waits for the confirmation of messages then, and gives up
// the requests that wait for other processes.
func (c *conversation) serve(ctx context.Context, input io.Reader) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	lines := bufio.NewScanner(input)
	lines.Buffer(make([]byte, 0, 64<<10), mostRequestLine)
	for lines.Scan() && c.problem() == nil {
		request, err := parseRequest(lines.Bytes())
		if err != nil {
			c.report(request.ID, err)
			continue
		}
		c.handle(waiting, leaving, request)
	}
	if c.session.Err() == nil { // otherwise waiting requests report its error
		cancel()
	}
	timer := time.AfterFunc(sendingTime, leave)
	defer timer.Stop()
	c.tasks.Wait()
	err := errors.Join(lines.Err(), c.problem())
	if ended := c.session.Err(); ended != nil {
		err = ended // and so the input was closed
	}
	if err != nil {
		c.report(0, err)
	}
	return err
}

// handle begins a request. Messages leave in the order of the lines.
func (c *conversation) handle(waiting, leaving context.Context, r sessionRequest) {
	if r.Request == requestSend {
		c.sending <- struct{}{}
		wait := c.session.Post(destinationOf(r.To, r.ToRank), r.Tag, r.Data)
		c.tasks.Go(func() {
			defer func() { <-c.sending }()
			if err := wait(leaving); err != nil {
				c.report(r.ID, err)
				return
			}
			c.print(sessionAnswer{ID: r.ID})
		})
		return
	}
	select {
	case c.receiving <- struct{}{}:
	default:
		c.report(r.ID, &rendezvous.RequestError{Reason: "too many requests wait for answers"})
		return
	}
	c.tasks.Go(func() {
		defer func() { <-c.receiving }()
		ctx := waiting
		if r.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(waiting, r.limit())
			defer cancel()
		}
		answer, err := c.request(ctx, r)
		switch {
		case err == nil:
			answer.ID = r.ID
			c.print(answer)
		case waiting.Err() == nil: // the program still wants the answer
			c.report(r.ID, err)
		}
	})
}

// request executes a request, and waits for its result.
func (c *conversation) request(ctx context.Context, r sessionRequest) (answer sessionAnswer, err error) {
	switch r.Request {
	case requestStructure:
		var structure rendezvous.Structure
		structure, err = c.session.Structure(ctx)
		answer.Structure = &structure
	case requestReceive:
		var message rendezvous.Message
		message, err = c.session.Receive(ctx, filterOf(r.Tag, r.From, r.FromRank))
		received := messageOf(message)
		answer.Message = &received
	case requestExchange:
		answer.Parts, err = c.session.Exchange(ctx, r.Name, r.Data)
	}
	return answer, err
}
