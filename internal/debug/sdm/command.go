package sdm

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

// Commands that are handled apart.
const (
	commandQuit         = 0
	commandStartSession = 1
)

// A command is a command of the client.
type command struct {
	least    int  // arguments behind the process set
	isUrgent bool // it is carried out beside others
	carryOut func(m *master, ctx context.Context, c *call) []result
}

// commands are the commands by their ids. CLIHANDLE is not among them: it runs commands of a debugger, which
// run programs.
var commands = map[uint16]*command{
	commandStartSession: {3, false, (*master).startSession},
	2:                   {8, false, (*master).setLine},
	3:                   {8, false, (*master).setFunction},
	4:                   {1, false, changePoint(deletePoint)},
	5:                   {1, false, changePoint(enablePoint)},
	6:                   {1, false, changePoint(disablePoint)},
	7:                   {2, false, changePoint(setCondition)},
	8:                   {2, false, changePoint(setIgnored)},
	9:                   {6, false, (*master).setWatch},
	10:                  {0, false, (*master).letGo},
	11:                  {2, false, (*master).step},
	12:                  {0, true, (*master).terminate},
	13:                  {0, true, (*master).suspend},
	14:                  {2, false, (*master).listFrames},
	15:                  {1, false, (*master).selectFrame},
	16:                  {1, false, (*master).evaluate},
	17:                  {1, false, (*master).getType},
	18:                  {0, false, (*master).listLocals},
	19:                  {2, false, (*master).listArguments},
	20:                  {0, false, (*master).listGlobals},
	21:                  {0, false, (*master).listThreads},
	22:                  {1, false, (*master).selectThread},
	23:                  {0, false, (*master).stackDepth},
	24:                  {7, false, (*master).readMemory},
	25:                  {5, false, (*master).writeMemory},
	26:                  {1, false, (*master).listSignals},
	30:                  {4, false, (*master).evaluatePart},
	31:                  {1, false, (*master).deletePart},
}

// startSession starts the program: its name, its folder, the working directory, and its arguments. The answer comes
// once it is stopped at its entry.
func (m *master) startSession(ctx context.Context, c *call) []result {
	m.mutex.Lock()
	isSecond := m.hasStarted
	m.hasStarted = true
	for i := range m.processes {
		if !isSecond {
			m.processes[i].ran, m.processes[i].isStarting = c.transaction, true
		}
	}
	m.mutex.Unlock()
	if isSecond {
		return []result{{c.ranks, failure(codeSession, "Session already established")}}
	}
	select {
	case <-m.joined:
	case <-ctx.Done():
	}
	started := &debug.Program{Arguments: append([]string{program(c.arguments[0], c.arguments[1])}, c.arguments[3:]...), Directory: c.arguments[2]}
	question := debug.Question{Ranks: c.ranks, Request: debug.Request{Verb: debug.Start, Stop: debug.StopAtEntry, Program: started}}
	for _, part := range m.query(ctx, question) {
		if part.Problem != "" {
			m.report(c.transaction, []result{{m.cancelStart(part.Ranks), startFailure(part.Answer)}})
		}
	}
	for m.isStarting() {
		select {
		case <-m.stopped:
		case <-ctx.Done():
			return []result{{m.cancelStart(c.ranks), failure(codeDebugger, "Debugger error: the program does not start in time")}}
		}
	}
	return nil
}

// isStarting reports whether any rank has not stopped at its entry yet.
func (m *master) isStarting() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.ContainsFunc(m.processes, func(p process) bool { return p.isStarting })
}

// cancelStart returns which of some ranks are starting. Their stops do not answer STARTSESSION any more.
func (m *master) cancelStart(ranks debug.Ranks) debug.Ranks {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var starting debug.Ranks
	each(ranks, func(rank int) {
		if m.processes[rank].isStarting {
			m.processes[rank].isStarting = false
			starting = appendRank(starting, rank)
		}
	})
	return starting
}

