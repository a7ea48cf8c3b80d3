package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/sdm"
	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/track"
)

// runSDM is the debugger of Eclipse PTP: a server of a rank, or the master. Its options and its exit code
// for wrong ones are those of the original.
func runSDM(ctx context.Context, arguments []string) int {
	options, err := sdm.ParseOptions(arguments, os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rmctl-node:", err)
		fmt.Fprint(os.Stderr, sdm.Usage)
		return 1
	}
	if options.IsMaster {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		defer stop()
		if err := sdm.RunMaster(ctx, options); err != nil {
			return fail(err)
		}
		return 0
	}
	return serveForMaster(ctx, options)
}

// sdmLinger bounds how long a server takes to end its program once the master is gone.
const sdmLinger = 30 * time.Second

// serveForMaster debugs a rank for the master.
func serveForMaster(ctx context.Context, options *sdm.Options) int {
	waiting, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	conn, size, err := sdm.AwaitMaster(waiting, options, track.NodeName())
	stop()
	if err != nil {
		return fail(err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGXCPU)
	defer signal.Stop(signals)
	identity, _, err := rank.Of(os.Getenv, "")
	if err != nil {
		return fail(err)
	}
	program, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	ending, err := server.Serve(ctx, conn, server.Options{
		Rank: options.Rank, Size: size, Host: track.NodeName(), Environment: os.Environ(),
		Debugger: options.Debugger, Able: []debug.Verb{debug.TypeOf, debug.Memory}, Open: engineOf(options.Debugger, options.DebuggerPath, options.Rank),
		Guard: guardWords(), Permit: []string{program, "traceable"},
		Find:     func(name string) (string, error) { return track.Find(name, identity) },
		WhenLeft: server.End, Linger: sdmLinger, Output: os.Stdout, Errors: os.Stderr, Signals: signals,
	})
	if err != nil {
		return fail(err)
	}
	return endAs(ending)
}
