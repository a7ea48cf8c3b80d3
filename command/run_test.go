package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/tokenizer"
)

func TestACommandsOutputIsReadIntoAttributes(t *testing.T) {
	b := newBench(t, `<attribute name="seen"/>`+shell(`echo one; echo two`, "", lines("stdout-parser", "seen")))
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "one,two", b.env.Text("seen"))
	require.Zero(t, result.ExitCode)
	require.Equal(t, "one\ntwo\n", result.Stdout)
	require.Positive(t, result.Duration)
}

func TestArgumentsAreNotPassedToAShell(t *testing.T) {
	b := newBench(t, `<start-up-command name="s"><arg>/usr/bin/printf %s. '$(touch x)' ;touch y *</arg></start-up-command>`)
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "$(touch x).;touch.y.*.", result.Stdout)
	require.False(t, b.exists("x"))
}

func TestACommandRunsInItsDirectory(t *testing.T) {
	b := newBench(t, `<attribute name="where"><default>below</default></attribute>`+shell(`pwd`, `directory="${ptp_rm:where#value}"`, ""))
	require.NoError(t, os.Mkdir(filepath.Join(b.folder, "below"), 0o700))
	require.Equal(t, filepath.Join(b.folder, "below")+"\n", b.succeeds(t, config.StartUpCommand).Stdout)

	b.env.SetVariable("where", nil)
	require.Equal(t, b.folder+"\n", b.succeeds(t, config.StartUpCommand).Stdout, "without one, in the home directory")

	b.env.SetVariable("where", filepath.Join(b.folder, "absent"))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.NotStarted, failed.Failure)
	require.ErrorIs(t, failed, os.ErrNotExist)
}

func TestTheEnvironmentReachesTheProcess(t *testing.T) {
	t.Setenv("SQUEUE_FORMAT", "%i")
	t.Setenv("INHERITED", "yes")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	const script = `echo "$SQUEUE_FORMAT|$INHERITED|$OWN|$LC_ALL"`
	b := newBench(t, shell(script, "", `<environment name="OWN" value="a b"/>`)+element("submit-batch", script, "", `<environment name="OWN" value="c"/>`))
	require.Equal(t, "|yes|a b|C\n", b.succeeds(t, config.StartUpCommand).Stdout)
	require.Equal(t, "%i|yes|c|de_DE.UTF-8\n", b.succeeds(t, config.SubmitBatch).Stdout, "a job may inherit what its submission had")

	b.request.Environment = job.Environment{Variables: []job.Variable{{Name: "OWN", Value: "of the user"}}}
	require.Equal(t, "%i|yes|of the user|de_DE.UTF-8\n", b.succeeds(t, config.SubmitBatch).Stdout)
	b.request.Environment.Replace = true
	require.Equal(t, "||of the user|\n", b.succeeds(t, config.SubmitBatch).Stdout)
}

func TestInputIsFedAsALine(t *testing.T) {
	b := newBench(t, shell(`cat; echo end`, "", `<input>first</input><input>second</input>`))
	require.Equal(t, "first second\nend\n", b.succeeds(t, config.StartUpCommand).Stdout)
}

func TestACommandWithoutInputReadsEndOfFile(t *testing.T) {
	b := newBench(t, shell(`cat; echo end`, "", ""))
	require.Equal(t, "end\n", b.succeeds(t, config.StartUpCommand).Stdout)
}

func TestStandardInputMayBeAFile(t *testing.T) {
	script := filepath.Join(t.TempDir(), "a script")
	require.NoError(t, os.WriteFile(script, []byte("first\nlast"), 0o600))
	b := newBench(t, `<attribute name="script"/>`+shell(`cat; echo " end"`, `x:stdin="${ptp_rm:script#value}"`, ""))
	b.env.SetVariable("script", script)
	require.Equal(t, "first\nlast end\n", b.succeeds(t, config.StartUpCommand).Stdout)

	b.env.SetVariable("script", script+".gone")
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.NotStarted, failed.Failure)
	require.ErrorIs(t, failed, fs.ErrNotExist)
}

func TestAnEmptyInputIsAnEmptyLine(t *testing.T) {
	b := newBench(t, shell(`read -r line; echo "$? [$line]"`, "", `<input/>`))
	require.Equal(t, "0 []\n", b.succeeds(t, config.StartUpCommand).Stdout)
}

func TestUnreadInputIsNoFailure(t *testing.T) {
	b := newBench(t, `<attribute name="much"/>`+shell(`exec 0<&-; echo done`, "", `<input>${ptp_rm:much#value}</input>`))
	b.env.SetVariable("much", strings.Repeat("x", 300_000))
	require.Equal(t, "done\n", b.succeeds(t, config.StartUpCommand).Stdout)
}

