package sdm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/proxy"
)

const (
	// answerLimit bounds how long ranks take to answer a command.
	answerLimit = 30 * time.Second
	// startLimit bounds how long ranks take to start: debuggers read the symbols of a large program then.
	startLimit = 2 * time.Minute
	// mostCommands bounds the commands that wait; then their reader waits, too.
	mostCommands = 1000
	// mostUrgent bounds the commands that run in parallel to others.
	mostUrgent = 16
)

// A master executes the commands of a client, and reports the changes of ranks.
type master struct {
	session *debug.Session
	client  *controller
	size    int
	joined  <-chan struct{} // closed once each server has said who it is, or could not be reached

	urgent  chan struct{} // one element for each urgent command
	wake    chan struct{} // there may be stops to report that were held
	stopped chan struct{} // a rank that is starting has stopped

	mutex       sync.Mutex
	hasStarted  bool
	transaction uint32 // of the command that came last
	processes   []process
	points      []point
	expressions []expression

	lastExpression int
}

// A process is what the master knows about a rank in addition to the session.
type process struct {
	ran        uint32 // the transaction of the command that let it run last
	isPending  bool   // that command has no answer yet
	hasRun     bool   // since that command
	isStarting bool   // its next stop answers STARTSESSION
	isKilled   bool   // its end is no news
	isLost     bool   // which was reported
	thread     int    // selected; 0 for the one that stopped
	frame      int    // selected
}

func newMaster(session *debug.Session, client *controller, size int, joined <-chan struct{}) *master {
	return &master{
		session: session, client: client, size: size, joined: joined, processes: make([]process, size),
		urgent: make(chan struct{}, mostUrgent), wake: make(chan struct{}, 1), stopped: make(chan struct{}, 1),
	}
}

// run serves the client until it ends the session. A connection that ends without that is an error.
func (m *master) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer m.client.end()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = m.client.conn.SetReadDeadline(time.Now()) })()
	commands := make(chan *call, mostCommands)
	tasks.Go(m.client.write)
	tasks.Go(func() { m.follow(ctx) })
	tasks.Go(func() {
		for c := range commands {
			m.carryOut(ctx, c)
		}
	})
	defer close(commands)
	return m.read(ctx, commands, &tasks)
}

// read reads commands until the client ends the session.
func (m *master) read(ctx context.Context, commands chan<- *call, tasks *sync.WaitGroup) error {
	for {
		frame, err := m.client.reader.Read()
		var broken *proxy.FrameError
		switch {
		case errors.As(err, &broken) && !broken.Ends:
			m.client.send(proxy.Frame{ID: eventError, Arguments: append([]string{formatSet(nil, m.size)}, failure(codeDebugger, broken.Error()).arguments...)})
			continue
		case err != nil:
			return fmt.Errorf("reading commands of the client: %w", cause(ctx, m.client.problem(), err))
		case frame.ID == commandQuit:
			return nil
		}
		c := m.receive(frame)
		if c == nil {
			continue
		}
		if c.command.isUrgent {
			select {
			case m.urgent <- struct{}{}:
			case <-ctx.Done():
				continue // the next read ends
			}
			tasks.Go(func() {
				m.carryOut(ctx, c)
				<-m.urgent
			})
			continue
		}
		select {
		case commands <- c:
		case <-ctx.Done():
		}
	}
}

// cause returns why reading failed.
func cause(ctx context.Context, problem, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case problem != nil:
		return problem
	case errors.Is(err, io.EOF):
		return errors.New("it closed the connection")
	}
	return err
}

// A call is a command of the client.
type call struct {
	*command
	transaction uint32
	ranks       debug.Ranks
	arguments   []string // behind the process set
}

