package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/rmctl/rmctl/internal/track"
	"github.com/rmctl/rmctl/internal/tree"
)

// relayOptions are the flags of the relay.
type relayOptions struct {
	job, node, session, match, listen string
	isTop, streams                    bool
}

// runRelay answers rmctl or another relay on stdin and stdout, until stdin ends.
func runRelay(ctx context.Context, arguments []string) int {
	var o relayOptions
	flags := newFlags("relay")
	flags.StringVar(&o.job, "job", "", "directory of the job")
	flags.StringVar(&o.node, "node", "", "name of the node")
	flags.StringVar(&o.session, "session", "", "name of the session, which has one relay on each host")
	flags.StringVar(&o.match, "match", "", "which processes belong to the job")
	flags.StringVar(&o.listen, "listen", "", "HOST or HOST:PORT for relays of tracked processes")
	flags.BoolVar(&o.streams, "streams", false, "take byte streams of processes to rmctl")
	flags.BoolVar(&o.isTop, "top", false, "rmctl is at the other end")
	if err := flags.Parse(arguments); err != nil || o.job == "" || flags.NArg() > 0 {
		return wrongUsage("relay", "--job DIR [--node NAME] [--session ID] [--match WORD] [--top] [--streams] [--listen HOST[:PORT]]")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer stop()
	if err := o.serve(ctx); err != nil && ctx.Err() == nil {
		return fail(err)
	}
	return 0
}

// settings are those of the relay without its processes.
func (o relayOptions) settings() (tree.Options, error) {
	secret, err := tree.ReadSecret(o.job)
	if err != nil {
		return tree.Options{}, err
	}
	private, err := tree.PrivateDirectory()
	settings := tree.Options{Secret: secret, Node: cmp.Or(o.node, track.NodeName()), Attach: private, Job: o.job}
	if o.streams {
		settings.Streams = private
	}
	return settings, err
}

// serve is the relay until stdin ends.
func (o relayOptions) serve(ctx context.Context) error {
	settings, err := o.settings()
	if err != nil {
		return err
	}
	// A top relay without processes leaves the processes of its host to the relay of a node.
	if o.session != "" && (!o.isTop || o.match != "") {
		release, isFirst, err := tree.LockSession(settings.Attach, o.session)
		if err != nil {
			return err
		}
		if settings.Idle = !isFirst; isFirst {
			defer release()
		}
	}
	if o.match != "" && !settings.Idle {
		if settings.Local, err = newNode(o.match); err != nil {
			return err
		}
	}
	relay := tree.NewRelay(settings)
	defer relay.Close()
	if o.listen != "" {
		if err := relay.Listen(ctx, o.listen); err != nil {
			return err
		}
	}
	if err := relay.Serve(ctx, standardStreams()); !tree.IsEnd(err) {
		return err
	}
	return nil
}

// stdio is stdin and stdout as one stream.
type stdio struct{ input, output *os.File }

// standardStreams returns stdin and stdout such that Close ends reads and writes.
func standardStreams() stdio {
	for _, file := range []*os.File{os.Stdin, os.Stdout} {
		// Pipes and sockets belong to this process alone. A terminal stays unchanged.
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice == 0 {
			_ = syscall.SetNonblock(int(file.Fd()), true) // without it, reads last until stdin ends
		}
	}
	return stdio{os.NewFile(0, "stdin"), os.NewFile(1, "stdout")}
}

// Read implements [io.Reader].
func (s stdio) Read(buffer []byte) (int, error) { return s.input.Read(buffer) }

// Write implements [io.Writer].
func (s stdio) Write(data []byte) (int, error) { return s.output.Write(data) }

// Close implements [io.Closer].
func (s stdio) Close() error { return errors.Join(s.input.Close(), s.output.Close()) }
