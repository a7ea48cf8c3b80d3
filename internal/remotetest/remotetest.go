// Package remotetest is the conformance suite of remote.Connection.
package remotetest

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// patience bounds every wait for something that must happen.
const patience = time.Minute

// Options say how much the suite does. Zero values stand for the suite's defaults.
type Options struct {
	Volume   int64  // bytes that one command prints; 64 MiB
	Commands int    // started at once over one connection; 200
	Values   int    // random arguments and variables; 2000
	Seed     uint64 // of the random values, to repeat them; another one each time
	// Impatient opens a connection like the others, but one that soon kills what does
	// not want to end. So the others may give a busy machine much time, which is never
	// waited for. The suite closes it; nil where all are the same.
	Impatient func(t *testing.T) remote.Connection
}

// Run runs the conformance suite. Open returns a connection to a POSIX machine
// whose place for temporary files can be written to; the suite closes it. What
// the suite creates there it removes.
func Run(t *testing.T, open func(t *testing.T) remote.Connection) {
	RunWith(t, open, Options{})
}

// RunWith is Run with options.
func RunWith(t *testing.T, open func(t *testing.T) remote.Connection, options Options) {
	HeedHangUps()
	options.Volume = cmp.Or(options.Volume, 64<<20)
	options.Commands = cmp.Or(options.Commands, 200)
	options.Values = cmp.Or(options.Values, 2000)
	groups := []struct {
		name string
		test func(t *testing.T, s *suite)
	}{
		{"Info", testInfo},
		{"ExitCodes", testExitCodes},
		{"Streams", testStreams},
		{"Input", testInput},
		{"Environment", testEnvironment},
		{"Directories", testDirectories},
		{"Arguments", testArguments},
		{"RandomValues", testRandomValues},
		{"Missing", testMissing},
		{"Ending", testEnding},
		{"Signals", testSignals},
		{"Terminals", testTerminals},
		{"Files", testFiles},
		{"FileNames", testFileNames},
		{"Concurrency", testConcurrency},
		{"Parallel", testParallel},
		{"Listeners", testListeners},
	}
	goroutinesEnd(t)
	run := func(t *testing.T, test func(t *testing.T, s *suite)) {
		connection := open(t)
		t.Cleanup(func() { require.NoError(t, connection.Close()) })
		test(t, &suite{connection: connection, options: options})
	}
	// It looks at the memory in use, which nothing else may fill meanwhile.
	t.Run("Volume", func(t *testing.T) { run(t, testVolume) })
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			run(t, group.test)
		})
	}
}

// Main runs the tests of a package, for its TestMain. They mostly wait, for processes and
// grace periods, so more of them run at once than there are processors.
func Main(m *testing.M) {
	// The argument -parallel, which is not parsed yet, counts more.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	// Package signal has a goroutine from its first use on: no test started it.
	first := make(chan os.Signal, 1)
	signal.Notify(first, syscall.SIGUSR2)
	signal.Stop(first)
	os.Exit(m.Run())
}

// suite is what the groups of tests share.
type suite struct {
	connection remote.Connection
	options    Options
}

// impatient is the suite over a connection that soon kills what does not want to end.
func (s *suite) impatient(t *testing.T) *suite {
	t.Helper()
	if s.options.Impatient == nil {
		return s
	}
	connection := s.options.Impatient(t)
	t.Cleanup(func() { require.NoError(t, connection.Close()) })
	return &suite{connection: connection, options: s.options}
}

// result is what a process left.
type result struct {
	stdout, stderr string
	code           int
}

// timeLimit returns a context for work that must not hang.
func timeLimit(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// run runs a command to its end.
func (s *suite) run(t *testing.T, command remote.Command) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	process, err := s.connection.Start(timeLimit(t), command)
	require.NoError(t, err)
	code, err := process.Wait()
	require.NoError(t, err)
	return result{stdout.String(), stderr.String(), code}
}

// shell runs a script with sh, which sees the arguments as $1 and so on.
func (s *suite) shell(t *testing.T, script string, arguments ...string) result {
	t.Helper()
	return s.run(t, shellCommand(script, arguments...))
}

func shellCommand(script string, arguments ...string) remote.Command {
	return remote.Command{Arguments: append([]string{"sh", "-c", script, "sh"}, arguments...)}
}

// temporaryDirectory makes a directory at the place, removed after the test.
func (s *suite) temporaryDirectory(t *testing.T) string {
	t.Helper()
	made := s.shell(t, "mktemp -d")
	require.Zero(t, made.code, made.stderr)
	directory := strings.TrimSuffix(made.stdout, "\n")
	s.removeAfterwards(t, directory)
	return directory
}

// removeAfterwards removes a file or a directory when the test has ended.
func (s *suite) removeAfterwards(t *testing.T, path string) {
	t.Cleanup(func() {
		// The test's own context is done by now.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		process, err := s.connection.Start(ctx, remote.Command{Arguments: []string{"rm", "-rf", "--", path}})
		require.NoError(t, err)
		_, err = process.Wait()
		require.NoError(t, err)
	})
}

// exists reports whether a process with that id lives at the place. One that
// has ended but was not yet taken note of by its parent does not live.
func (s *suite) exists(t *testing.T, id string) bool {
	t.Helper()
	listed := s.shell(t, `ps -o stat= -p "$1"`, id)
	status := strings.TrimSpace(listed.stdout)
	return status != "" && !strings.HasPrefix(status, "Z")
}

// requireGone waits until the process does not live any more.
func (s *suite) requireGone(t *testing.T, id string) {
	t.Helper()
	require.Eventually(t, func() bool { return !s.exists(t, id) }, patience, 10*time.Millisecond, "process %s lives on", id)
}

// requireKilled waits for a process that a signal ended, with all of its group.
func (s *suite) requireKilled(t *testing.T, process remote.Handle, signal int, group []string) {
	t.Helper()
	code, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 128+signal, code)
	for _, id := range group {
		s.requireGone(t, id)
	}
}

// hostileTexts reach a program as they are, or something on the way
// interprets them.
func hostileTexts() []string {
	return []string{
		"plain", "", " ", "two words", "  edges  ", "tab\there", "line\nbreak", "\n", "trailing\n", "carriage\rreturn",
		`"double"`, `'single'`, `it's`, `'"'"'`, `back\slash`, `trailing\`, `\n`,
		"$HOME", "${HOME}", "$(id)", "`id`", "$", "$$", "*", "?", "[a-z]*", "{a,b}", "~", "~root", "!", "!!", "#", "# comment",
		"a;b", "a&b", "a|b", "a>b", "<", "&&", "(a)", "%", "%s", "%n", "^", "=", "a=b", "-", "--", "-n", "-e",
		"\x01\x1b[31m\x7f", "\xff\xfe", "caf\xe9", "café", "日本", "\u2028", "\u00a0", "é\xcc", strings.Repeat("long ' \" ", 2000),
	}
}