// receive returns the call in a frame, or nil if it is answered at once.
func (m *master) receive(frame proxy.Frame) *call {
	m.mutex.Lock()
	m.transaction = frame.Transaction
	hasStarted := m.hasStarted
	m.mutex.Unlock()
	all := debug.Ranks{{First: 0, Last: m.size - 1}}
	known := commands[frame.ID]
	refuse := func(code int, text string) *call {
		m.report(frame.Transaction, []result{{all, failure(code, text)}})
		return nil
	}
	if known == nil {
		return refuse(codeUnsupported, "this command is not supported")
	}
	c := &call{command: known, transaction: frame.Transaction, ranks: all, arguments: slices.Clone(frame.Arguments)}
	if frame.ID != commandStartSession {
		ranks, isSet := debug.Ranks(nil), false
		if len(c.arguments) > 0 {
			ranks, isSet = parseSet(c.arguments[0], m.size)
		}
		if !isSet {
			return refuse(codeProcessSet, "Invalid process set")
		}
		c.ranks, c.arguments = ranks, c.arguments[1:]
		all = ranks
	}
	switch {
	case len(c.arguments) < known.least:
		return refuse(codeDebugger, "Debugger error: not enough arguments for debug cmd")
	case frame.ID != commandStartSession && !hasStarted:
		return refuse(codeNoSession, "Must start session first")
	}
	return c
}

// carryOut executes a command and reports its result.
func (m *master) carryOut(ctx context.Context, c *call) {
	if ctx.Err() != nil {
		return
	}
	limit := answerLimit
	if c.command == commands[commandStartSession] {
		limit = startLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m.report(c.transaction, c.carryOut(m, limited, c))
}

// report sends events. Equal ones are one event.
func (m *master) report(transaction uint32, results []result) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.send(transaction, results)
}

// send is report with the mutex held.
func (m *master) send(transaction uint32, results []result) {
	var merged []result
	index := map[string]int{}
	for _, each := range results {
		key := fmt.Sprint(each.event.id) + "\x00" + strings.Join(each.event.arguments, "\x00")
		if i, isKnown := index[key]; isKnown {
			merged[i].ranks = merged[i].ranks.Union(each.ranks)
			continue
		}
		index[key] = len(merged)
		merged = append(merged, each)
	}
	for _, each := range merged {
		if len(each.ranks) > 0 {
			m.client.send(proxy.Frame{ID: each.event.id, Transaction: transaction, Arguments: append([]string{formatSet(each.ranks, m.size)}, each.event.arguments...)})
		}
	}
}

// ask sends ranks a question about their selected thread and frame, and returns an event for each part.
func (m *master) ask(ctx context.Context, ranks debug.Ranks, request debug.Request, convert func(debug.Part) event) []result {
	return resultsOf(m.query(ctx, m.questions(ranks, request)...), convert)
}

// questions returns a question for the ranks with the same selection each.
func (m *master) questions(ranks debug.Ranks, request debug.Request) []debug.Question {
	type selection struct{ thread, frame int }
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var order []selection
	sets := map[selection]debug.Ranks{}
	each(ranks, func(rank int) {
		selected := selection{m.processes[rank].thread, m.processes[rank].frame}
		if sets[selected] == nil {
			order = append(order, selected)
		}
		sets[selected] = appendRank(sets[selected], rank)
	})
	questions := make([]debug.Question, len(order))
	for i, selected := range order {
		asked := request
		asked.Thread, asked.Frame = selected.thread, request.Frame+selected.frame
		questions[i] = debug.Question{Ranks: sets[selected], Request: asked}
	}
	return questions
}

// query sends ranks a question. Ranks whose programs have ended answer so, because their servers end with them.
func (m *master) query(ctx context.Context, questions ...debug.Question) []debug.Part {
	parts := m.session.Ask(ctx, questions...)
	ended := m.session.Ranks(debug.Exited, debug.Released)
	for i, part := range parts {
		if part.Problem == debug.Silent && len(part.Ranks.Without(ended)) == 0 {
			parts[i].Problem = debug.NotRunning
		}
	}
	return parts
}
