package bridge

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/agenttrace"
	"github.com/rmctl/rmctl/remote"
)

// A Tracer writes the messages of sessions to a file.
type Tracer struct {
	File string
	Warn func(error) // called when messages are missing

	mutex sync.Mutex
	path  string // of the file once it is renewed
}

// HasBegun reports whether a session is traced.
func (t *Tracer) HasBegun() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.path != ""
}

// renew returns the path of the file, which the first session empties.
func (t *Tracer) renew() (string, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.path != "" {
		return t.path, nil
	}
	path, err := agenttrace.Renew(t.File)
	t.path = path
	return path, err
}

// Trace writes the kept and all new messages of a connection's sessions until it is closed. The
// connection must be a Connection, or lead to one in another process of this machine.
func (t *Tracer) Trace(ctx context.Context, connection remote.Connection) error {
	path, err := t.renew()
	if err != nil {
		return err
	}
	output, input := io.Pipe()
	failures := &bounded{most: longestMessage + 1}
	process, err := connection.Start(context.WithoutCancel(ctx), remote.Command{Arguments: []string{definition.Command, traceVerb, path}, Stdout: input, Stderr: failures})
	if err != nil {
		return fmt.Errorf("tracing: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		code, err := process.Wait()
		if code == definition.ExitRefused {
			err = errors.New(strings.TrimSpace(failures.String()))
		}
		ended <- err
		_ = input.Close()
	}()
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return fmt.Errorf("tracing: %w", cmp.Or(<-ended, err))
	}
	go func() {
		if err := <-ended; err != nil && !errors.Is(err, remote.ErrUnreachable) {
			t.Warn(err)
		}
	}()
	return nil
}

// These commands do not start a session. A session that starts later is traced from its start.
const (
	traceVerb           = "trace"
	knownDefinitionVerb = "known-definition"
)

func verbsWithoutSession() []string { return []string{traceVerb, knownDefinitionVerb} }

// trace follows the messages until the command or the connection ends. It prints a line once it has
// started.
func (r *request) trace(ctx context.Context, files []string) error {
	if len(files) != 1 {
		return &usageError{"trace takes a file"}
	}
	failed, end, err := r.connection.messages.Follow(files[0])
	if err != nil {
		return &agentclient.RefusedError{Text: err.Error()}
	}
	if err := r.print("tracing"); err != nil {
		return errors.Join(err, end())
	}
	select {
	case <-failed:
	case <-ctx.Done():
	case <-r.connection.life.Done():
	}
	if err := end(); err != nil {
		return &agentclient.RefusedError{Text: "writing the trace: " + err.Error()}
	}
	return nil
}
