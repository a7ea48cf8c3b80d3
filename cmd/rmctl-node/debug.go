package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/dap"
	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/track"
	"github.com/rmctl/rmctl/internal/tree"
)

// Pauses between attempts to connect to rmctl.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = 2 * time.Second
)

// debugOptions are the flags of the command.
type debugOptions struct {
	file, from string
	pid, rank  int
	server     int // rank of a process without one of a launcher; -1 for none
	start      uint64
}

// runDebug debugs a rank: it starts the program in the pass, whatever the words after "--" are, or attaches to a process
// of this user. It ends as the program does.
func runDebug(ctx context.Context, arguments []string) int {
	var o debugOptions
	flags := newFlags("debug")
	flags.StringVar(&o.file, "pass", "", "file that says what to debug, and how")
	flags.StringVar(&o.from, "rank-from", "", "environment variable with the rank")
	flags.IntVar(&o.pid, "attach", 0, "process to attach to")
	flags.Uint64Var(&o.start, "start", 0, "when that started, in ticks since boot")
	flags.IntVar(&o.rank, "rank", 0, "its rank")
	// Debug commands of definitions add these for the debugger of PTP.
	flags.IntVar(&o.server, "server", -1, "rank of a process that no launcher numbers")
	isMaster := flags.Bool("master", false, "end: ranks connect to rmctl without a master")
	flags.String("generate_routes", "", "hosts, for a master")
	flags.String("routing_file", "", "file of hosts, for a master")
	if err := flags.Parse(arguments); err != nil || o.file == "" || o.pid < 0 || o.rank < 0 {
		return wrongUsage("debug", "--pass FILE [--rank-from NAME] -- EXE ARG...\n       rmctl-node debug --pass FILE --attach PID --start TICKS --rank N")
	}
	if *isMaster {
		return 0
	}
	runtime.GOMAXPROCS(1) // a node has a server for each rank, and each waits most of the time
	signals := track.Catch()
	pass, err := server.ReadPass(o.file)
	if err != nil {
		return fail(err)
	}
	if o.pid > 0 {
		return o.attach(ctx, pass, signals)
	}
	return o.launch(ctx, pass, signals)
}

// identity returns the rank of this process, and whether a launcher says it.
func (o debugOptions) identity(pass *server.Pass) (found rank.Identity, isKnown bool, err error) {
	found, isKnown, err = rank.Of(os.Getenv, cmp.Or(o.from, pass.RankFrom))
	if err == nil && !isKnown && o.server >= 0 {
		found.Rank = o.server
	}
	return found, isKnown, err
}

// launch starts the program of the pass under a debugger, unless its rank runs without one.
func (o debugOptions) launch(ctx context.Context, pass *server.Pass, signals <-chan os.Signal) int {
	found, hasRank, err := o.identity(pass)
	if err != nil {
		return fail(err)
	}
	environment := setVariables(os.Environ(), pass.Environment)
	if pass.Directory != "" {
		if err := os.Chdir(pass.Directory); err != nil {
			return fail(fmt.Errorf("entering the working directory: %w", err))
		}
	}
	if err := os.Setenv("PATH", valueOf(environment, "PATH")); err != nil {
		return fail(err)
	}
	find := func(name string) (string, error) { return track.Find(name, found) }
	without := func() int { return runWithoutDebugger(pass, find, environment) }
	if len(pass.Arguments) > 0 && !pass.Debugs(found.Rank) {
		return without()
	}
	options := optionsOf(pass, found.Rank)
	options.Size, options.Environment, options.Find = 1, environment, find
	if hasRank {
		options.Size = rank.SizeOf(os.Getenv, found)
	}
	options.Output, options.Errors, options.Signals = os.Stdout, os.Stderr, signals
	options.Quiet, options.WhenLeft = pass.Quiet, cmp.Or(pass.WhenLeft, server.End)
	if len(pass.Arguments) > 0 {
		options.Program = &debug.Program{Arguments: pass.Arguments}
	}
	conn, err := dialDebugger(ctx, pass, signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rmctl-node:", tree.OneLine(err.Error()))
		if pass.WhenLeft == server.Release && len(pass.Arguments) > 0 && !errors.As(err, new(*signalError)) {
			return without()
		}
		return codeOfDial(err)
	}
	ending, err := server.Serve(ctx, conn, options)
	if err != nil {
		return fail(err)
	}
	return endAs(ending)
}

