package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/job"
)

// An Environment is what the commands need from the command line.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	IsJSON         func() bool
	// AddFlags adds the flags of submissions to a command. The returned function reads them, with the words
	// after them, into a request: the submission, and defaults of debugging from a launch configuration.
	AddFlags func(*cobra.Command) func(words []string, r *Request) error
	// Launch submits a program under debuggers, and returns before its ranks have connected.
	Launch func(context.Context, Request) (Debugged, error)
	// Attach attaches debuggers to the ranks of the job with an id, and returns before they have connected.
	Attach func(ctx context.Context, id string, request Request) (Debugged, error)
	// ServeEditor serves an editor on a stream until the editor leaves, and closes the stream.
	ServeEditor func(context.Context, io.ReadWriteCloser) error
	// StateFolder returns a private directory for files of this user.
	StateFolder func() (string, error)
	// Exit returns an error that only has an exit code, nil for 0.
	Exit func(code int) error
}

// A Request says what to debug, and how.
type Request struct {
	Submission job.Submission // unless a job is attached to
	Debugger   string         // gdb, lldb, dlv, or the path of one on the target
	Stop       string         // as in [debug.Request]; for launches
	Mode       string         // for launches: [Run] or [Attach]
	Ranks      debug.Ranks    // the others have no debugger; nil for all
	Copy       string         // local file to copy to the path of the program; empty for none
	WhenLeft   string         // what happens to ranks when rmctl is gone: [Release] or [End]
	Linger     time.Duration  // until then
}

// The values of Request.WhenLeft.
const (
	Release = "release" // they run on without a debugger
	End     = "end"     // they are killed
)

// The values of Request.Mode.
const (
	Run    = "run"    // debuggers start the program
	Attach = "attach" // they attach to it once it runs
)

// A Debugged is a program whose ranks are debugged.
type Debugged struct {
	Session *debug.Session
	Log     <-chan string // lines about the job; may be nil
	Handle
}

// A Handle controls a program as a whole.
type Handle interface {
	Ready(context.Context) error                    // waits until all ranks have connected, or returns why they will not
	Size() int                                      // ranks of the program; 0 if unknown
	Kill(context.Context) error                     // ends the program
	Detach(context.Context) error                   // lets the ranks run without debuggers
	ExitCode(context.Context) (code int, err error) // waits for the end of a launched job
	Close() error
}

// A UsageError is a mistake in how a command is used.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

func usage(format string, arguments ...any) error {
	return &UsageError{fmt.Errorf(format, arguments...)}
}

// flags are those of both commands.
type flags struct {
	debugger, ranks, whenLeft, script string

	linger time.Duration
}

func (f *flags) add(c *cobra.Command, whenLeft string) {
	c.Flags().StringVar(&f.debugger, "debugger", "", "debugger: gdb, lldb, dlv, or its `PATH` on the target (default gdb)")
	c.Flags().StringVar(&f.ranks, "ranks", "", "`RANKS` to debug, such as 0-7,12; the others run without a debugger (default all)")
	c.Flags().StringVar(&f.whenLeft, "when-left", whenLeft, "`WHAT` happens to ranks after rmctl loses the connection: release or end")
	c.Flags().DurationVar(&f.linger, "linger", 30*time.Second, "maximum `TIME` until --when-left takes effect")
	c.Flags().StringVarP(&f.script, "execute", "x", "", "`FILE` with commands to run first; rmctl exits with 1 if one fails")
	_ = c.RegisterFlagCompletionFunc("debugger", cobra.FixedCompletions([]string{"gdb", "lldb", "dlv"}, cobra.ShellCompDirectiveDefault))
	_ = c.RegisterFlagCompletionFunc("when-left", cobra.FixedCompletions([]string{Release, End}, cobra.ShellCompDirectiveNoFileComp))
}

// longestLinger bounds how long ranks wait for rmctl.
const longestLinger = time.Hour

// request returns the request of the flags.
func (f *flags) request() (Request, error) {
	r := Request{Debugger: f.debugger, WhenLeft: f.whenLeft, Linger: f.linger}
	if !slices.Contains([]string{"", "gdb", "lldb", "dlv"}, f.debugger) && !path.IsAbs(f.debugger) {
		return r, usage("--debugger %q: enter gdb, lldb, dlv or an absolute path on the target", f.debugger)
	}
	if f.whenLeft != Release && f.whenLeft != End {
		return r, usage("--when-left %q: enter release or end", f.whenLeft)
	}
	if f.linger < 0 || f.linger > longestLinger {
		return r, usage("--linger %v: enter a time from 0s to %v", f.linger, longestLinger)
	}
	if f.ranks == "" {
		return r, nil
	}
	ranks, isSet := ranges.Parse(f.ranks)
	if !isSet || ranks[len(ranks)-1].Last >= debug.MostRanks {
		return r, usage("--ranks %q: enter ranks below %d, such as 0-7,12", f.ranks, debug.MostRanks)
	}
	r.Ranks = ranks
	return r, nil
}

// editorFlags are the flags of debug for editors.
type editorFlags struct{ dap, configuration string }

const standardStreams = "stdio"

