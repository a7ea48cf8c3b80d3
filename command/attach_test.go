package command_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/remote"
)

// A watched buffer signals when a text was written to it.
type watched struct {
	lock    sync.Mutex
	text    bytes.Buffer
	waiting map[string]chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.text.Write(p)
	for text, seen := range w.waiting {
		if strings.Contains(w.text.String(), text) {
			close(seen)
			delete(w.waiting, text)
		}
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.text.String()
}

// sees returns a channel that is closed when a text is written.
func (w *watched) sees(text string) <-chan struct{} {
	seen := make(chan struct{})
	if w.waiting == nil {
		w.waiting = map[string]chan struct{}{}
	}
	w.waiting[text] = seen
	return seen
}

// attach gives a bench an attachment whose state is the attribute a.
func (b *bench) attach(stdin io.Reader) *watched {
	var stdout watched
	b.request.Attach = &command.Attachment{
		Stdin: stdin, Stdout: &stdout,
		Progress: func(func() string) (bool, error) {
			if b.env.Text("a") == "FAILED" {
				return false, errors.New("it says FAILED")
			}
			return b.env.Text("a") == "RUNNING", nil
		},
	}
	return &stdout
}

const keptOpen = `waitForId="true" keepOpen="true"`

func TestInputIsSentWhenTheJobRunsAndBeforeTypedText(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive",
		`echo queued; read -r line <now; echo ready; cat; echo over`, keptOpen, `<input>of the definition</input>`+sets("stdout-parser", "ready", "RUNNING")))
	fifo(t, b, "now")
	stdout := b.attach(strings.NewReader("typed\nahead\n"))
	require.NoError(t, b.whileRunning(t, stdout.sees("queued"), func() {
		b.notify(t, "now", "go\n")
	}))
	require.Equal(t, "queued\nready\nof the definition\ntyped\nahead\nover\n", stdout.String())
}

func TestInputOfAJobThatNeverRunsIsNotSent(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive",
		`echo queued; exit 3`, keptOpen, `<input>rm -rf everything</input>`+sets("stdout-parser", "ready", "RUNNING")+after(`touch ran`, "")))
	stdout := b.attach(strings.NewReader("typed\n"))
	require.NoError(t, b.whileRunning(t, nil, nil))
	require.Equal(t, "queued\n", stdout.String())
	require.False(t, b.exists("ran"), "what is to follow the launch waits for it, too")
}

func TestWithoutAnAwaitedStateInputIsSentAtOnce(t *testing.T) {
	for _, attributes := range []string{`keepOpen="true"`, `waitForId="true"`, ""} {
		b := newBench(t, `<attribute name="a"/>`+element("submit-interactive", `cat`, attributes, `<input>at once</input>`+sets("stdout-parser", "never", "RUNNING")))
		stdout := b.attach(strings.NewReader("typed\n"))
		require.NoError(t, b.whileRunning(t, nil, nil))
		require.Equal(t, "at once\ntyped\n", stdout.String())
	}
}

func TestCommandsAfterTheLaunchWaitUntilTheJobRunsAndHasItsInput(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive",
		`echo ready; read -r line; echo "$line" >log.new; mv log.new log; `+waiting("launched"), keptOpen, `<input>first</input>`+sets("stdout-parser", "ready", "RUNNING")+
			after(waiting("log")+`; echo then >>log; touch launched`, "")))
	b.attach(nil)
	require.NoError(t, b.whileRunning(t, nil, nil))
	require.Equal(t, "first\nthen\n", b.file(t, "log"))
}

func TestACommandWhoseJobHasFailedIsEnded(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive", `echo no; exec sleep 600`, keptOpen, sets("stdout-parser", "no", "FAILED")))
	b.attach(nil)
	failed := b.fails(t, config.SubmitInteractive)
	require.Equal(t, command.JobFailed, failed.Failure)
	require.ErrorContains(t, failed, "it says FAILED")
}

