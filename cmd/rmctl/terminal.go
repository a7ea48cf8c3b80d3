package main

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

	"golang.org/x/term"

	"github.com/rmctl/rmctl/remote"
)

// twiceWithin is how soon a second interrupt has to follow the first to be
// meant for rmctl.
const twiceWithin = time.Second

// interruptKey is what Ctrl-C types at a raw terminal.
const interruptKey = 0x03

// A console is the user's terminal while a job is attached to it: what is typed,
// its size, and the signals that come from it.
type console struct {
	keyboard *keyboard
	terminal *remote.Terminal // nil where the job has no pseudo-terminal
	signals  chan syscall.Signal

	file    *os.File
	saved   *term.State // nil where the terminal was left as it is
	sizes   chan remote.Size
	notices chan os.Signal // from the system
	end     chan struct{}
	serving sync.WaitGroup
}

// choices are what a user may do with the job after two interrupts. Detach is
// nil where that cannot be done.
type choices struct {
	detach, cancel func()
}

// openConsole takes the terminal for a job. With a pseudo-terminal every key is
// the job's; the terminal comes back as it was with close.
func (a *app) openConsole(withTerminal bool, choices choices) (*console, error) {
	c := &console{
		signals: make(chan syscall.Signal, 8), sizes: make(chan remote.Size, 1), notices: make(chan os.Signal, 8), end: make(chan struct{}),
		keyboard: &keyboard{source: a.stdin, screen: a.stderr, choices: choices, now: time.Now},
	}
	if file, isFile := a.stdin.(*os.File); isFile && isTerminal(file) {
		c.file, c.keyboard.isTerminal = file, true
	}
	if withTerminal {
		c.terminal = unseenTerminal()
		c.terminal.Resized = c.sizes
		if c.file != nil {
			saved, err := term.MakeRaw(int(c.file.Fd()))
			if err != nil {
				return nil, fmt.Errorf("preparing the terminal: %w", err)
			}
			c.saved, c.keyboard.isRaw = saved, true
			signal.Notify(c.notices, syscall.SIGWINCH) // before the size is taken: a change after that is told
			c.terminal.Type = os.Getenv("TERM")
			c.terminal.Size = c.size(c.terminal.Size)
		}
	}
	signal.Notify(c.notices, syscall.SIGINT, syscall.SIGQUIT)
	c.serving.Go(c.serve)
	return c, nil
}

// unseenTerminal is what a job gets that asks for a pseudo-terminal where nobody
// has one.
func unseenTerminal() *remote.Terminal {
	return &remote.Terminal{Type: "dumb", Size: remote.Size{Columns: 80, Rows: 24}}
}

// close gives the terminal back as it was.
func (c *console) close() error {
	close(c.end)
	c.serving.Wait()
	if c.saved == nil {
		return nil
	}
	if err := term.Restore(int(c.file.Fd()), c.saved); err != nil {
		return fmt.Errorf("restoring the terminal: %w", err)
	}
	return nil
}

func (c *console) size(usual remote.Size) remote.Size {
	columns, rows, err := term.GetSize(int(c.file.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return usual
	}
	return remote.Size{Columns: columns, Rows: rows}
}

// serve hands sizes and signals on until the console is closed.
func (c *console) serve() {
	defer signal.Stop(c.notices)
	for {
		select {
		case notice := <-c.notices:
			number, _ := notice.(syscall.Signal)
			switch {
			case number == syscall.SIGWINCH:
				c.resize()
			case number == syscall.SIGINT && c.keyboard.isTerminal && !c.keyboard.interrupted():
				// It is a question to the user now.
			default:
				c.offer(number)
			}
		case <-c.end:
			return
		}
	}
}

// resize tells the newest size. One that nobody has taken yet is out of date.
func (c *console) resize() {
	select {
	case <-c.sizes:
	default:
	}
	c.sizes <- c.size(c.terminal.Size)
}

// offer hands a signal on; a job that takes none any more misses it.
func (c *console) offer(number syscall.Signal) {
	select {
	case c.signals <- number:
	default:
	}
}

// A keyboard is what a user types, in which two interrupts within a second are a
// question to the user what to do with the job.
type keyboard struct {
	source     io.Reader
	screen     io.Writer
	choices    choices
	isTerminal bool
	isRaw      bool // interrupts are typed bytes, not signals
	now        func() time.Time

	lock     sync.Mutex
	last     time.Time // of an interrupt
	asking   bool
	skipping bool // the rest of the line that held an answer
}

// Read returns what is typed for the job.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		n, err := k.source.Read(p)
		if k.isTerminal {
			n = k.take(p[:n])
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// take keeps, at the beginning of typed, what is for the job, and returns how
// much that is.
func (k *keyboard) take(typed []byte) int {
	k.lock.Lock()
	defer k.lock.Unlock()
	kept := typed[:0]
	for _, key := range typed {
		switch {
		case k.asking:
			if k.answer(key) {
				kept = append(kept, interruptKey)
			}
		case k.skipping:
			k.skipping = key != '\n'
		case k.isRaw && key == interruptKey && k.isSecond():
			k.ask()
		default:
			kept = append(kept, key)
		}
	}
	return len(kept)
}

// interrupted takes notice of an interrupt that came as a signal, and reports
// whether it is for the job.
func (k *keyboard) interrupted() bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.asking {
		return false
	}
	if k.isSecond() {
		k.ask()
		return false
	}
	return true
}

func (k *keyboard) isSecond() bool {
	now := k.now()
	second := !k.last.IsZero() && now.Sub(k.last) < twiceWithin
	k.last = now
	if second {
		k.last = time.Time{}
	}
	return second
}

func (k *keyboard) ask() {
	k.asking = true
	question := "rmctl: detach, cancel or go on? [d/c/G] "
	if k.choices.detach == nil {
		question = "rmctl: cancel or go on? [c/G] "
	}
	k.say("\n" + question)
}

// answer takes a key as the answer, and reports whether the interrupt is to
// reach the job after all.
func (k *keyboard) answer(key byte) (goesOn bool) {
	switch key {
	case 'd', 'D':
		if k.choices.detach == nil {
			return false
		}
		k.choices.detach()
	case 'c', 'C':
		k.choices.cancel()
	case 'g', 'G', '\r', '\n':
		goesOn = k.isRaw
	default:
		return false // it waits for an answer that it knows
	}
	k.asking = false
	k.skipping = !k.isRaw && key != '\n'
	if k.isRaw {
		k.say(strings.TrimSpace(string(key)) + "\n") // the terminal does not show what is typed
	}
	return goesOn
}

// say writes to the screen. That the user's terminal is gone shows elsewhere.
func (k *keyboard) say(text string) {
	if k.isRaw {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = io.WriteString(k.screen, text)
}

// attached returns a context for a job attached to the terminal. What is typed
// there to interrupt reaches the job by itself, and the job decides what comes
// of it; rmctl only passes on that it is to end itself.
func (a *app) attached(ctx context.Context) (context.Context, context.CancelFunc) {
	if !isTerminal(a.stdin) {
		return context.WithCancel(ctx)
	}
	lasting, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	if ctx.Err() != nil { // it was to end before the job had the terminal
		stop()
		return context.WithCancel(ctx)
	}
	return lasting, stop
}
