package command_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
)

// before and after are simple commands that run a shell script.
func before(script, attributes string) string { return simple("pre-launch-cmd", script, attributes) }
func after(script, attributes string) string  { return simple("post-launch-cmd", script, attributes) }

func simple(kind, script, attributes string) string {
	return fmt.Sprintf(`<%s name="helper" exec="/bin/sh -c '%s'" %s/>`, kind, strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(script), attributes)
}

func TestCommandsBeforehandRunInOrderAndAreWaitedFor(t *testing.T) {
	b := newBench(t, shell(`cat log; echo main`, "", `<environment name="WHO" value="set"/>`+before(`echo one $WHO >>log`, "")+before(`echo two >>log; exit 3`, `ignoreExitStatus="true"`)))
	require.Equal(t, "one set\ntwo\nmain\n", b.succeeds(t, config.StartUpCommand).Stdout)
}

func TestAFailingCommandBeforehandKeepsTheCommandFromRunning(t *testing.T) {
	b := newBench(t, shell(`touch ran`, "", before(`echo no space left >&2; exit 9`, "")))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.Failure("pre-launch failed"), failed.Failure)
	require.ErrorContains(t, failed, "no space left")
	require.ErrorContains(t, failed, "code 9")
	require.False(t, failed.Ambiguous())
	require.False(t, b.exists("ran"))

	b = newBench(t, shell(`touch ran`, "", before(`echo on stdout; exit 9`, `redirectStderr="true"`)))
	require.ErrorContains(t, b.fails(t, config.StartUpCommand), "on stdout")
}

func TestAMissingCommandBeforehandCountsUnlessIgnored(t *testing.T) {
	for _, wait := range []string{"true", "false"} {
		b := newBench(t, shell(`touch ran`, "", `<pre-launch-cmd name="h" exec="no-such-program-anywhere" wait="`+wait+`"/>`))
		failed := b.fails(t, config.StartUpCommand)
		require.Equal(t, command.Failure("pre-launch failed"), failed.Failure)
		require.ErrorIs(t, failed, remote.ErrCommandNotFound)
		require.False(t, b.exists("ran"))

		b = newBench(t, shell(`touch ran`, "", `<pre-launch-cmd name="h" exec="no-such-program-anywhere" ignoreExitStatus="true" wait="`+wait+`"/>`))
		b.succeeds(t, config.StartUpCommand)
		require.True(t, b.exists("ran"))
	}
}

func TestACommandBeforehandSharesTheLimit(t *testing.T) {
	b := newBench(t, shell(`touch ran`, `x:timeout="100ms"`, before(`exec sleep 600`, "")))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.Failure("pre-launch failed"), failed.Failure)
	require.ErrorContains(t, failed, "it may run for 100ms")
	require.False(t, b.exists("ran"))
}

// waiting waits, within a script, until a file is there.
func waiting(file string) string { return `until [ -e ` + file + ` ]; do sleep 0.01; done` }

func TestACommandInTheBackgroundEndsTogetherWithItsCommand(t *testing.T) {
	b := newBench(t, shell(waiting("pid"), "", before(`echo $$ >pid.new; mv pid.new pid; exec sleep 600`, `wait="false"`)))
	b.succeeds(t, config.StartUpCommand)
	require.False(t, b.isAlive(t, "pid"))
}

func TestACommandInTheBackgroundEndsWithAFailure(t *testing.T) {
	b := newBench(t, shell(`:`, "", before(`echo $$ >pid.new; mv pid.new pid; exec sleep 600`, `wait="false"`)+before(waiting("pid")+`; exit 1`, "")))
	require.Equal(t, command.Failure("pre-launch failed"), b.fails(t, config.StartUpCommand).Failure)
	require.False(t, b.isAlive(t, "pid"))
}

func TestCommandsAfterwardsRunWhenTheirCommandHasSucceeded(t *testing.T) {
	b := newBench(t, shell(`echo main >>log`, "", after(`echo after >>log`, "")))
	b.succeeds(t, config.StartUpCommand)
	require.Equal(t, "main\nafter\n", b.file(t, "log"))

	b = newBench(t, shell(`exit 1`, "", after(`touch ran`, "")))
	b.fails(t, config.StartUpCommand)
	require.False(t, b.exists("ran"))
}

func TestAFailingPostCommandKeepsTheEffectOfItsCommand(t *testing.T) {
	b := newBench(t, shell(`touch ran`, "", after(`echo broken >&2; exit 4`, "")))
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.Failure("post-launch failed"), failed.Failure)
	require.ErrorContains(t, failed, "broken")
	require.Zero(t, failed.ExitCode, "the command itself went well")
	require.True(t, failed.Ambiguous())
}

func TestCommandsAfterTheLaunchRunBesideAnAttachedJob(t *testing.T) {
	for _, keepOpen := range []string{"true", "false"} {
		t.Run("keepOpen="+keepOpen, func(t *testing.T) {
			b := newBench(t, element("submit-interactive", waiting("launched"), `keepOpen="`+keepOpen+`"`, after(`touch launched`, "")))
			b.request.Attach = &command.Attachment{Stdout: io.Discard}
			b.succeeds(t, config.SubmitInteractive)
			require.True(t, b.exists("launched"))
		})
	}
}

func TestAFailingCommandAfterTheLaunchEndsTheAttachedJob(t *testing.T) {
	b := newBench(t, element("submit-interactive", `exec sleep 600`, `keepOpen="true"`, after(`exit 4`, "")))
	var stdout bytes.Buffer
	b.request.Attach = &command.Attachment{Stdout: &stdout}
	failed := b.fails(t, config.SubmitInteractive)
	require.Equal(t, command.Failure("post-launch failed"), failed.Failure)
	require.ErrorContains(t, failed, "code 4")
}

func TestALostBackgroundCommandIsReported(t *testing.T) {
	b := newBench(t, shell(`touch ran`, "", before(`:`, "")))
	b.connection = &lossyConnection{Connection: b.connection}
	failed := b.fails(t, config.StartUpCommand)
	require.Equal(t, command.Failure("pre-launch failed"), failed.Failure)
	require.ErrorIs(t, failed, io.ErrUnexpectedEOF)
	require.False(t, b.exists("ran"))
}
