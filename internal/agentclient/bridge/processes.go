package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

const (
	maxProcessesBytes = 96 << 20 // of the processes of jobs as JSON
	mostOutput        = 10 << 20 // bytes of their output; JSON may need six bytes for each
)

// Processes returns the reported processes of each job, by rank. It is an error if the only job is
// unknown to the agent.
func Processes(ctx context.Context, connection remote.Connection, jobs ...string) (map[string][]job.Process, error) {
	text, err := ask(ctx, connection, maxProcessesBytes, append([]string{"processes"}, jobs...)...)
	if err != nil {
		return nil, err
	}
	var listed struct{ Processes []map[string]string }
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("the processes of the agent: %w", err)
	}
	processes := map[string][]job.Process{}
	for _, each := range listed.Processes {
		processes[each["job"]] = append(processes[each["job"]], processOf(each))
	}
	for _, each := range processes {
		sorting.Stable(each, func(a, b job.Process) int { return a.Rank - b.Rank })
	}
	return processes, nil
}

// processOf reads a row. Invalid numbers become 0.
func processOf(row map[string]string) job.Process {
	p := job.Process{State: job.ProcessState(row["state"]), Node: row["node"], Output: row["output"], ErrorOutput: row["errorOutput"]}
	p.Rank, _ = strconv.Atoi(row["rank"])
	p.PID, _ = strconv.Atoi(row["pid"])
	if code, err := strconv.Atoi(row["exitCode"]); err == nil {
		p.ExitCode = &code
	}
	if signal := signalOf(row["signal"]); signal > 0 {
		p.ExitCode, p.Signal = nil, &signal
	}
	return p
}

// signalOf returns the number of a signal, 0 for an unknown name.
func signalOf(name string) int {
	if number, err := strconv.Atoi(name); err == nil {
		return number
	}
	return int(unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")))
}