func (f *editorFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dap, "dap", "", "serve an editor with the Debug Adapter Protocol on standard input and output, or on the socket `unix:PATH`")
	c.Flags().Lookup("dap").NoOptDefVal = standardStreams
	c.Flags().StringVar(&f.configuration, "print-config", "", "print the configuration for `EDITOR` vscode, nvim or emacs")
	_ = c.RegisterFlagCompletionFunc("print-config", cobra.FixedCompletions(editors(), cobra.ShellCompDirectiveNoFileComp))
}

// check refuses invalid words.
func (r Request) check() error {
	if !slices.Contains([]string{"", debug.StopAtMain, debug.StopAtEntry, debug.StopNot}, r.Stop) {
		return usage("--stop %q: enter main, entry or no", r.Stop)
	}
	if !slices.Contains([]string{"", Run, Attach}, r.Mode) {
		return usage("--mode %q: enter run or attach", r.Mode)
	}
	return nil
}

// NewCommand returns the command with its subcommand.
func NewCommand(e Environment) *cobra.Command {
	var f flags
	var editor editorFlags
	var stop, mode, copied string
	c := &cobra.Command{
		Use:   "debug [flags] [--] PROGRAM [ARGUMENT...]",
		Short: "Debug all processes of a parallel program",
		Long: `Submit a job whose processes run under debuggers, and open one prompt for all of them.

rmctl works with every launcher and scheduler, and merges equal answers of ranks. "help"
lists the commands of the prompt; docs/use/debug.md has examples.

With --dap, an editor debugs the program, which its configuration names. --print-config
prints that configuration:

  vscode  an extension of one file; save it as package.json in a new directory
          rmctl.rmctl-1.0.0 in ~/.vscode/extensions, and restart VS Code
  nvim    lines of Lua for nvim-dap ` + nvimVersion + `
  emacs   lines of Emacs Lisp for dape ` + dapeVersion,
		Example: `  rmctl debug -n 4 -- ./solver input.dat
  rmctl debug -n 512 --ranks 0-7 --stop no -- ./solver
  rmctl debug -n 4 -x commands.txt --json -- ./solver
  rmctl debug attach 4711
  rmctl debug --print-config nvim`,
		Args: cobra.ArbitraryArgs,
	}
	f.add(c, End)
	editor.add(c)
	c.Flags().StringVar(&stop, "stop", "", "`WHERE` the program first stops: main, entry or no (default main)")
	c.Flags().StringVar(&mode, "mode", "", "`MODE` of debuggers: run starts the program, attach attaches to it (default run)")
	c.Flags().StringVar(&copied, "copy", "", "local `FILE` to copy to the path of the program, if they differ")
	_ = c.RegisterFlagCompletionFunc("stop", cobra.FixedCompletions([]string{debug.StopAtMain, debug.StopAtEntry, debug.StopNot}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{Run, Attach}, cobra.ShellCompDirectiveNoFileComp))
	read := e.AddFlags(c)
	c.RunE = func(c *cobra.Command, words []string) error {
		if editor != (editorFlags{}) {
			return e.edit(c, editor, words)
		}
		r, err := f.request()
		if err != nil {
			return err
		}
		r.Stop, r.Mode, r.Copy = stop, mode, copied
		if err := r.check(); err != nil {
			return err
		}
		if err := read(words, &r); err != nil {
			return err
		}
		r.Stop, r.Mode = cmp.Or(r.Stop, debug.StopAtMain), cmp.Or(r.Mode, Run)
		if r.Submission.Executable == "" {
			return usage("PROGRAM is missing\nsee %s --help", c.CommandPath())
		}
		return e.launch(c.Context(), r, f.script)
	}
	c.AddCommand(newAttach(e))
	return c
}

func newAttach(e Environment) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "attach JOB",
		Short: "Debug the processes of a running job",
		Long: `Stop the processes of a running job, and open one prompt for all of them.

When you leave the prompt, the processes continue. rmctl must know the processes and reach
their nodes; docs/use/stacks.md explains how.`,
		Example: `  rmctl debug attach 4711
  rmctl debug attach --ranks 3 4711`,
		Args: func(c *cobra.Command, words []string) error {
			switch len(words) {
			case 0:
				return usage("JOB is missing\nsee %s --help", c.CommandPath())
			case 1:
				return nil
			}
			return usage("unexpected argument %q\nsee %s --help", words[1], c.CommandPath())
		},
		RunE: func(c *cobra.Command, words []string) error {
			r, err := f.request()
			if err != nil {
				return err
			}
			return e.attach(c.Context(), words[0], r, f.script)
		},
	}
	f.add(c, Release)
	return c
}

// edit serves an editor, or prints the configuration of one.
func (e *Environment) edit(c *cobra.Command, f editorFlags, words []string) error {
	name := "--dap"
	if f.configuration != "" {
		name = "--print-config"
	}
	if len(words) > 0 {
		return usage("%s has no arguments: the editor's configuration names the program", name)
	}
	for _, other := range []string{"execute", "copy", "ranks", "stop", "mode", "debugger", "when-left", "linger"} {
		if c.Flags().Changed(other) {
			return usage("%s cannot be used together with --%s: the editor's configuration has that", name, other)
		}
	}
	if f.configuration != "" {
		if f.dap != "" {
			return usage("--print-config cannot be used together with --dap")
		}
		return e.printConfiguration(f.configuration)
	}
	return e.serve(c.Context(), f.dap)
}
