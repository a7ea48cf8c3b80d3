package dap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

func framed(content string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(content), content)
}

func TestMessagesAreBounded(t *testing.T) {
	for _, text := range []string{
		"Content-Length: 17000000\r\n\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n", "\r\n{}", "Content-Length: x\r\n\r\n",
		"A: " + strings.Repeat("b", 5000) + "\r\n", strings.Repeat("A: b\r\n", 50), "Content-Length: 10\r\n\r\n{}", framed("{"), framed("[]"), framed(`{"type":1}`),
	} {
		_, err := readMessage(bufio.NewReader(strings.NewReader(text)))
		require.Error(t, err, text)
	}
	read, err := readMessage(bufio.NewReader(strings.NewReader("X: y\ncontent-LENGTH:2\n\n{}")))
	require.NoError(t, err)
	require.Equal(t, message{}, read)
}

// A fake debugger plays the answers of a test.
type fake struct {
	io.Reader
	writer  *io.PipeWriter
	answers func(request string) string
	mutex   sync.Mutex
}

func (f *fake) SetWriteDeadline(time.Time) error { return nil }

func (f *fake) Write(sent []byte) (int, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	answer := f.answers(string(sent))
	go func() { _, _ = io.WriteString(f.writer, answer) }()
	return len(sent), nil
}

// openFake opens a client of a fake debugger.
func openFake(t *testing.T, observe func(message) bool, answers func(string) string) *client {
	t.Helper()
	reader, writer := io.Pipe()
	opened := newClient(&fake{Reader: reader, writer: writer, answers: answers}, observe)
	var reading sync.WaitGroup
	reading.Go(opened.read)
	t.Cleanup(func() {
		require.NoError(t, writer.Close())
		reading.Wait()
	})
	return opened
}

func TestADebuggerThatMisbehavesGetsNoMoreRequests(t *testing.T) {
	all := func(message) bool { return true }
	for name, answer := range map[string]string{"garbage": "hello\r\n\r\n", "no json": framed("}"), "silent": "", "flood": framed(`{"type":"event","event":"stopped"}`)} {
		observe := all
		if name == "flood" {
			observe = func(message) bool { return false }
		}
		opened := openFake(t, observe, func(string) string { return answer })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := opened.call(ctx, "threads", nil)
		cancel()
		require.Error(t, err, name)
		_, again := opened.call(t.Context(), "threads", nil)
		require.Equal(t, err, again, name)
		if name == "silent" {
			require.ErrorIs(t, err, errHangs)
		}
	}
}

func TestTheRestOfALostMessageBeforeTheFirstIsSkipped(t *testing.T) {
	lost := framed(`{"type":"event","event":"output"}`)
	for start := range lost {
		opened := openFake(t, func(message) bool { return true }, func(string) string {
			return lost[start:] + framed(`{"type":"response","request_seq":1,"success":true}`)
		})
		_, err := opened.call(t.Context(), "initialize", nil)
		require.NoError(t, err, lost[start:])
	}
	require.ErrorContains(t, skipNoise(bufio.NewReader(strings.NewReader(strings.Repeat("-", 2*longestNoise)))), "no message")
}

func TestAnswersOfAnotherShapeAreRefused(t *testing.T) {
	opened := openFake(t, func(message) bool { return true }, func(string) string {
		return framed(`{"type":"response","request_seq":77,"success":true}`) + framed(`{"type":"response","request_seq":1,"success":true,"body":{"threads":7}}`)
	})
	_, err := answerOf[threadsBody](t.Context(), opened, "threads", nil)
	require.True(t, errors.As(err, &refusal{}))
	require.NoError(t, opened.err())
}

func TestOnlyTheConnectionOfTheDebuggerIsTaken(t *testing.T) {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		t.Skip("only Linux shows whose connection it is")
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer listener.Close()
	// The connection is this process's, and another one is expected.
	other := exec.Command("sleep", "1000")
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	connection, err := net.Dial("tcp4", listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error, 1)
	go func() {
		_, err := acceptFrom(ctx, listener, other.Process.Pid)
		refused <- err
	}()
	_, err = connection.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "it is closed at once")
	cancel()
	require.ErrorContains(t, <-refused, "did not connect in time")

	second, err := net.Dial("tcp4", listener.Addr().String())
	require.NoError(t, err)
	defer second.Close()
	accepted, err := acceptFrom(t.Context(), listener, os.Getpid())
	require.NoError(t, err)
	require.NoError(t, accepted.Close())
}