func TestACommandGetsItsPseudoTerminal(t *testing.T) {
	const script = `test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM`
	b := newBench(t, element("submit-interactive", script, `flags="ALLOCATE_PTY"`, ""))
	var stdout bytes.Buffer
	b.request.Attach = &command.Attachment{Stdout: &stdout, Terminal: &remote.Terminal{Type: "vt100", Size: remote.Size{Columns: 132, Rows: 43}}}
	require.Zero(t, b.succeeds(t, config.SubmitInteractive).ExitCode, stdout.String())
	require.Equal(t, "43 132\r\nvt100\r\n", stdout.String())

	stdout.Reset()
	b.request.Attach.Terminal = nil
	b.succeeds(t, config.SubmitInteractive)
	require.Equal(t, "24 80\r\ndumb\r\n", stdout.String(), "also where the caller has none")

	b = newBench(t, shell(`echo out; echo err >&2; test -t 1 && echo terminal`, `flags="ALLOCATE_PTY"`, ""))
	require.Equal(t, "out\r\nerr\r\nterminal\r\n", b.succeeds(t, config.StartUpCommand).Stdout, "errors are merged into the output")
}

func TestWithoutTheFlagACommandDoesNotGetTheTerminal(t *testing.T) {
	b := newBench(t, element("submit-interactive", `test -t 1 || echo none`, "", ""))
	var stdout bytes.Buffer
	b.request.Attach = &command.Attachment{Stdout: &stdout, Terminal: &remote.Terminal{Type: "vt100"}}
	b.succeeds(t, config.SubmitInteractive)
	require.Equal(t, "none\n", stdout.String())
}

// qsub prompts for confirmation when it is interrupted while it waits.
func TestAnInterruptReachesACommandThatWaitsWithAPseudoTerminal(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive",
		`trap 'echo "give up?"; read -r answer; echo "said $answer"; exit 1' INT; echo queued; while :; do sleep 0.01; done`,
		keptOpen+` flags="ALLOCATE_PTY"`, `<input>of the definition</input>`+sets("stdout-parser", "ready", "RUNNING")))
	typed, keyboard := io.Pipe()
	stdout := b.attach(typed)
	asked := stdout.sees("give up?")
	require.NoError(t, b.whileRunning(t, stdout.sees("queued"), func() {
		_, err := io.WriteString(keyboard, "\x03")
		require.NoError(t, err)
		select {
		case <-asked:
		case <-time.After(patience):
			require.Fail(t, "the command does not ask", stdout.String())
		}
		_, err = io.WriteString(keyboard, "y\n")
		require.NoError(t, err)
		require.NoError(t, keyboard.Close())
	}))
	require.Contains(t, stdout.String(), "said y")
	require.NotContains(t, stdout.String(), "of the definition")
}

func TestSignalsArePassedOnToAnAttachedJob(t *testing.T) {
	b := newBench(t, `<attribute name="a"/>`+element("submit-interactive", `trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.01; done`, "", ""))
	signals := make(chan syscall.Signal, 1)
	stdout := b.attach(nil)
	b.request.Attach.Signals = signals
	require.NoError(t, b.whileRunning(t, stdout.sees("ready"), func() { signals <- syscall.SIGINT }))
	require.Equal(t, "ready\ninterrupted\n", stdout.String())
}

func TestSizesReachThePseudoTerminal(t *testing.T) {
	b := newBench(t, element("submit-interactive", `trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done`, `flags="ALLOCATE_PTY"`, ""))
	sizes := make(chan remote.Size, 1)
	stdout := b.attach(nil)
	b.request.Attach.Stdin = neverTyped(t)
	b.request.Attach.Terminal = &remote.Terminal{Type: "vt100", Size: remote.Size{Columns: 80, Rows: 24}, Resized: sizes}
	require.NoError(t, b.whileRunning(t, stdout.sees("ready"), func() { sizes <- remote.Size{Columns: 100, Rows: 50} }))
	require.Contains(t, stdout.String(), "50 100")
}

// neverTyped is the input of a user who types nothing.
func neverTyped(t *testing.T) io.Reader {
	reader, writer := io.Pipe()
	t.Cleanup(func() { require.NoError(t, writer.Close()) })
	return reader
}
