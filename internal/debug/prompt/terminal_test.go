package prompt_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/debug/prompt"
)

// patience is how long a test waits for an expected event.
const patience = time.Minute

// A desk is a prompt at a pseudo-terminal.
type desk struct {
	t     *testing.T
	job   *fakeJob
	user  *os.File
	tty   *os.File
	ended chan error

	mutex  sync.Mutex
	screen strings.Builder
	seen   int
	news   chan struct{}
}

func sit(t *testing.T, rules, history string, change func(*prompt.Options)) *desk {
	t.Helper()
	d := &desk{t: t, job: newJob(t, 8, parseRules(t, rules)), ended: make(chan error, 1), news: make(chan struct{}, 1)}
	var err error
	d.user, d.tty, err = pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(d.tty, &pty.Winsize{Rows: 24, Cols: 100}))
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		buffer := make([]byte, 4096)
		for {
			count, err := d.user.Read(buffer)
			d.mutex.Lock()
			d.screen.Write(buffer[:count])
			d.mutex.Unlock()
			select {
			case d.news <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	options := optionsOf(d.job, d.tty, d.tty)
	options.IsTerminal, options.History = true, history
	if change != nil {
		change(&options)
	}
	before, err := term.GetState(int(d.tty.Fd()))
	require.NoError(t, err)
	go func() {
		_, err := prompt.Run(t.Context(), d.job.session, options)
		d.ended <- err
	}()
	t.Cleanup(func() {
		after, err := term.GetState(int(d.tty.Fd()))
		require.NoError(t, err)
		require.Equal(t, before, after, "the terminal is as before")
		require.NoError(t, d.tty.Close())
		<-reading
		require.NoError(t, d.user.Close())
		d.job.end()
	})
	return d
}

func (d *desk) enter(text string) {
	d.t.Helper()
	_, err := d.user.WriteString(text)
	require.NoError(d.t, err)
}

// waitFor waits for the next occurrence of a text, and returns the output before it.
func (d *desk) waitFor(text string) string {
	d.t.Helper()
	timeout := time.After(patience)
	for {
		d.mutex.Lock()
		unseen := d.screen.String()[d.seen:]
		at := strings.Index(unseen, text)
		if at >= 0 {
			d.seen += at + len(text)
		}
		d.mutex.Unlock()
		if at >= 0 {
			return unseen[:at]
		}
		select {
		case <-d.news:
		case <-timeout:
			require.Fail(d.t, "not written", "%q is missing in\n%q", text, unseen)
		}
	}
}

// ends waits for the end of the prompt.
func (d *desk) ends() {
	d.t.Helper()
	select {
	case err := <-d.ended:
		require.NoError(d.t, err)
	case <-time.After(patience):
		require.Fail(d.t, "the prompt does not end")
	}
}

func TestCtrlCHaltsTheFocusedRanks(t *testing.T) {
	d := sit(t, rulesOfEight, "", nil)
	d.waitFor("0-7: stopped in main at app.c:3 (main)")
	d.waitFor("debug> ")
	d.enter("\x03\x03half a command\x03")
	d.enter("focus 0-3\r")
	d.waitFor("focus: 0-3")
	d.waitFor("debug 0-3> ")
	d.enter("continue\r")
	require.Eventually(t, func() bool { return d.job.session.Ranks(debug.Running).String() == "0-3" }, patience, time.Millisecond)
	d.enter("\x03")
	d.waitFor("0-3: stopped in loop at app.c:20 (halt)")
	d.waitFor("debug 0-3> ")
	d.enter("continue &\r")
	d.waitFor("debug 0-3> ")
	require.Eventually(t, func() bool { return d.job.session.Ranks(debug.Running).String() == "0-3" }, patience, time.Millisecond)
	d.enter("\x03")
	d.waitFor("0-3: stopped in loop at app.c:20 (halt)")
	d.enter("quit\r")
	d.waitFor("Kill the program? [y/N] ")
	d.enter("n\r")
	d.waitFor("debug 0-3> ")
	d.enter("\x04")
	d.waitFor("Kill the program? [y/N] ")
	d.enter("y\r")
	d.waitFor("0-7: ended by SIGKILL")
	d.ends()
}

func TestASecondCtrlCEndsTheWaitForRanksThatDoNotStop(t *testing.T) {
	d := sit(t, strings.ReplaceAll(rulesOfEight, "0-7 halt => stop halt loop /src/app.c:20", "0-7 halt => fail it does not listen"), "", func(o *prompt.Options) { o.IsKept = true })
	d.waitFor("debug> ")
	d.enter("continue\r")
	require.Eventually(t, func() bool { return d.job.session.Ranks(debug.Running).Count() == 8 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { // two at once may count once
		d.enter("\x03")
		d.mutex.Lock()
		defer d.mutex.Unlock()
		return strings.Contains(d.screen.String(), "error: some ranks still run")
	}, patience, 50*time.Millisecond)
	d.enter("\x04")
	d.waitFor("0-7: runs without a debugger")
	d.ends()
}

func TestTheEndOfTheTerminalEndsThePrompt(t *testing.T) {
	d := sit(t, rulesOfEight, "", nil)
	d.waitFor("debug> ")
	d.enter("\x04\x04")
	d.ends()
	require.Equal(t, "0-7", d.job.session.Ranks(debug.Exited).String())
}

func TestWordsAreCompleted(t *testing.T) {
	rules := rulesOfEight + `
0-7 variables locals => var count=1 ; var counter=2 ; var co\entrol=3
0-7 variables arguments => var argc=1
0-7 evaluate counter => value 2
0-7 breakpoints => placed /src/app.c:9
`
	d := sit(t, rules, "", nil)
	d.waitFor("debug> ")
	d.enter("br\t")
	d.waitFor("break")
	d.enter("\t")
	d.waitFor("break  breakpoints")
	d.enter(" \t9\r")
	d.waitFor("breakpoint 1: /src/app.c:9")
	d.enter("pri\tco\t")
	d.waitFor("print count")
	d.enter("\t")
	d.waitFor("count  counter")
	d.enter("er\r")
	d.waitFor("0-7: 2")
	d.enter("focus a\t\r")
	d.waitFor("focus: all ranks")
	d.enter("delete \t\r")
	d.waitFor("debug> ")
	d.enter("breakpoints\r")
	d.waitFor("no breakpoints")
	d.enter("\x04\x04")
	d.ends()
}

func TestHistoryIsKeptInAPrivateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	d := sit(t, rulesOfEight, file, nil)
	d.waitFor("debug> ")
	d.enter("print n\r")
	d.waitFor("no such variable")
	d.enter(" print secret\r")
	d.waitFor("debug> ")
	d.enter("quit\r")
	d.waitFor("[y/N] ")
	d.enter("y\r")
	d.ends()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "print n\nquit\n", string(text))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	d = sit(t, rulesOfEight, file, nil)
	d.waitFor("debug> ")
	d.enter("\x1b[A\x1b[A\r")
	d.waitFor("no such variable")
	d.enter("\x04\x04")
	d.ends()
}

