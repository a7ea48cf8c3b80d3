package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// An Apply is a message that the view calls: the end of what ran in the background.
type Apply func()

// Work runs a function in the background, and sends what it returns to the view.
type Work func(do func() Apply)

// Show shows the view that begin returns until the user leaves it, which is no error, or
// ctx ends, whose error it then returns. The context of begin ends with the view; begin
// itself starts no work. Each function of beside runs in the background as long as the
// view is shown, and sends messages to it. Show waits for all that was begun.
func Show(ctx context.Context, stdin io.Reader, terminal io.Writer, begin func(context.Context, Work) tea.Model, beside ...func(ctx context.Context, send func(tea.Msg))) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var program *tea.Program
	var running sync.WaitGroup
	view := begin(inner, func(do func() Apply) {
		running.Go(func() { program.Send(do()) })
	})
	program = tea.NewProgram(view, tea.WithInput(stdin), tea.WithOutput(terminal), tea.WithoutSignalHandler())
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	running.Go(func() { measure(inner, resized, terminal, program.Send) })
	for _, serve := range beside {
		running.Go(func() { serve(inner, program.Send) })
	}
	err := run(ctx, program)
	cancel()
	running.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("showing the screen: %w", err)
	}
	return nil
}

// measure sends the size of the terminal whenever it changes. Bubble Tea does so too, but reads the first
// size before it listens for changes, and so misses one between the two.
func measure(ctx context.Context, resized <-chan os.Signal, terminal io.Writer, send func(tea.Msg)) {
	file, isFile := terminal.(*os.File)
	for {
		select {
		case <-resized:
			if !isFile {
				continue
			}
			if columns, rows, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 && rows > 0 {
				send(tea.WindowSizeMsg{Width: columns, Height: rows})
			}
		case <-ctx.Done():
			return
		}
	}
}

// run runs a program until it ends, or ctx does, which is no error: the program is then
// left as by its user. Bubble Tea closes the input of a program that is killed, as
// by a context of its own, while that is read from.
func run(ctx context.Context, program *tea.Program) error {
	defer context.AfterFunc(ctx, program.Quit)()
	_, err := program.Run()
	return err
}

// Frame is a full screen of lines, cut to its size.
func Frame(lines []string, width, height int) tea.View {
	lines = lines[:min(len(lines), height)]
	for i, line := range lines {
		lines[i] = Cut(line, width)
	}
	view := tea.NewView(strings.Join(lines, "\n"))
	view.AltScreen = true
	return view
}

// Away runs a function to which the view leaves the terminal, and then shows the view
// again, which calls done with its error.
func Away(ctx context.Context, run func(stdin io.Reader, terminal io.Writer) error, done func(error)) tea.Cmd {
	return tea.Exec(&absence{ctx: ctx, run: run}, func(err error) tea.Msg {
		return Apply(func() { done(err) })
	})
}

// An absence is a [tea.ExecCommand].
type absence struct {
	ctx      context.Context
	run      func(stdin io.Reader, terminal io.Writer) error
	stdin    io.Reader
	terminal io.Writer
}

// releaseTime is far longer than a goroutine waits for a processor.
const releaseTime = 100 * time.Millisecond

// Run waits before it runs the function: the goroutine of Bubble Tea that draws stops its
// ticker some time after it was stopped itself; were the terminal given back before that,
// nothing would be drawn any more.
func (a *absence) Run() error {
	timer := time.NewTimer(releaseTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.ctx.Done():
	}
	return a.run(a.stdin, a.terminal)
}

// SetStdin takes the keyboard.
func (a *absence) SetStdin(stdin io.Reader) { a.stdin = stdin }

// SetStdout takes the terminal.
func (a *absence) SetStdout(terminal io.Writer) { a.terminal = terminal }

// SetStderr does nothing: all is shown on the terminal.
func (a *absence) SetStderr(io.Writer) {}
