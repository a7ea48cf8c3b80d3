package ensembles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/remote"
)

// A Connector makes the connections of targets and keeps them.
type Connector interface {
	Targets() (*settings.Targets, error)
	Connection(ctx context.Context, target settings.Target) (remote.Connection, error)
}

// Reach makes the connections of targets, all at the same time. It leaves failures to the parts that need the target.
func Reach(ctx context.Context, connector Connector, names []string) {
	targets, err := connector.Targets()
	if err != nil {
		return
	}
	var connecting sync.WaitGroup
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if target, err := targets.Find(name); err == nil {
			connecting.Go(func() { _, _ = connector.Connection(ctx, target) })
		}
	}
	connecting.Wait()
}

// A Caller runs rmctl on the login nodes of targets.
type Caller struct {
	Kept Connector // has the connections that are used as long as they last
	// Connect replaces a lost connection.
	Connect func(ctx context.Context, target settings.Target) (remote.Connection, error)

	lost sync.Map // has the names of targets whose kept connection was lost
}

// Run runs rmctl on the login node of a target.
func (c *Caller) Run(ctx context.Context, name string, call Call) error {
	targets, err := c.Kept.Targets()
	if err != nil {
		return err
	}
	target, err := targets.Find(name)
	if err != nil {
		return err
	}
	connect := c.Kept.Connection
	_, isLost := c.lost.Load(name)
	if isLost {
		connect = c.Connect
	}
	connection, err := connect(ctx, target)
	if err != nil {
		return err
	}
	if isLost {
		defer connection.Close() // the command has ended
	}
	err = runOver(ctx, connection, name, call)
	if errors.Is(err, remote.ErrUnreachable) {
		c.lost.Store(name, true)
	}
	return err
}

// runOver runs rmctl at the other end of a connection.
func runOver(ctx context.Context, connection remote.Connection, target string, call Call) error {
	process, err := connection.Start(ctx, remote.Command{
		Arguments: append([]string{"rmctl"}, call.Arguments...), Stdin: call.Stdin, Stdout: call.Stdout, Stderr: call.Stderr,
	})
	if errors.Is(err, remote.ErrCommandNotFound) {
		err = fmt.Errorf("%w\ninstall rmctl on that host, in a folder of its PATH", err)
	}
	if err != nil {
		return fmt.Errorf("running rmctl at %s: %w", target, err)
	}
	code, err := process.Wait()
	if err == nil && code != 0 {
		err = &ExitError{Code: code}
	}
	return err
}

// LaunchIn starts the session of an ensemble in the background process, and waits until the ensemble runs.
func LaunchIn(ctx context.Context, background *daemon.Client, launch daemon.Launch) error {
	reader, writer := io.Pipe()
	defer reader.Close() // never fails
	attached, err := background.Start(ctx, launch, &daemon.Attachment{Stdout: writer})
	if errors.Is(err, daemon.ErrSessionExists) {
		return nil // it is about to run the ensemble
	}
	if err != nil {
		return err
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := attached.Wait()
		writer.CloseWithError(err) // never fails
	})
	_, err = reader.Read(make([]byte, 1)) // of the line that says that it runs
	attached.Detach()
	reader.Close() // so that the rest of the line is not waited for
	waiting.Wait()
	if errors.Is(err, io.EOF) { // it has ended already
		return nil
	}
	return err
}