func TestAForeignHistoryIsNotUsed(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "history")
	require.NoError(t, os.WriteFile(file, []byte("print n\n"), 0o600))
	require.NoError(t, os.Chmod(file, 0o666))
	link := filepath.Join(folder, "link")
	require.NoError(t, os.Symlink(file, link))
	for _, name := range []string{file, link} {
		d := sit(t, rulesOfEight, name, nil)
		d.waitFor("debug> ")
		d.enter("print m\r")
		d.waitFor("debug> ")
		d.enter("\x04\x04")
		require.ErrorContains(t, <-d.ended, "history")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "print n\n", string(text))
	}
}

func TestALongHistoryLosesItsBeginning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	line := "print " + strings.Repeat("x", 90) + "\n"
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat(line, 5000)), 0o600))
	d := sit(t, rulesOfEight, file, nil)
	d.waitFor("debug> ")
	d.enter("print n\r")
	d.waitFor("no such variable")
	d.enter("\x04\x04")
	d.ends()
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(300<<10))
}

func TestAnEmptyLineRepeatsSteps(t *testing.T) {
	d := sit(t, rulesOfEight+"0-7 step over => run ; stop step main /src/app.c:4\n0-7 step over => run ; stop step main /src/app.c:5\n", "", nil)
	d.waitFor("debug> ")
	d.enter("next\r")
	d.waitFor("stopped in main at app.c:4")
	d.enter("\r")
	d.waitFor("stopped in main at app.c:5")
	d.enter("print n\r")
	d.waitFor("no such variable")
	d.enter("\r\x04\x04")
	require.NotContains(t, d.waitFor("ended by SIGKILL"), "no such variable")
	d.ends()
}

func TestCtrlCEndsTheWaitForRanks(t *testing.T) {
	waiting := make(chan struct{})
	d := sit(t, rulesOfEight, "", func(o *prompt.Options) {
		o.Ready = func(ctx context.Context) error {
			close(waiting)
			<-ctx.Done()
			return context.Cause(ctx)
		}
	})
	<-waiting
	d.enter("\x03")
	select {
	case err := <-d.ended:
		require.EqualError(t, err, "interrupted before all ranks connected")
	case <-time.After(patience):
		require.Fail(t, "the prompt does not end")
	}
	require.Equal(t, "0-7", d.job.session.Ranks(debug.Exited).String())
}

func TestATerminalThatIsGoneEndsThePrompt(t *testing.T) {
	j := newJob(t, 8, parseRules(t, rulesOfEight))
	defer j.end()
	user, tty, err := pty.Open()
	require.NoError(t, err)
	defer tty.Close()
	options := optionsOf(j, tty, tty)
	options.IsTerminal = true
	ended := make(chan error, 1)
	go func() {
		_, err := prompt.Run(t.Context(), j.session, options)
		ended <- err
	}()
	_, err = user.WriteString("continue &\r")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return j.session.Ranks(debug.Running).Count() == 8 }, patience, time.Millisecond)
	require.NoError(t, user.Close())
	select {
	case <-ended:
	case <-time.After(patience):
		require.Fail(t, "the prompt does not end")
	}
	require.Equal(t, "0-7", j.session.Ranks(debug.Exited).String())
}

// Output that comes while a line is edited appears above it.
func TestOutputComesAboveTheEditedLine(t *testing.T) {
	d := sit(t, rulesOfEight, "", nil)
	d.waitFor("debug> ")
	d.enter("print")
	d.waitFor("print")
	d.job.ranks[0].report("out", "hello\n")
	d.job.ranks[1].report("out", "hello\n")
	d.waitFor("[0-1] hello")
	d.waitFor("debug> print")
	d.enter(" n\r")
	d.waitFor("4: no such variable")
	d.enter("\x04\x04")
	d.ends()
}
