// Package launch runs jobs whose ranks are debugged: it copies the program, checks what the target has, submits the job
// with rmctl-node before the program, and joins the debuggers of the ranks to a session.
package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/job"
)

const (
	// connectLimit is how long the debugger of a rank tries to connect.
	connectLimit = 5 * time.Minute
	// connectPatience is how long the ranks of a running job may take before rmctl starts relays on their nodes.
	connectPatience = time.Second
	// relayLimit bounds the start of relays on nodes.
	relayLimit = 2 * time.Minute
	// endLimit bounds how long rmctl waits for the end of a job that it ended.
	endLimit = 30 * time.Second
)

// A Request says what to debug, and how.
type Request struct {
	Submission job.Submission
	Debugger   string        // gdb, lldb, dlv, or the path of one on the target
	Ranks      debug.Ranks   // the others run without a debugger; nil for all
	Attaches   bool          // debuggers attach to the ranks once they run
	Copy       string        // a file of this machine to copy to the path of the program; empty for none
	WhenLeft   string        // what happens to the ranks when rmctl is gone: [server.Release] or [server.End]
	Linger     time.Duration // the longest time until then
}

// A Target is where programs are debugged.
type Target struct {
	Controller   *control.Controller
	Nodes        *nodes.Directory
	RelayAddress string // setting of the target; empty if nodes do not reach it
	Log          *slog.Logger
	Output       io.Writer // gets what an interactive job prints beside its ranks
	// Reach returns the job of a tag with what reaches its nodes.
	Reach func(ctx context.Context, tag string) (*onnodes.Reachable, error)
}

// Launch submits a job under debuggers, and returns at once. The context bounds the whole session. The caller closes
// the result.
func Launch(ctx context.Context, target Target, request Request) (*Debugged, error) {
	steps := newSteps(target.Log)
	if request.Submission.Script != "" || request.Submission.Executable == "" {
		return nil, errors.New("a script of yours cannot be debugged: rmctl does not know which program in it\nname the program after --")
	}
	if err := prepareFiles(ctx, target, &request); err != nil {
		return nil, err
	}
	steps.done("checked the program and the debugger")
	if request.Attaches {
		return launchAndAttach(ctx, target, request, steps), nil
	}
	tag := uuid.NewString()
	relay, err := onnodes.OpenTop(ctx, target.Controller.Connection, target.Nodes, "debug-"+tag, target.RelayAddress)
	if err != nil {
		return nil, err
	}
	pass := path.Join(relay.Directory, "debug.json")
	hasCommand := hasDebugCommand(target.Controller.Definition)
	isInteractive := runsInteractively(target.Controller.Definition, hasCommand)
	program, err := target.Nodes.Program(ctx)
	if err == nil {
		err = writePass(ctx, target, request, relay.Directory, pass, isInteractive)
	}
	if err != nil {
		return nil, errors.Join(err, relay.Close())
	}
	steps.done("started the relay on the target")
	d := newDebugged(ctx, target, steps)
	d.directory, d.only, d.launched, d.isInteractive = relay.Directory, request.Ranks, true, isInteractive
	submission := request.Submission
	submission.Tag = tag
	if !submission.Track {
		submission.RankFrom = "" // it is in the pass
	}
	words := []string{program, "debug", "--pass", pass}
	if hasCommand {
		submission = forDebugCommand(submission, words)
	} else {
		submission.Wrapper = append(words, "--")
	}
	d.gather(relay)
	d.tasks.Go(func() {
		d.run(submission, func(ctx context.Context, j job.Job) { d.launchRelays(ctx, relay, j.Tag) })
	})
	return d, nil
}

// runsInteractively reports whether jobs are interactive ones, by the definition's command for debugging or by the usual one.
func runsInteractively(definition *config.Definition, debug bool) bool {
	command := definition.Submit(debug)
	return command != nil && (command.Element == config.SubmitInteractive || command.Element == config.SubmitInteractiveDebug)
}

// hasDebugCommand reports whether a definition has a debug command.
func hasDebugCommand(definition *config.Definition) bool {
	return definition.Command(config.SubmitBatchDebug) != nil || definition.Command(config.SubmitInteractiveDebug) != nil
}

// forDebugCommand returns a submission by the definition's own command for debugging, with the attributes that the
// reference sets for it.
func forDebugCommand(submission job.Submission, words []string) job.Submission {
	submission.Debug = true
	submission.Values = append(slices.Clone(submission.Values),
		job.Assignment{Name: "debuggerExecutablePath", Value: words[0]},
		job.Assignment{Name: "debuggerArgs", Value: strings.Join(words[1:], " ")},
		job.Assignment{Name: "debuggerId", Value: "rmctl"})
	return submission
}

// WithDebugger returns a submission that passes a debugger to the debug command of its definition: an absolute
// path on the target, which must exist, or an id. If it is empty, WithDebugger returns the submission unchanged.
func WithDebugger(ctx context.Context, target Target, submission job.Submission, debugger string) (job.Submission, error) {
	name := "debuggerId"
	switch {
	case debugger == "":
		return submission, nil
	case path.IsAbs(debugger):
		name = "debuggerExecutablePath"
		if err := checkExecutable(ctx, target.Controller.Connection, "debugger", debugger); err != nil {
			return submission, err
		}
	}
	if !submission.Assigns(name) {
		submission.Values = append(slices.Clone(submission.Values), job.Assignment{Name: name, Value: debugger})
	}
	return submission, nil
}

// writePass writes the pass of the ranks. With isQuiet, the program prints only through rmctl: the launcher of
// an interactive job would print the same again.
func writePass(ctx context.Context, target Target, request Request, connection, file string, isQuiet bool) error {
	kind, where := debuggerOf(request.Debugger)
	pass := server.Pass{
		Connection: connection, Debugger: kind, Path: where, Ranks: request.Ranks, WhenLeft: request.WhenLeft, Linger: request.Linger, Wait: connectLimit,
		RankFrom: request.Submission.RankFrom, Quiet: isQuiet,
	}
	if program := request.Submission.Executable; program != "" {
		pass.Arguments = append([]string{program}, request.Submission.Arguments...)
	}
	text, err := pass.Encode()
	if err == nil {
		err = target.Controller.Connection.WriteFile(ctx, file, bytes.NewReader(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the file for the debuggers of the ranks: %w", err)
	}
	return nil
}
