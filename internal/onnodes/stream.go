// Package onnodes reaches the processes of running jobs: it starts relays on the nodes of a job
// and asks them.
package onnodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// programName is the name of the program in messages.
const programName = "rmctl-node"

// mostComplaint bounds what is kept of the standard error of a process.
const mostComplaint = 4 << 10

// endPatience is how long a process may take to end once its input has ended.
const endPatience = 2 * time.Second

// A stream is the standard input and output of a process on the target.
type stream struct {
	input   *io.PipeWriter
	output  *io.PipeReader
	process remote.Handle
	ended   chan struct{}
	cancel  context.CancelFunc
}

// startStream starts a process. Reading ends with the reason why the process ended. Close
// ends the process.
func startStream(ctx context.Context, connection remote.Connection, words []string) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	stdin, input := io.Pipe()
	output, stdout := io.Pipe()
	complaint := execution.NewHead(mostComplaint)
	process, err := connection.Start(ctx, remote.Command{
		Arguments: words, Environment: map[string]string{"LC_ALL": "C"}, Stdin: stdin, Stdout: stdout, Stderr: complaint,
	})
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{input: input, output: output, process: process, ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(s.ended)
		code, err := process.Wait()
		_ = stdin.Close()                                                        // no reader is left
		_ = stdout.CloseWithError(endReason(ctx, code, err, complaint.String())) // never fails
	}()
	return s, nil
}

// endReason returns why a process ended.
func endReason(ctx context.Context, code int, err error, complaint string) error {
	switch said := strings.TrimSpace(complaint); {
	case ctx.Err() != nil:
		return cmp.Or(context.Cause(ctx), ctx.Err())
	case err != nil && code < 0:
		return fmt.Errorf("%s: %w", programName, err)
	case said != "":
		return fmt.Errorf("%s exited with code %d: %.500q", programName, code, said)
	case code != 0:
		return fmt.Errorf("%s exited with code %d", programName, code)
	}
	return io.EOF
}

// Read reads what the process prints.
func (s *stream) Read(buffer []byte) (int, error) { return s.output.Read(buffer) }

// Write writes to the input of the process.
func (s *stream) Write(text []byte) (int, error) {
	n, err := s.input.Write(text)
	if errors.Is(err, io.ErrClosedPipe) {
		err = fmt.Errorf("%s has ended", programName)
	}
	return n, err
}

// Close closes the input of the process and waits for its end. It ends a process that stays.
func (s *stream) Close() error {
	defer s.cancel()
	_ = s.input.Close() // never fails
	limit := time.AfterFunc(endPatience, s.cancel)
	defer limit.Stop()
	_ = s.output.Close() // what it prints now is of no use
	<-s.ended
	return nil
}
