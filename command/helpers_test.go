package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
)

// patience is the time limit for something that takes long only on a busy machine.
const patience = time.Minute

// define loads a definition with this control data, which must be in order.
func define(t testing.TB, controlData string) *config.Definition {
	t.Helper()
	text := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test"><control-data>` +
		controlData + `</control-data></resource-manager-builder>`
	definition, problems := check.Load("test.xml", []byte(text), nil)
	require.NoError(t, problems.Err())
	return definition
}

// environment returns the attributes of a definition with their defaults.
func environment(definition *config.Definition) *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, defined := range definition.Attributes {
		a := defined.Clone()
		a.SetValue(a.Field(attribute.FieldDefault))
		env.Define(a.Name(), a)
	}
	return env
}

// A bench runs the commands of one definition on this machine.
type bench struct {
	*config.Definition
	env        *attribute.Environment
	folder     string // the home folder of the connection; empty at first
	connection remote.Connection
	request    command.Request
}

func newBench(t testing.TB, controlData string) *bench {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	setenv, isTest := t.(interface{ Setenv(key, value string) })
	require.True(t, isTest)
	setenv.Setenv("HOME", folder)
	b := &bench{Definition: define(t, controlData), folder: folder}
	b.endsWithin(t, patience)
	b.env = environment(b.Definition)
	b.request = command.Request{Scope: config.Scope{Environment: b.env}, Outcomes: b.Outcomes}
	return b
}

// endsWithin is the time to end before a process is killed.
func (b *bench) endsWithin(t testing.TB, grace time.Duration) {
	t.Helper()
	local, err := remote.NewLocalWith(grace, patience)
	require.NoError(t, err)
	b.connection = local
}

// run runs the first command of an element.
func (b *bench) run(t testing.TB, ctx context.Context, element config.CommandElement) (*command.Result, error) {
	t.Helper()
	b.request.Command = b.Command(element)
	require.NotNil(t, b.request.Command)
	ctx, stop := context.WithTimeout(ctx, 2*patience) // an attached job has no time limit
	defer stop()
	return resolveAndRun(ctx, b.connection, b.request)
}

// resolveAndRun resolves a command and runs it.
func resolveAndRun(ctx context.Context, connection remote.Connection, request command.Request) (*command.Result, error) {
	invocation, err := request.Resolve()
	if err != nil {
		return nil, err
	}
	return command.Run(ctx, connection, request, invocation)
}

// fails runs a command that must fail, and returns how.
func (b *bench) fails(t testing.TB, element config.CommandElement) *command.Error {
	t.Helper()
	_, err := b.run(t, t.Context(), element)
	var failed *command.Error
	require.ErrorAs(t, err, &failed)
	return failed
}

func (b *bench) succeeds(t testing.TB, element config.CommandElement) *command.Result {
	t.Helper()
	result, err := b.run(t, t.Context(), element)
	require.NoError(t, err)
	return result
}

// file returns the text of a file that a command left in the home folder.
func (b *bench) file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder, name))
	require.NoError(t, err)
	return string(text)
}

// exists reports whether a command left a file in the home folder.
func (b *bench) exists(name string) bool {
	_, err := os.Stat(filepath.Join(b.folder, name))
	return err == nil
}

// shell returns a start-up command that runs a shell script, with attributes
// and children of the command element.
func shell(script, attributes, children string) string {
	return element("start-up-command", script, attributes, children)
}

func element(name, script, attributes, children string) string {
	return fmt.Sprintf(`<%s name="tested" %s><arg>/bin/sh -c</arg><arg resolve="false"><![CDATA['%s']]></arg>%s</%s>`,
		name, attributes, strings.ReplaceAll(script, "'", `'"'"'`), children, name)
}

// lines is a parser that adds every line to the text of an attribute.
func lines(parser, target string) string {
	return fmt.Sprintf(`<%s delim="\n"><target ref="%s"><match><expression>(.+)</expression>`+
		`<append field="value" separator=","><entry valueGroup="1"/></append></match></target></%s>`, parser, target, parser)
}

// fifo makes a named pipe with which a script and a test synchronize.
func fifo(t testing.TB, b *bench, name string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.folder, name), 0o600))
}

// notify writes to a named pipe that a script reads.
func (b *bench) notify(t testing.TB, name, text string) {
	t.Helper()
	pipe, err := remotetest.OpenPipe(filepath.Join(b.folder, name))
	require.NoError(t, err)
	_, err = pipe.WriteString(text)
	require.NoError(t, errors.Join(err, pipe.Close()))
}

// whileRunning runs the interactive submit command and does something meanwhile,
// once it is ready for that.
func (b *bench) whileRunning(t testing.TB, ready <-chan struct{}, do func()) error {
	t.Helper()
	b.request.Command = b.Command(config.SubmitInteractive)
	ended := make(chan error, 1)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	go func() {
		_, err := resolveAndRun(ctx, b.connection, b.request)
		ended <- err
	}()
	if do != nil {
		select {
		case <-ready:
			do()
		case err := <-ended:
			return fmt.Errorf("it ended before it was ready: %w", err)
		}
	}
	return <-ended
}
