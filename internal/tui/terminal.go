package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/rmctl/rmctl/remote"
)

// longestAnswer bounds what is typed, in bytes.
const longestAnswer = 4096

// answerPoll is how often a wait for typing looks whether it is still needed,
// in microseconds.
const answerPoll = 100_000

// ErrNotAnswered means that the user refused to answer.
var ErrNotAnswered = errors.New("no answer")

// terminalPrompter asks at the terminal that the user sits at, whatever the
// standard streams are.
type terminalPrompter struct {
	path  string
	mutex sync.Mutex // one question at a time
}

// Terminal returns a prompter at the user's terminal, or nil without a terminal.
func Terminal() remote.Prompter {
	p := &terminalPrompter{path: "/dev/tty"}
	terminal, err := p.open()
	if err != nil {
		return nil
	}
	if terminal.Close() != nil {
		return nil
	}
	return p
}

// open opens the terminal, if this process may read from it: one that runs in
// the background of a shell would be stopped.
func (p *terminalPrompter) open() (*os.File, error) {
	terminal, err := os.OpenFile(p.path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: no terminal: %w", remote.ErrNobodyToAsk, err)
	}
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	if err == nil && group != unix.Getpgrp() {
		err = errors.New("rmctl does not run in the foreground")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", remote.ErrNobodyToAsk, err), terminal.Close())
	}
	return terminal, nil
}

// Ask shows the question and returns the line that is typed.
func (p *terminalPrompter) Ask(ctx context.Context, question remote.Question) (answer string, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	terminal, err := p.open()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	return askAt(ctx, terminal, question)
}

// askAt asks at a terminal.
func askAt(ctx context.Context, terminal *os.File, question remote.Question) (answer string, err error) {
	// In raw mode no signal ends rmctl with the echo switched off.
	before, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return "", fmt.Errorf("%w: setting up the terminal: %w", remote.ErrNobodyToAsk, err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(terminal.Fd()), before)) }()
	line := lineReader{terminal: terminal, echo: !question.Secret}
	if err := line.show(questionText(question)); err != nil {
		return "", err
	}
	answer, err = line.read(ctx)
	return answer, errors.Join(err, line.show("\n"))
}

// questionText names the host before each line: what it says must not pass for
// something that rmctl or another host says.
func questionText(question remote.Question) string {
	host := OneLine(question.Host)
	lines := strings.Split(strings.TrimRight(Printable(question.Text), " \t\n"), "\n")
	for i, line := range lines {
		lines[i] = host + ": " + line
	}
	return strings.Join(lines, "\n") + " "
}

// lineReader reads a line from a terminal in raw mode.
type lineReader struct {
	terminal *os.File
	echo     bool
}

func (l lineReader) show(text string) error {
	_, err := l.terminal.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
	return err
}

// The keys that a line is edited with.
const (
	keyInterrupt = 'C' - '@'
	keyEnd       = 'D' - '@'
	keyKill      = 'U' - '@'
	keyQuit      = '\\' - '@'
	keyErase     = '\b'
	keyDelete    = 0x7f
)

// read reads up to the end of the line.
func (l lineReader) read(ctx context.Context) (string, error) {
	var line []byte
	var key [1]byte
	for {
		if err := l.wait(ctx); err != nil {
			return "", err
		}
		count, err := l.terminal.Read(key[:])
		if err != nil || count == 0 {
			return "", fmt.Errorf("%w: the terminal is gone", remote.ErrNobodyToAsk)
		}
		switch key[0] {
		case '\r', '\n':
			return string(line), nil
		case keyInterrupt, keyQuit:
			return "", ErrNotAnswered
		case keyEnd:
			if len(line) == 0 {
				return "", ErrNotAnswered
			}
		case keyKill:
			for len(line) > 0 {
				line = l.erase(line)
			}
		case keyErase, keyDelete:
			line = l.erase(line)
		default:
			if len(line) < longestAnswer {
				line = append(line, key[0])
				l.echoLast(line)
			}
		}
	}
}

// echoLast shows the last character, once it is whole.
func (l lineReader) echoLast(line []byte) {
	if last, size := utf8.DecodeLastRune(line); l.echo && (last != utf8.RuneError || size > 1) && unicode.IsPrint(last) {
		_ = l.show(string(last)) // that the terminal is gone shows when reading
	}
}

// erase takes the last character away.
func (l lineReader) erase(line []byte) []byte {
	if len(line) == 0 {
		return line
	}
	last, size := utf8.DecodeLastRune(line)
	if l.echo && unicode.IsPrint(last) {
		_ = l.show("\b \b")
	}
	return line[:len(line)-size]
}

// wait waits for something to be typed.
func (l lineReader) wait(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var ready unix.FdSet
		ready.Set(int(l.terminal.Fd()))
		timeout := unix.NsecToTimeval(answerPoll * 1000)
		count, err := unix.Select(int(l.terminal.Fd())+1, &ready, nil, nil, &timeout)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("waiting for an answer: %w", err)
		}
		if count > 0 && err == nil {
			return nil
		}
	}
}

// WaitForEnter waits until a line is typed, the keyboard is gone or the context ends.
func WaitForEnter(ctx context.Context, keyboard io.Reader) error {
	file, isFile := keyboard.(*os.File)
	if !isFile {
		return errors.New("waiting for Enter: standard input is not a file")
	}
	_, err := lineReader{terminal: file}.read(ctx)
	if ctx.Err() != nil || errors.Is(err, remote.ErrNobodyToAsk) {
		return nil
	}
	return err
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
