package command

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
)

// Limits of what is kept about processes.
const (
	maximumProcessOutput = 4096 // bytes of each stream of each
	maximumProcesses     = 1 << 16
	processesWithOutput  = 1 << 13 // the largest number of processes, lowest ranks first
)

// processAttribute is the prefix of the names of attributes that describe processes; the rank
// follows. The value is a map with the known ones of the keys node, pid, state, exitCode,
// signal, output and errorOutput.
const processAttribute = "process."

// The states of processes that can be observed from outside.
const (
	processRunning   job.ProcessState = "RUNNING"
	processExited    job.ProcessState = "EXITED"
	processSignalled job.ProcessState = "EXITED_SIGNALLED"
	processError     job.ProcessState = "ERROR"
	processUnknown   job.ProcessState = "UNKNOWN"
)

// processesIn returns the processes that the attributes of an environment describe, by rank.
func processesIn(env *attribute.Environment) []job.Process {
	var processes []job.Process
	for _, name := range env.Discovered() {
		rank, isProcess := processRank(name)
		entries, isMap := env.DiscoveredAttribute(name).Value().(map[string]string)
		if isProcess && isMap {
			processes = append(processes, processOf(rank, entries))
		}
	}
	sorting.Stable(processes, func(a, b job.Process) int { return a.Rank - b.Rank })
	return processes[:min(len(processes), maximumProcesses)]
}

func processRank(name string) (int, bool) {
	digits, isProcess := strings.CutPrefix(name, processAttribute)
	rank, err := strconv.Atoi(digits)
	return rank, isProcess && err == nil && rank >= 0 && strconv.Itoa(rank) == digits
}

// processOf reads the entries of an attribute, which a parser may have made.
func processOf(rank int, entries map[string]string) job.Process {
	p := job.Process{Rank: rank, Node: entries["node"], Output: endOf(entries["output"]), ErrorOutput: endOf(entries["errorOutput"])}
	if number := numberIn(entries["pid"]); number != nil {
		p.PID = *number
	}
	p.ExitCode, p.Signal = numberIn(entries["exitCode"]), numberIn(entries["signal"])
	switch state := job.ProcessState(entries["state"]); state {
	case processRunning, processExited, processSignalled, processError, processUnknown:
		p.State = state
	default:
		p.State = stateByEnd(&p)
	}
	return p
}

func endOf(output string) string { return output[max(0, len(output)-maximumProcessOutput):] }

func numberIn(text string) *int {
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return nil
	}
	return &number
}

// stateByEnd is the state that follows from how the process ended.
func stateByEnd(p *job.Process) job.ProcessState {
	switch {
	case p.Signal != nil && *p.Signal != 0:
		return processSignalled
	case p.ExitCode != nil:
		return processExited
	}
	return processRunning
}

func entriesOf(p *job.Process) map[string]string {
	entries := map[string]string{"state": string(p.State)}
	if p.Node != "" {
		entries["node"] = p.Node
	}
	if p.PID != 0 {
		entries["pid"] = strconv.Itoa(p.PID)
	}
	if p.ExitCode != nil {
		entries["exitCode"] = strconv.Itoa(*p.ExitCode)
	}
	if p.Signal != nil {
		entries["signal"] = strconv.Itoa(*p.Signal)
	}
	if p.Output != "" {
		entries["output"] = p.Output
	}
	if p.ErrorOutput != "" {
		entries["errorOutput"] = p.ErrorOutput
	}
	return entries
}

// A processTable collects the content of marks about processes. The lock of the streams guards
// it.
type processTable struct {
	known   map[int]*job.Process
	outputs map[source]*tail
	changed map[int]bool // since they were last taken
}

func newProcessTable() *processTable {
	return &processTable{known: map[int]*job.Process{}, outputs: map[source]*tail{}, changed: map[int]bool{}}
}

// process returns the process of a rank, nil if there are too many.
func (t *processTable) process(rank int) *job.Process {
	if p := t.known[rank]; p != nil {
		return p
	}
	if rank >= maximumProcesses {
		return nil
	}
	p := &job.Process{Rank: rank, State: processRunning}
	t.known[rank] = p
	t.changed[rank] = true
	return p
}

// learn applies a mark.
func (t *processTable) learn(read job.Process) {
	p := t.process(read.Rank)
	if p == nil {
		return
	}
	before := *p
	if read.Node != "" {
		p.Node = read.Node
	}
	if read.PID != 0 {
		p.PID = read.PID
	}
	if read.ExitCode != nil || read.Signal != nil {
		p.ExitCode, p.Signal = read.ExitCode, read.Signal
	}
	p.State = stateByEnd(p)
	if *p != before {
		t.changed[p.Rank] = true
	}
}

// printed keeps the end of a process's output.
func (t *processTable) printed(from source, text []byte) {
	if len(text) == 0 || from.rank >= processesWithOutput || t.process(from.rank) == nil {
		return
	}
	if t.outputs[from] == nil {
		t.outputs[from] = &tail{limit: maximumProcessOutput}
	}
	_, _ = t.outputs[from].Write(text) // never fails
	t.changed[from.rank] = true
}

// collectChanged returns the processes that have changed since it was last called, by rank.
func (t *processTable) collectChanged() []job.Process {
	taken := make([]job.Process, 0, len(t.changed))
	for _, rank := range slices.Sorted(maps.Keys(t.changed)) {
		p := t.known[rank]
		if output := t.outputs[source{rank: rank}]; output != nil {
			p.Output = output.String()
		}
		if output := t.outputs[source{rank, true}]; output != nil {
			p.ErrorOutput = output.String()
		}
		taken = append(taken, *p)
	}
	clear(t.changed)
	return taken
}

// publish writes processes into an environment.
func publish(env *attribute.Environment, processes []job.Process) {
	for _, p := range processes {
		published := attribute.New(processAttribute + strconv.Itoa(p.Rank))
		published.SetValue(entriesOf(&p))
		env.Discover(published)
	}
}

// conclude merges the findings of marks and parsers after the end of the command. If the
// command exits with 0, all processes have.
func (t *processTable) conclude(parsed []job.Process, exitCode int) []job.Process {
	for _, read := range parsed {
		p := t.process(read.Rank)
		if p == nil {
			continue
		}
		if p.Node == "" {
			p.Node = read.Node
		}
		if p.PID == 0 {
			p.PID = read.PID
		}
		if p.ExitCode == nil && p.Signal == nil {
			p.ExitCode, p.Signal, p.State = read.ExitCode, read.Signal, read.State
		}
		p.Output, p.ErrorOutput = read.Output, read.ErrorOutput // unless marks name the process
	}
	for rank, p := range t.known {
		t.changed[rank] = true
		switch {
		case p.State != processRunning:
		case exitCode == 0:
			success := 0
			p.ExitCode, p.State = &success, processExited
		default:
			p.State = processUnknown
		}
	}
	return t.collectChanged()
}

// concludeProcesses stores the known facts about processes in the environment after the end of
// the command and its parsers, and passes them to the caller.
func (r *run) concludeProcesses(s *streams) {
	if !r.Command.Element.IsInteractive() {
		return
	}
	parsed := processesIn(r.Scope.Environment)
	if s.processes == nil {
		if len(parsed) == 0 {
			return
		}
		s.processes = newProcessTable()
	}
	s.lock.Lock()
	concluded := s.processes.conclude(parsed, r.result.ExitCode)
	s.lock.Unlock()
	publish(r.Scope.Environment, concluded)
	if r.Attach != nil && r.Attach.Processes != nil && len(concluded) > 0 {
		r.Attach.Processes(concluded)
	}
}
