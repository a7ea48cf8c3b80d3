package onnodes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/callback"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/remote"
)

const (
	mostCallbackLine = 64 << 10
	mostCallers      = 1000
)

// A CallbackTest tests at which addresses nodes of jobs reach a target. A process on the
// target listens until Close.
type CallbackTest struct {
	Addresses []string // of the target; all are tried
	Words     []string // for the job to run

	connection remote.Connection
	directory  string
	stream     *stream
	done       chan struct{}

	turn    sync.Mutex
	callers []callback.Caller
}

// StartCallbackTest stages the program, and starts the process that listens.
func StartCallbackTest(ctx context.Context, connection remote.Connection, directory *nodes.Directory) (*CallbackTest, error) {
	job, err := directory.Prepare(ctx, "callback-"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	program, err := directory.Program(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := startStream(ctx, connection, []string{program, "callback", "--job", job, "--listen"})
	if err != nil {
		return nil, err
	}
	t := &CallbackTest{Words: []string{program, "callback", "--job", job}, connection: connection, directory: job, stream: stream, done: make(chan struct{})}
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, mostCallbackLine)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &t.Addresses) != nil {
		return nil, errors.Join(fmt.Errorf("listening on the target: %w", errors.Join(lines.Err(), errNoAddresses)), stream.Close())
	}
	go t.read(lines)
	return t, nil
}

var errNoAddresses = errors.New("it reported no addresses")

// read collects what the process reports.
func (t *CallbackTest) read(lines *bufio.Scanner) {
	defer close(t.done)
	for lines.Scan() {
		var caller callback.Caller
		if json.Unmarshal(lines.Bytes(), &caller) != nil {
			continue // such as a line of a login shell
		}
		t.turn.Lock()
		if len(t.callers) < mostCallers && slices.Contains(t.Addresses, caller.Address) {
			t.callers = append(t.callers, caller)
		}
		t.turn.Unlock()
	}
}

// Reached returns the addresses at which nodes reached the target so far, in the order of
// Addresses.
func (t *CallbackTest) Reached() []string {
	t.turn.Lock()
	defer t.turn.Unlock()
	var reached []string
	for _, address := range t.Addresses {
		if slices.ContainsFunc(t.callers, func(caller callback.Caller) bool { return caller.Address == address }) {
			reached = append(reached, address)
		}
	}
	return reached
}

// Results returns what the process of the job wrote about each address; false before it has
// written, and if the target does not see its files.
func (t *CallbackTest) Results(ctx context.Context) ([]callback.Result, bool, error) {
	file, err := t.connection.Open(ctx, path.Join(t.directory, callback.ResultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	text, err := io.ReadAll(io.LimitReader(file, mostCallbackLine))
	var results []callback.Result
	if err = errors.Join(err, file.Close()); err == nil {
		err = json.Unmarshal(text, &results)
	}
	return results, err == nil, err
}

// EndJob lets the process of the job end.
func (t *CallbackTest) EndJob(ctx context.Context) error {
	err := t.connection.Remove(ctx, path.Join(t.directory, callback.AddressesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close ends the process on the target.
func (t *CallbackTest) Close() error {
	err := t.stream.Close()
	<-t.done
	return err
}

// TryNodes starts a process on each node of a running job, as commands of rmctl do. It returns the
// nodes of the job except the target itself, and the problems by node.
func TryNodes(ctx context.Context, j *Reachable) (names []string, problems map[string]string, err error) {
	if err := j.CheckRunning(); err != nil {
		return nil, nil, err
	}
	s, err := openTop(ctx, j, forQuestions)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if names, err = s.nodesWithout(ctx); err == nil {
		err = s.launch(ctx, names, launchTime(ctx))
	}
	return names, s.problems, err
}
