package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/prompt"
	"github.com/rmctl/rmctl/internal/terminal"
)

// launch debugs a program at a prompt. If the program has ended by itself, its exit code counts.
func (e *Environment) launch(ctx context.Context, r Request, script string) error {
	options, closeScript, err := e.options(script)
	if err != nil {
		return err
	}
	defer closeScript()
	debugged, err := e.Launch(ctx, r)
	if err != nil {
		return err
	}
	options.Start = &debug.Request{Stop: r.Stop}
	code, isKilled, err := e.run(ctx, debugged, options)
	if code == 0 && err == nil && !isKilled && hasEnded(debugged.Session) {
		code, err = debugged.ExitCode(ctx)
	}
	return e.ended(code, errors.Join(err, debugged.Close()))
}

// attach debugs a running job at a prompt.
func (e *Environment) attach(ctx context.Context, id string, r Request, script string) error {
	options, closeScript, err := e.options(script)
	if err != nil {
		return err
	}
	defer closeScript()
	debugged, err := e.Attach(ctx, id, r)
	if err != nil {
		return err
	}
	options.IsKept = true
	options.Start = &debug.Request{Stop: debug.StopAtEntry}
	code, _, err := e.run(ctx, debugged, options)
	return e.ended(code, errors.Join(err, debugged.Close()))
}

func (e *Environment) ended(code int, err error) error {
	if err != nil {
		return err
	}
	return e.Exit(code)
}

// hasEnded reports whether all ranks have exited by themselves.
func hasEnded(session *debug.Session) bool {
	all := session.Ranks()
	if len(all) == 0 || len(all.Without(session.Ranks(debug.Exited))) > 0 {
		return false
	}
	return true
}

// historyFile is the file of entered lines in the state directory.
const historyFile = "debug-history"

// options returns the options of the prompt. It opens the script before anything is submitted.
func (e *Environment) options(script string) (options prompt.Options, closeScript func(), err error) {
	options = prompt.Options{In: e.Stdin, Out: e.Stdout, JSON: e.IsJSON(), IsTerminal: terminal.Is(e.Stdin) && terminal.Is(e.Stdout)}
	if options.IsTerminal {
		folder, err := e.StateFolder()
		if err != nil {
			return options, nil, err
		}
		options.History = filepath.Join(folder, historyFile)
	}
	if script == "" {
		return options, func() {}, nil
	}
	file, err := os.Open(script)
	if err != nil {
		return options, nil, fmt.Errorf("reading commands: %w", err)
	}
	options.Script = file
	return options, func() { _ = file.Close() }, nil // nothing was written
}

// run runs the prompt. It reports whether the user had the program killed.
func (e *Environment) run(ctx context.Context, debugged Debugged, options prompt.Options) (code int, isKilled bool, err error) {
	options.Log = debugged.Log
	options.Size, options.Ready = debugged.Size, debugged.Ready
	options.Release = debugged.Detach
	options.Kill = func(ctx context.Context) error {
		isKilled = true
		return debugged.Kill(ctx)
	}
	code, err = prompt.Run(ctx, debugged.Session, options)
	return code, isKilled, err
}
