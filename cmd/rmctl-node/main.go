// rmctl-node runs on the nodes of jobs, next to their processes. rmctl copies it there and starts it; users do
// not call it.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// A command is one thing that the program does. It returns the exit code.
type command func(ctx context.Context, arguments []string) int

// commands are the commands by their names.
var commands = map[string]command{
	"barrier":   waitAtBarrier,
	"callback":  tryCallback,
	"debug":     runDebug,
	"exchange":  exchange,
	"guard":     runGuard,
	"prepare":   prepare,
	"processes": printProcesses,
	"python":    printPythonModule,
	"rank":      printRank,
	"recv":      receive,
	"relay":     runRelay,
	"run":       runPart,
	"sdm":       runSDM,
	"send":      send,
	"sentinel":  runSentinel,
	"session":   runSession,
	"size":      printSize,
	"structure": printStructure,
	"traceable": becomeTraceable,
	"track":     runTracked,
	"version":   printVersion,
}

// exitUsage is the exit code for wrong arguments, as of rmctl.
const exitUsage = 2

func main() {
	if len(os.Args) > 1 {
		if run := commands[os.Args[1]]; run != nil {
			os.Exit(run(context.Background(), os.Args[2:]))
		}
	}
	fmt.Fprintln(os.Stderr, "rmctl-node: rmctl starts this program on the nodes of jobs; see docs/use/stacks.md of rmctl")
	os.Exit(exitUsage)
}

// printVersion prints the version of the build.
func printVersion(_ context.Context, arguments []string) int {
	if len(arguments) > 0 {
		fmt.Fprintf(os.Stderr, "rmctl-node: unexpected argument %q\n", arguments[0])
		return exitUsage
	}
	version := "unknown"
	if build, ok := debug.ReadBuildInfo(); ok {
		version = strings.TrimPrefix(build.Main.Version, "v")
	}
	fmt.Println("rmctl-node", version)
	return 0
}
