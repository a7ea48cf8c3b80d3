package openssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// masterPoll is how often the socket of a master is polled, which ssh does not report.
const masterPoll = 3 * time.Millisecond

// socketPatience is how long a master may take to make its socket after authentication. It
// matters for versions that do not report that they serve.
const socketPatience = 10 * time.Second

// errNoMultiplexing reports that ssh connects but cannot share the connection.
var errNoMultiplexing = errors.New("ssh does not share its connection")

var refusesMultiplexing = lazyregexp.New(`disabling multiplexing|muxserver_listen|unix_listener|mux listener|too long for Unix domain socket`)

// startMaster starts a master, and passes its questions to the user.
func (d *dialer) startMaster(ctx context.Context) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe for the errors of ssh: %w", err)
	}
	errorText := &tail{}
	master, err := d.start(ctx, call{arguments: d.masterArguments, streams: streams{stderr: writer}, asks: true, errors: errorText})
	closeErr := writer.Close()
	if err != nil {
		return errors.Join(err, closeErr, reader.Close())
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		defer reader.Close()
		// It ends when ssh does, or with drainMaster; a tail takes everything.
		_, _ = io.Copy(errorText, execution.NewLateReader(reader))
	}()
	d.master, d.masterSays, d.masterDrained, d.masterErrors = master, reader, drained, errorText

	err = d.awaitMaster(ctx, master)
	if err == nil {
		return nil
	}
	master.end()
	return err
}

// awaitMaster waits until the master listens.
func (d *dialer) awaitMaster(ctx context.Context, master *invocation) error {
	poll := time.NewTicker(masterPoll)
	defer poll.Stop()
	var accepted time.Time
	refused := false
	listens, err := master.awaitStart(ctx, d.options.StartLimit, poll.C, func() bool {
		if master.hasEnded() {
			return false
		}
		entered := master.messages.entered.isFound() // after it made the socket, if at all
		if _, err := os.Lstat(d.socket()); err == nil {
			return true
		}
		if accepted.IsZero() && master.messages.accepted.isFound() {
			accepted = time.Now()
		}
		refused = entered || !accepted.IsZero() && time.Since(accepted) > socketPatience ||
			refusesMultiplexing.MatchString(master.messages.text.String())
		return refused
	})
	switch {
	case errors.Is(err, errStartLimit):
		return d.noAnswer()
	case err != nil:
		return fmt.Errorf("connecting to %s: %w", d.options.Host, err)
	case refused:
		return errNoMultiplexing
	case listens:
		return nil
	}
	if refusesMultiplexing.MatchString(master.messages.text.String()) {
		return fmt.Errorf("%w: %w", errNoMultiplexing, lastLines(master.messages.text.String()))
	}
	return d.explainMaster()
}

// explainMaster returns why the master has ended.
func (d *dialer) explainMaster() error {
	d.drainMaster()
	return d.explain(d.master, d.masterErrors.String())
}

// drainMaster waits for the last output of a master that has ended. If processes that it
// started hold its error stream open, it reads only what is there.
func (d *dialer) drainMaster() {
	if !execution.ClosesWithin(d.masterDrained, lastWords) && d.masterSays.SetReadDeadline(time.Now()) == nil {
		<-d.masterDrained
	}
}

// recent returns a function for the part of the texts that it has not returned before. Texts may be nil.
func recent(texts ...*tail) func() string {
	positions := make([]int, len(texts))
	return func() string {
		var all strings.Builder
		for i, text := range texts {
			if text == nil {
				continue
			}
			var added string
			added, positions[i] = text.since(positions[i])
			all.WriteString(strings.ReplaceAll(added, "\r\n", "\n"))
		}
		return all.String()
	}
}