// endAs ends this process by the signal that ended a program, or returns its exit code.
func endAs(ending server.Ending) int {
	if ending.Signal != 0 {
		track.EndBy(ending.Signal)
	}
	return ending.Code
}

// runWithoutDebugger becomes the program of the pass.
func runWithoutDebugger(pass *server.Pass, find func(string) (string, error), environment []string) int {
	path, err := find(pass.Arguments[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rmctl-node:", err)
		return track.ExitCodeOf(err)
	}
	return become(path, pass.Arguments, environment)
}

// attach debugs a process that runs already.
func (o debugOptions) attach(ctx context.Context, pass *server.Pass, signals <-chan os.Signal) int {
	info, err := os.Stat("/proc/" + strconv.Itoa(o.pid))
	if err != nil {
		return fail(fmt.Errorf("process %d has ended", o.pid))
	}
	if status, isStatus := info.Sys().(*syscall.Stat_t); !isStatus || int(status.Uid) != os.Geteuid() {
		return fail(fmt.Errorf("process %d belongs to another user", o.pid))
	}
	options := optionsOf(pass, o.rank)
	options.PID, options.Start, options.Signals = o.pid, o.start, signals
	options.WhenLeft = cmp.Or(pass.WhenLeft, server.Release)
	conn, err := dialDebugger(ctx, pass, signals)
	if err == nil {
		_, err = server.Serve(ctx, conn, options)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rmctl-node:", tree.OneLine(err.Error()))
		return codeOfDial(err)
	}
	return 0
}

// optionsOf returns what a pass says about a rank.
func optionsOf(pass *server.Pass, number int) server.Options {
	options := server.Options{
		Rank: number, Host: track.NodeName(), Debugger: pass.Debugger, Guard: guardWords(), Linger: pass.Linger,
		Able: []debug.Verb{debug.TypeOf, debug.Memory, debug.Raw}, Open: engineOf(pass.Debugger, pass.Path, number),
	}
	if program, err := os.Executable(); err == nil {
		options.Permit = []string{program, "traceable"}
	}
	return options
}

// engineOf returns how to start a debugger for a rank. Without a path it is found in PATH.
func engineOf(debugger, path string, number int) server.Open {
	return func(ctx context.Context, notify func(debug.Notice)) (server.Engine, error) {
		if debugger == server.LLDB || debugger == server.DLV {
			engine, err := dap.OpenEngine(ctx, dap.EngineOptions{Kind: debugger, Path: path, Rank: number, Notify: notify})
			if err != nil {
				return nil, err
			}
			return engine, nil
		}
		directory, err := os.Getwd()
		if err != nil {
			directory = "" // only relative paths in commands need it
		}
		engine, err := mi.OpenEngine(ctx, mi.EngineOptions{Path: path, Rank: number, Directory: directory, Notify: notify})
		if err != nil {
			return nil, err
		}
		return engine, nil
	}
}

// A signalError is a signal that ended the wait for a connection.
type signalError struct{ signal syscall.Signal }

// Error implements error.
func (e *signalError) Error() string { return "waiting for rmctl: " + e.signal.String() }

// codeOfDial returns the exit code for an error, or ends by the signal that caused it.
func codeOfDial(err error) int {
	var ended *signalError
	if errors.As(err, &ended) {
		track.EndBy(ended.signal)
	}
	return 1
}

// dialDebugger connects to rmctl. Its relay may come later than the program, so it tries until the time of the pass is over.
func dialDebugger(ctx context.Context, pass *server.Pass, signals <-chan os.Signal) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, pass.Wait)
	defer cancel()
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		conn, err := tree.DialStream(limited, pass.Connection)
		if err == nil {
			return conn, nil
		}
		// Thousands of ranks connect at the same time: they spread over the pause.
		timer := time.NewTimer(rand.N(pause) + shortestPause)
		select {
		case <-timer.C:
		case each := <-signals:
			if number, isNumber := each.(syscall.Signal); isNumber && number != syscall.SIGCONT {
				return nil, &signalError{number}
			}
		case <-limited.Done():
			return nil, fmt.Errorf("rmctl cannot be reached: %w", err)
		}
		timer.Stop()
	}
}
