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

// masterPoll is how often the socket of a master is looked for: ssh does not
// report when it is there.
const masterPoll = 3 * time.Millisecond

// socketPatience is how long a master may take to make its socket once the user
// is authenticated. Versions that say when they begin to serve need no patience.
const socketPatience = 10 * time.Second

// errNoMultiplexing reports that ssh connects but cannot share the connection.
var errNoMultiplexing = errors.New("ssh does not share its connection")

var refusesMultiplexing = lazyregexp.New(`disabling multiplexing|muxserver_listen|unix_listener|mux listener|too long for Unix domain socket`)

// startMaster connects, asking the user what ssh asks.
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
		entered := master.messages.entered.wasSeen() // after it made the socket, if at all
		if _, err := os.Lstat(d.socket()); err == nil {
			return true
		}
		if accepted.IsZero() && master.messages.accepted.wasSeen() {
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
		return fmt.Errorf("%w: %w", errNoMultiplexing, said(master.messages.text.String()))
	}
	return d.explainMaster()
}

// explainMaster returns why the master has ended.
func (d *dialer) explainMaster() error {
	d.drainMaster()
	return d.explain(d.master, d.masterErrors.String())
}

// drainMaster waits for the rest of what a master said that has ended. Processes that it
// started may hold its error stream open: of that only what is there is read.
func (d *dialer) drainMaster() {
	if !execution.ClosesWithin(d.masterDrained, lastWords) && d.masterSays.SetReadDeadline(time.Now()) == nil {
		<-d.masterDrained
	}
}

// recent returns what texts, which may be nil, hold that was not returned before.
func recent(texts ...*tail) func() string {
	seen := make([]int, len(texts))
	return func() string {
		var all strings.Builder
		for position, text := range texts {
			if text == nil {
				continue
			}
			var added string
			added, seen[position] = text.since(seen[position])
			all.WriteString(strings.ReplaceAll(added, "\r\n", "\n"))
		}
		return all.String()
	}
}
