package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/rmctl/rmctl/internal/callback"
	"github.com/rmctl/rmctl/internal/tree"
)

// tryCallback tests whether nodes reach the host of a target. With --listen it runs on that host, and
// prints its addresses, and then a line for each node that reaches one, until its input ends.
// Otherwise it runs in the job, and tries the addresses.
func tryCallback(ctx context.Context, arguments []string) int {
	flags := newFlags("callback")
	job := flags.String("job", "", "directory of the job")
	listens := flags.Bool("listen", false, "listen on the host of the target")
	if err := flags.Parse(arguments); err != nil || *job == "" || flags.NArg() > 0 {
		return wrongUsage("callback", "--job DIR [--listen]")
	}
	secret, err := tree.ReadSecret(*job)
	if err != nil {
		return fail(err)
	}
	if *listens {
		err = listenForNodes(ctx, *job, secret)
	} else {
		err = tryAddresses(ctx, *job, secret)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

func listenForNodes(ctx context.Context, job string, secret []byte) error {
	addresses, err := callback.Addresses()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process: a read of standard input cannot be ended
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var turn sync.Mutex
	lines := json.NewEncoder(os.Stdout)
	print := func(value any) {
		turn.Lock()
		defer turn.Unlock()
		if err := lines.Encode(value); err != nil {
			cancel() // no reader is left
		}
	}
	return callback.Listen(ctx, job, secret, addresses, func(bound []string) { print(bound) }, func(caller callback.Caller) { print(caller) })
}

func tryAddresses(ctx context.Context, job string, secret []byte) error {
	node, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("finding the name of this node: %w", err)
	}
	results, err := callback.TryAll(ctx, job, node, secret)
	for _, result := range results {
		if result.Problem != "" {
			fmt.Printf("%s does not reach %s: %s\n", result.Node, result.Address, result.Problem)
		} else {
			fmt.Printf("%s reaches %s\n", result.Node, result.Address)
		}
	}
	return err
}