func TestExitCodesAreErrorsWithTheOutput(t *testing.T) {
	b := newBench(t, shell(`echo out; echo "no such queue" >&2; exit 3`, "", ""))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.BadExit, failed.Failure)
	require.Equal(t, 3, failed.ExitCode)
	require.Equal(t, "start-up-command \"tested\" (/bin/sh) exited with code 3:\nno such queue", failed.Error())
	require.False(t, failed.Ambiguous(), "the command itself said that it failed")

	answered := &command.Error{Command: failed.Command, Arguments: []string{"@agent", "submit"}, Failure: command.BadExit, ExitCode: 1, Output: "job 4 has ended\n"}
	require.Equal(t, "job 4 has ended", answered.Error(), "users know no such command")

	b = newBench(t, shell(`echo only out; exit 3`, "", ""))
	require.ErrorContains(t, b.fails(t, config.StartUpCommand), "only out")
}

// A shell between rmctl and the submit command may be killed after the command has succeeded.
func TestACommandThatASignalEndedMayHaveHadItsEffect(t *testing.T) {
	for script, isAmbiguous := range map[string]bool{"kill -KILL $$": true, "exit 143": true, "exit 153": false, "exit 1": false} {
		b := newBench(t, shell(script, "", ""))
		require.Equal(t, isAmbiguous, b.fails(t, config.StartUpCommand).Ambiguous(), script)
	}
}

const throwing = `<stdout-parser delim="\n"><target ref="a"><match><expression>bad (.*)</expression>` +
	`<throw field="value" message="the definition says: ${ptp_rm:a#value}"><entry valueGroup="1"/></throw></match></target></stdout-parser>`

func TestADefinitionMayThrowAnErrorAtExitZero(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo bad luck`, "", throwing))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.ParserFailed, failed.Failure)
	require.ErrorContains(t, failed, "the definition says: luck")
	require.True(t, failed.Ambiguous(), "what the command did it did")
}

func TestIgnoringTheExitStatusIgnoresNothingElse(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`exit 3`, `ignoreExitStatus="true"`, throwing))
	require.Equal(t, 3, b.succeeds(t, config.StartUpCommand).ExitCode)

	b = newBench(t, `<attribute name="a"/>`+shell(`echo bad luck; exit 3`, `ignoreExitStatus="true"`, throwing))
	require.Equal(t, command.ParserFailed, b.fails(t, config.StartUpCommand).Failure)

	b = newBench(t, `<start-up-command name="s" ignoreExitStatus="true"><arg>no-such-program-anywhere</arg></start-up-command>`)
	require.Equal(t, command.NotStarted, b.fails(t, config.StartUpCommand).Failure)
}

func TestTheExitCodeWinsOverParserErrors(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo bad luck; exit 3`, "", throwing))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.BadExit, failed.Failure)
	require.ErrorContains(t, failed, "the definition says", "with what the parsers found")
}

func TestTheErrorNamesAMissingProgram(t *testing.T) {
	b := newBench(t, `<start-up-command name="s"><arg>no-such-program-anywhere -x</arg></start-up-command>`)
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.NotStarted, failed.Failure)
	require.ErrorIs(t, failed, remote.ErrCommandNotFound)
	require.ErrorContains(t, failed, "no-such-program-anywhere")
	require.Equal(t, config.Transient, failed.Outcome, "nothing was found out about any job")
	require.False(t, failed.Ambiguous())
}

func TestLaterChangesOfAttributesDoNotAffectAResolvedCommand(t *testing.T) {
	b := newBench(t, `<attribute name="word"><default>before</default></attribute>`+
		shell(`echo "$WORD" >ran`, "", `<environment name="WORD" value="${ptp_rm:word#value}"/>`))
	b.request.Command = b.Command(config.StartUpCommand)
	invocation, err := b.request.Resolve()
	require.NoError(t, err)
	b.env.Variable("word").SetValue("after")
	_, err = command.Run(t.Context(), b.connection, b.request, invocation)
	require.NoError(t, err)
	require.Equal(t, "before\n", b.file(t, "ran"))
}

func TestUnresolvableTextsRunNothing(t *testing.T) {
	b := newBench(t, `<attribute name="circle"><default>${ptp_rm:circle#value} </default></attribute>`+
		shell(`touch ran`, "", `<environment name="E" value="${ptp_rm:circle#value}"/>`))
	require.Equal(t, command.Failure("not resolvable"), b.fails(t, config.StartUpCommand).Failure)
	require.False(t, b.exists("ran"))
}