// startFailure returns the error for a program that does not start.
func startFailure(answer debug.Answer) event {
	text := strings.ToLower(answer.Text)
	switch {
	case answer.Problem == debug.Silent:
		return failureOf(answer, codeDebugger, "")
	case strings.Contains(text, "working directory"):
		return failure(codeDirectory, answer.Text)
	case strings.Contains(text, "no debugger") || strings.Contains(text, "debugger not found"):
		return failure(codeNoBackend, answer.Text)
	case strings.Contains(text, "no such file"):
		return failure(codeNoSuchFile, answer.Text)
	case strings.Contains(text, "permission denied") || strings.Contains(text, "exec format"):
		return failure(codeNotExecutable, answer.Text)
	}
	return failure(codeCannotRun, "Can't run the program: "+answer.Text)
}

func (m *master) letGo(ctx context.Context, c *call) []result {
	return m.resume(ctx, c, debug.Request{Verb: debug.Continue})
}

// steps are the steps by the types of the client.
var steps = map[string]string{"0": debug.StepInto, "1": debug.StepOver, "2": debug.StepOut}

// step steps: the number of steps, and the type.
func (m *master) step(ctx context.Context, c *call) []result {
	count, err := strconv.ParseUint(c.arguments[0], 10, 30)
	kind := steps[c.arguments[1]]
	if err != nil || kind == "" {
		return []result{{c.ranks, failure(codeDebugger, "Debugger error: Unknown step type")}}
	}
	return m.resume(ctx, c, debug.Request{Verb: debug.Step, Text: kind, Count: max(int(count), 1)})
}

// resume lets ranks run. Their stops are reported after the answer, with the same transaction.
func (m *master) resume(ctx context.Context, c *call, request debug.Request) []result {
	questions := m.questions(c.ranks, request)
	for i := range questions {
		questions[i].Request.Frame = 0
		if request.Verb == debug.Continue {
			questions[i].Request.Thread = 0
		}
	}
	before := make(map[int]uint32, c.ranks.Count())
	m.mutex.Lock()
	each(c.ranks, func(rank int) {
		p := &m.processes[rank]
		before[rank] = p.ran
		p.ran, p.isPending, p.hasRun = c.transaction, true, false
	})
	m.mutex.Unlock()
	for _, part := range m.query(ctx, questions...) {
		answer := ok()
		if part.Problem != "" {
			answer = failureOf(part.Answer, codeCannotRun, "")
		}
		var pending debug.Ranks // others have stopped, and the answer was reported before that
		m.mutex.Lock()
		each(part.Ranks, func(rank int) {
			p := &m.processes[rank]
			if !p.isPending {
				return
			}
			p.isPending, pending = false, appendRank(pending, rank)
			if part.Problem != "" && part.Problem != debug.Silent {
				p.ran = before[rank]
			}
		})
		m.send(c.transaction, []result{{pending, answer}})
		m.mutex.Unlock()
	}
	m.wakeFollower()
	return nil
}

func (m *master) wakeFollower() {
	select {
	case m.wake <- struct{}{}:
	default: // it is about to look
	}
}

// terminate ends the processes. Clients do not expect the report of their end.
func (m *master) terminate(ctx context.Context, c *call) []result {
	m.mutex.Lock()
	each(c.ranks, func(rank int) { m.processes[rank].isKilled = true })
	m.mutex.Unlock()
	var results []result
	for _, part := range m.query(ctx, debug.Question{Ranks: c.ranks, Request: debug.Request{Verb: debug.Kill}}) {
		answer := ok()
		if part.Problem != "" {
			answer = failureOf(part.Answer, codeDebugger, "Debugger error: ")
			m.mutex.Lock()
			each(part.Ranks, func(rank int) { m.processes[rank].isKilled = false })
			m.mutex.Unlock()
		}
		results = append(results, result{part.Ranks, answer})
	}
	return results
}

// suspend stops processes. The report of the stop is the answer.
func (m *master) suspend(ctx context.Context, c *call) []result {
	running := common(c.ranks, m.session.Ranks(debug.Running))
	m.mutex.Lock()
	each(running, func(rank int) {
		if !m.processes[rank].isPending {
			m.processes[rank].ran = c.transaction
		}
	})
	m.mutex.Unlock()
	var results []result
	if still := c.ranks.Without(running); len(still) > 0 {
		results = append(results, result{still, failure(codeNotRunning, "The program is not being run")})
	}
	for _, part := range m.query(ctx, debug.Question{Ranks: running, Request: debug.Request{Verb: debug.Halt}}) {
		if part.Problem != "" {
			results = append(results, result{part.Ranks, failureOf(part.Answer, codeNotRunning, "")})
		}
	}
	return results
}
