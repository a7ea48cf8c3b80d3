package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// maxDefinitionBytes bounds the definition of an agent.
const maxDefinitionBytes = 4 << 20

// Definition returns the definition of a target that has an agent. It has the target's name in
// the place of a file, which is what rmctl describe takes. The connection is one of this
// package, or leads to one.
func Definition(ctx context.Context, connection remote.Connection, target string) (*config.Definition, error) {
	return load(ctx, connection, target, "definition")
}

// KnownDefinition is like Definition, but fails if there is no session with the agent.
func KnownDefinition(ctx context.Context, connection remote.Connection, target string) (*config.Definition, error) {
	return load(ctx, connection, target, knownDefinitionVerb)
}

func load(ctx context.Context, connection remote.Connection, target, verb string) (*config.Definition, error) {
	text, err := ask(ctx, connection, maxDefinitionBytes, verb)
	if err != nil {
		return nil, err
	}
	read, err := config.Read(target, text, func(string, string) (string, []byte, error) { return "", nil, os.ErrNotExist })
	if err != nil {
		return nil, fmt.Errorf("the definition of the agent: %w", err)
	}
	return read, nil
}

// ask returns what a command for the agent prints.
func ask(ctx context.Context, connection remote.Connection, most int, words ...string) ([]byte, error) {
	text, failures := &bounded{most: most}, &bounded{most: longestMessage + 1}
	process, err := connection.Start(ctx, remote.Command{Arguments: append([]string{definition.Command}, words...), Stdout: text, Stderr: failures})
	if err != nil {
		return nil, fmt.Errorf("reaching the agent: %w", err)
	}
	code, err := process.Wait()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reaching the agent: %w", err)
	case code != 0:
		return nil, errors.New(strings.TrimSpace(failures.String()))
	}
	return text.Bytes(), nil
}

// maxProcessesBytes bounds the processes of a job.
const maxProcessesBytes = 32 << 20

// Processes returns the processes of a job as the agent reported them, by rank.
func Processes(ctx context.Context, connection remote.Connection, id string) ([]job.Process, error) {
	text, err := ask(ctx, connection, maxProcessesBytes, "processes", id)
	if err != nil {
		return nil, err
	}
	var listed struct{ Processes []map[string]string }
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("the processes of job %s: %w", id, err)
	}
	var processes []job.Process
	for _, each := range listed.Processes {
		p := job.Process{State: job.ProcessState(each["state"]), Node: each["node"]}
		p.Rank, _ = strconv.Atoi(each["rank"]) // the agent's mistakes are shown as 0
		p.PID, _ = strconv.Atoi(each["pid"])
		if code, err := strconv.Atoi(each["exitCode"]); err == nil {
			p.ExitCode = &code
		}
		processes = append(processes, p)
	}
	sorting.Stable(processes, func(a, b job.Process) int { return a.Rank - b.Rank })
	return processes, nil
}

// A bounded keeps so many bytes at most.
type bounded struct {
	bytes.Buffer
	most int
}

var errTooLong = errors.New("the agent prints too much")

// Write implements io.Writer.
func (b *bounded) Write(text []byte) (int, error) {
	if b.Len()+len(text) > b.most {
		return 0, errTooLong
	}
	return b.Buffer.Write(text)
}