// takesTooLong runs a command that exceeds its time limit after printing something: on a busy
// machine that may need a longer limit.
func takesTooLong(t *testing.T, script string, grace time.Duration) (b *bench, failed *command.Error, limit string) {
	t.Helper()
	for _, limit = range []string{"150ms", "2s", "30s"} {
		b = newBench(t, shell(script, `x:timeout="`+limit+`"`, ""))
		b.endsWithin(t, grace)
		failed = b.fails(t, config.StartUpCommand)
		require.Equal(t, command.TimedOut, failed.Failure)
		if strings.Contains(failed.Error(), "so far") {
			break
		}
	}
	return b, failed, limit
}

func TestACommandThatTakesTooLongIsEnded(t *testing.T) {
	b, failed, limit := takesTooLong(t, `echo "$$" >pid; echo so far; exec sleep 600`, patience)
	require.True(t, failed.Ambiguous())
	require.ErrorContains(t, failed, "took too long")
	require.ErrorContains(t, failed, "it may run for "+limit)
	require.NotErrorIs(t, failed, context.DeadlineExceeded, "the caller's time is not over")
	require.ErrorContains(t, failed, "so far", "with its output until then")
	require.False(t, b.isAlive(t, "pid"))
}

func TestTheCallersDeadlineDiffersFromTheCommandsLimit(t *testing.T) {
	b := newBench(t, shell(`exec sleep 600`, "", ""))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := b.run(t, ctx, config.StartUpCommand)
	var failed *command.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, command.TimedOut, failed.Failure)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A command that has to wait for its connection may have no time left.
func TestACommandAfterTheDeadlineHasNoEffect(t *testing.T) {
	limited := newBench(t, shell(`touch ran`, `x:timeout="0.000000001s"`, ""))
	failed := limited.fails(t, config.StartUpCommand)
	require.Equal(t, command.TimedOut, failed.Failure)
	require.ErrorContains(t, failed, "was not started in time")
	require.ErrorContains(t, failed, "it may run for 1ns")
	require.False(t, failed.Ambiguous())
	require.False(t, limited.exists("ran"))

	givenUp := newBench(t, shell(`touch ran`, "", ""))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := givenUp.run(t, ctx, config.StartUpCommand)
	require.ErrorAs(t, err, &failed)
	require.Equal(t, command.Failure("canceled"), failed.Failure)
	require.ErrorContains(t, failed, "enough")
	require.False(t, failed.Ambiguous())
	require.False(t, givenUp.exists("ran"))
}

func TestACommandThatIgnoresTheRequestToEndIsKilled(t *testing.T) {
	b, _, _ := takesTooLong(t, `trap '' TERM; echo "$$" >pid; echo so far; while :; do sleep 600; done`, 200*time.Millisecond)
	require.False(t, b.isAlive(t, "pid"))
}

// isAlive reports whether the process with the id in a file is running.
func (b *bench) isAlive(t testing.TB, name string) bool {
	t.Helper()
	var id int
	_, err := fmt.Sscan(b.file(t, name), &id)
	require.NoError(t, err)
	return syscall.Kill(id, 0) == nil
}

func TestTheDefaultTimeLimitApplies(t *testing.T) {
	b := newBench(t, shell(`exec sleep 600`, "", ""))
	b.request.Timeout = 100 * time.Millisecond
	require.Equal(t, command.TimedOut, b.fails(t, config.StartUpCommand).Failure)

	b = newBench(t, shell(`echo done`, `x:timeout="1m"`, ""))
	b.request.Timeout = time.Nanosecond
	require.Equal(t, "done\n", b.succeeds(t, config.StartUpCommand).Stdout, "the definition knows better")

	b = newBench(t, shell(`echo done`, "", ""))
	b.request.Timeout = -1
	require.Equal(t, "done\n", b.succeeds(t, config.StartUpCommand).Stdout)
}

func TestACallerCanCancelACommand(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo started; exec sleep 600`, "", lines("stdout-parser", "a")))
	ctx, cancel := context.WithCancelCause(t.Context())
	b.request.Trace = func(_ *config.Parser, event tokenizer.TraceEvent) { cancel(errors.New("enough")) }
	_, err := b.run(t, ctx, config.StartUpCommand)
	var failed *command.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, command.Failure("canceled"), failed.Failure)
	require.True(t, failed.Ambiguous())
	require.ErrorContains(t, err, "enough")
}

func TestParserErrorsOfAKilledCommandAreIgnored(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo bad luck; exec sleep 600`, `x:timeout="150ms"`, throwing))
	require.Equal(t, command.TimedOut, b.fails(t, config.StartUpCommand).Failure)
}