func FuzzMessages(f *testing.F) {
	for _, text := range []string{
		framed(`{"type":"event","event":"stopped","body":{"reason":"breakpoint","description":"breakpoint 1.1 2.3","threadId":7,"hitBreakpointIds":[1,2]}}`),
		framed(`{"type":"event","event":"breakpoint","body":{"breakpoint":{"id":1,"verified":true,"line":3}}}`) + framed(`{"type":"event","event":"exited","body":{"exitCode":7}}`),
		framed(`{"type":"response","request_seq":1,"success":false,"body":{"error":{"format":"no"}}}`), "Content-Length: 3\r\n\r\nnull",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		reader := bufio.NewReader(bytes.NewReader(text))
		for {
			read, err := readMessage(reader)
			if err != nil {
				return
			}
			news, _ := happeningOf(read)
			require.LessOrEqual(t, len(news.hit), mostHit)
			require.LessOrEqual(t, len(news.text), longestOutput)
			require.LessOrEqual(t, len(news.description), longestValue)
			_ = refused(read)
			for _, spoken := range []dialect{lldb{}, delve{}} {
				_ = spoken.message(news.text)
				_ = spoken.threadName(news.text)
				_ = spoken.printed(news.text)
			}
			each := point{}
			each.place(news.breakpoint)
		}
	})
}

func FuzzTextsOfDebuggers(f *testing.F) {
	for _, text := range []string{"breakpoint 1.1 2.1", "signal SIGSEGV: invalid address (fault address: 0x0)", "watchpoint 4", "int[5][2]", "std::vector<int[3]>", "point @ 0x7f00", "0x0000", "0x00001f \"a @ 0x1\"",
		"error: <user expression 7>:1:1: use of undeclared identifier 'p'\np\n", "(char **) argv = 0x1\n", "* [Go 1] main.main (Thread 8)", "a.b[1].c", "Thread #1 a b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		require.LessOrEqual(t, len(pointsIn(text)), mostHit)
		_, _ = numberAfter(text, "watchpoint ")
		_ = lldb{}.explain("", text)
		require.GreaterOrEqual(t, lldb{}.indexed(variable{Type: text}), 0)
		_, _ = lldb{}.value(variable{Value: text, VariablesReference: 1})
		_ = argumentNames(text)
		_, _ = addressIn(text)
		if parent, name := memberOf(text); parent != "" {
			require.Equal(t, strings.ReplaceAll(text, ".", ""), strings.ReplaceAll(parent+name, ".", ""))
		}
		require.LessOrEqual(t, len(bounded(text)), longestValue)
		require.LessOrEqual(t, len(delve{}.threadName(text)), len(text))
	})
}

func TestTextsOfDebuggersAreRead(t *testing.T) {
	require.Equal(t, 5, lldb{}.indexed(variable{Type: "int[5][2]"}))
	require.Zero(t, lldb{}.indexed(variable{Type: "std::array<int[5], 3>"}))
	require.Equal(t, "0x7ffd", shortened("0x0000000000007ffd"))
	require.Equal(t, "0x0", shortened("0x0000000000000000"))
	require.Equal(t, `0x1f "text"`, shortened(`0x000000000000001f "text"`))
	require.Equal(t, "use of undeclared identifier 'p'", lldb{}.message("expression failed to parse:\nerror: <user expression 0>:1:1: use of undeclared identifier 'p'\np\n^\n"))
	require.Equal(t, stopNotice{Notice: debug.Notice{Reason: debug.ReasonSignal, Signal: "SIGSEGV", Text: "invalid address"}}, lldb{}.explain("signal", "signal SIGSEGV: invalid address"))
	require.Equal(t, map[string]bool{"argc": true, "argv": true}, argumentNames("(int) argc = 1\n(char **) argv = 0x1\n"))
	require.Equal(t, `main\.go`, quoted("main.go"))
	require.Len(t, bounded(strings.Repeat("é", math.MaxUint16)), longestValue-1)
}
