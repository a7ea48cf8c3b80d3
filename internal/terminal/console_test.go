package terminal

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// A typist is a keyboard at which keys are pressed.
type typist struct {
	*keyboard
	screen bytes.Buffer
	chosen []string
}

func newTypist(isRaw, mayDetach bool) *typist {
	p := &typist{}
	p.keyboard = &keyboard{screen: &p.screen, isTerminal: true, isRaw: isRaw}
	p.choices.Cancel = func() { p.chosen = append(p.chosen, "cancel") }
	if mayDetach {
		p.choices.Detach = func() { p.chosen = append(p.chosen, "detach") }
	}
	return p
}

// press types keys and returns what of them is for the job.
func (p *typist) press(keys string) string {
	typed := []byte(keys)
	return string(typed[:p.filter(typed)])
}

func TestTwoInterruptsWithinASecondAskWhatToDo(t *testing.T) {
	for keys, want := range map[string]struct{ job, chosen string }{
		"\x03":          {"\x03", ""},
		"a\x03b":        {"a\x03b", ""},
		"\x03\x03dx":    {"\x03x", "detach"},
		"\x03\x03Cx":    {"\x03x", "cancel"},
		"\x03\x03gx":    {"\x03\x03x", ""},
		"\x03\x03\rx":   {"\x03\x03x", ""},
		"\x03\x03?\x03": {"\x03", ""}, // it still waits for an answer
	} {
		p := newTypist(true, true)
		require.Equal(t, want.job, p.press(keys), "%q", keys)
		require.Equal(t, want.chosen, strings.Join(p.chosen, ","), "%q", keys)
		require.Equal(t, strings.Count(keys, "\x03") > 1, strings.Contains(p.screen.String(), "\r\nrmctl: detach, cancel or continue? [d/c/G] "), "%q", keys)
	}
}

func TestInterruptsThatAreFarApartAreTheJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTypist(true, true)
		require.Equal(t, "\x03", p.press("\x03"))
		time.Sleep(twiceWithin)
		require.Equal(t, "\x03", p.press("\x03"))
		require.Empty(t, p.screen.String())
		time.Sleep(twiceWithin / 2)
		require.Empty(t, p.press("\x03"))
		require.NotEmpty(t, p.screen.String())
	})
}

func TestOnlyAHostedJobCanBeDetachedFrom(t *testing.T) {
	p := newTypist(true, false)
	require.Equal(t, "\x03", p.press("\x03\x03d"))
	require.Contains(t, p.screen.String(), "rmctl: cancel or continue? [c/G] ")
	require.Empty(t, p.chosen)
	require.Equal(t, "x", p.press("cx"))
	require.Equal(t, []string{"cancel"}, p.chosen)
}

func TestWithoutAPseudoTerminalSignalsAskAndLinesAnswer(t *testing.T) {
	p := newTypist(false, true)
	require.True(t, p.interrupted())
	require.False(t, p.interrupted())
	require.Contains(t, p.screen.String(), "\nrmctl: detach, cancel or continue? [d/c/G] ")
	require.False(t, p.interrupted(), "while it asks")
	require.Equal(t, "next line\n", p.press("detach\nnext line\n"))
	require.Equal(t, []string{"detach"}, p.chosen)
	require.Equal(t, "a\x03b", p.press("a\x03b"), "such a byte is no interrupt there")
}

func TestAllThatIsTypedReachesTheJob(t *testing.T) {
	p := newTypist(true, true)
	p.source = strings.NewReader("a line\n\x00\xff")
	require.NoError(t, iotest.TestReader(p, []byte("a line\n\x00\xff")))
}

// A job would keep the size that it began with.
func TestASizeThatChangesAsSoonAsItWasReadIsReported(t *testing.T) {
	before := runtime.GOMAXPROCS(1) // what the console begins runs only when this waits
	defer runtime.GOMAXPROCS(before)
	device, terminal, err := pty.Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(terminal.Close(), device.Close())) }()
	require.NoError(t, pty.Setsize(device, &pty.Winsize{Rows: 24, Cols: 80}))
	c, err := Open(terminal, &bytes.Buffer{}, true, Choices{})
	require.NoError(t, err)
	require.Equal(t, remote.Size{Columns: 80, Rows: 24}, c.Terminal.Size)
	require.NoError(t, pty.Setsize(device, &pty.Winsize{Rows: 30, Cols: 99}))
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGWINCH)) // it is not the terminal of this process
	select {
	case size := <-c.Sizes:
		require.Equal(t, remote.Size{Columns: 99, Rows: 30}, size)
	case <-time.After(time.Minute):
		require.Fail(t, "the change was not noticed")
	}
	require.NoError(t, c.Close())
}