// A lossyConnection loses commands, all after the first untroubled ones: at
// their start, or while they run.
type lossyConnection struct {
	remote.Connection
	untroubled int
	atStart    bool
}

func (l *lossyConnection) Start(ctx context.Context, c remote.Command) (remote.Handle, error) {
	if l.untroubled > 0 {
		l.untroubled--
		return l.Connection.Start(ctx, c)
	}
	if l.atStart {
		return nil, &remote.StartError{Program: c.Arguments[0], Err: remote.ErrUnreachable}
	}
	if c.Stdout != nil {
		if _, err := io.WriteString(c.Stdout, "half a li"); err != nil {
			return nil, err
		}
	}
	return lostProcess{}, nil
}

type lostProcess struct{}

func (lostProcess) Wait() (int, error)          { return -1, io.ErrUnexpectedEOF }
func (lostProcess) Terminate()                  {}
func (lostProcess) Signal(syscall.Signal) error { return nil }

func TestALostConnectionLeavesTheOutcomeUnknown(t *testing.T) {
	b := newBench(t, shell(`echo done`, "", ""))
	for _, atStart := range []bool{true, false} {
		b.connection = &lossyConnection{Connection: b.connection, atStart: atStart}
		failed := b.fails(t, config.StartUpCommand)
		require.Equal(t, command.Lost, failed.Failure)
		require.True(t, failed.Ambiguous())
	}
}

func TestTheTraceShowsEveryParser(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+shell(`echo out; echo err >&2`, "", lines("stdout-parser", "a")+lines("stderr-parser", "a")))
	seen := map[string]bool{}
	b.request.Trace = func(parser *config.Parser, _ tokenizer.TraceEvent) { seen[parser.Element] = true }
	b.succeeds(t, config.StartUpCommand)
	require.Equal(t, map[string]bool{"stdout-parser": true, "stderr-parser": true}, seen)
}

func TestAnAttachedJobKeepsItsStreamsAndItsExitCode(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive", `read -r line; echo "got $line"; read -r line; echo "then $line"; echo oops >&2; exit 7`, "",
		`<input>typed by the definition</input>`+lines("stdout-parser", "a")))
	var stdout, stderr bytes.Buffer
	progress := 0
	b.request.Attach = &command.Attachment{
		Stdin: strings.NewReader("typed by the user\n"), Stdout: &stdout, Stderr: &stderr,
		Progress: func(func() string) (bool, error) { progress++; return false, nil },
	}
	result := b.succeeds(t, config.SubmitInteractive)
	require.Equal(t, 7, result.ExitCode, "the exit code is the job's")
	require.Equal(t, "got typed by the definition\nthen typed by the user\n", stdout.String())
	require.Equal(t, "oops\n", stderr.String())
	require.Equal(t, "got typed by the definition,then typed by the user", b.env.Text("a"))
	require.Positive(t, progress)
}

func TestAnAttachedJobHasNoTimeLimit(t *testing.T) {
	b := newBench(t, element("submit-interactive", `echo done`, "", ""))
	var stdout bytes.Buffer
	b.request.Timeout = time.Nanosecond
	b.request.Attach = &command.Attachment{Stdout: &stdout}
	b.succeeds(t, config.SubmitInteractive)
	require.Equal(t, "done\n", stdout.String())
}

func TestInputMayBeAJSONObject(t *testing.T) {
	const attributes = `<attribute name="name" type="string" x:option="job_name"/><attribute name="nodes" type="integer" x:option="nodes"/>
		<attribute name="hold" type="boolean" x:option="hold"/><attribute name="requeue" type="boolean" x:option="requeue"/>
		<attribute name="unset" type="string" x:option="unset"/><attribute name="script" type="string"/>`
	b := newBench(t, attributes+shell(`cat`, "", `<input>{</input><input x:member="script">${ptp_rm:script#value}</input><input x:members="options"/>
		<input x:member="unset">${ptp_rm:unset#value}</input><input>"last":1}</input>`))
	b.env.SetVariable("name", "a \"b\"\n\\c\x01, </x>")
	b.env.SetVariable("nodes", 2)
	b.env.SetVariable("hold", true)
	b.env.SetVariable("requeue", false)
	b.env.SetVariable("script", "#!/bin/sh\n")
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.succeeds(t, config.StartUpCommand).Stdout), &object))
	require.Equal(t, map[string]any{
		"script": "#!/bin/sh\n", "job_name": "a \"b\"\n\\c\x01, </x>", "nodes": 2.0, "hold": true, "last": 1.0,
	}, object)
}
