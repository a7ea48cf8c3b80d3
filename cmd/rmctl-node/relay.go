package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/tree"
)

// relay answers on its standard input and output for a node.
func relay(ctx context.Context, arguments []string) int {
	flags := newFlags("relay")
	job := flags.String("job", "", "directory of the job")
	name := flags.String("node", "", "name of the node")
	session := flags.String("session", "", "id of the client's session")
	listen := flags.String("listen", "", "HOST[:PORT] for relays of tracked processes")
	isTop := flags.Bool("top", false, "start of the tree, on the target; a node only with --match")
	match := flags.String("match", "", "how processes of the job are found")
	if err := flags.Parse(arguments); err != nil || *job == "" || *name == "" || *session == "" || flags.NArg() > 0 {
		return wrongUsage("relay", "--job DIR --node NAME --session ID [--match WORD] [--top] [--listen HOST[:PORT]]")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer stop()
	selection, err := rank.ParseSelection(*match)
	if err != nil {
		return fail(err)
	}
	options, release, err := relayOptions(*job, *session, selection, !*isTop || *match != "")
	if err != nil {
		return fail(err)
	}
	defer release()
	options.Node = *name
	server := tree.NewRelay(options)
	defer server.Close()
	if *listen != "" {
		if err := server.Listen(ctx, *listen); err != nil {
			return fail(err)
		}
	}
	if err := server.Serve(ctx, standardStreams{}); err != nil {
		return fail(err)
	}
	return 0
}

// relayOptions returns the options of a relay, and a function for its end. Of several relays of a session
// on one machine only the first has a node.
func relayOptions(job, session string, selection rank.Selection, hasNode bool) (options tree.Options, release func(), err error) {
	options, release = tree.Options{Job: job}, func() {}
	if options.Secret, err = tree.ReadSecret(job); err != nil || !hasNode {
		return options, release, err
	}
	if options.Attach, err = tree.PrivateDirectory(); err != nil {
		return options, release, err
	}
	unlock, isFirst, err := tree.LockSession(options.Attach, session)
	if err != nil {
		return options, release, err
	}
	options.Local, options.Idle = &node{selection: selection}, !isFirst
	if isFirst {
		release = unlock
	}
	return options, release, nil
}

// standardStreams are the standard input and output of this process.
type standardStreams struct{}

var _ io.ReadWriteCloser = standardStreams{}

// Read implements [io.Reader].
func (standardStreams) Read(buffer []byte) (int, error) { return os.Stdin.Read(buffer) }

// Write implements [io.Writer].
func (standardStreams) Write(text []byte) (int, error) { return os.Stdout.Write(text) }

// Close implements [io.Closer].
func (standardStreams) Close() error {
	_ = os.Stdin.Close() // nothing was written
	return os.Stdout.Close()
}
