package terminal

import (
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

// twiceWithin is the time within which a second interrupt is meant for rmctl.
const twiceWithin = time.Second

// interruptKey is the byte of Ctrl-C on a raw terminal.
const interruptKey = 0x03

// A Console is the user's terminal while a job is attached to it: input, size and signals.
type Console struct {
	Terminal *remote.Terminal // nil if the job has no pseudo-terminal
	Signals  chan syscall.Signal
	Sizes    chan remote.Size

	keyboard *keyboard

	file    *os.File
	saved   *term.State    // nil if the terminal was not changed
	notices chan os.Signal // from the system
	end     chan struct{}
	serving sync.WaitGroup
}

// Choices are what a user can do after two interrupts. Detach may be nil.
type Choices struct {
	Detach, Cancel func()
}

// Open attaches the terminal to a job. With a pseudo-terminal the job gets every key, and
// [Console.Close] restores the terminal.
func Open(stdin io.Reader, screen io.Writer, withTerminal bool, choices Choices) (*Console, error) {
	c := &Console{
		Signals: make(chan syscall.Signal, 8), Sizes: make(chan remote.Size, 1), notices: make(chan os.Signal, 8), end: make(chan struct{}),
		keyboard: &keyboard{source: stdin, screen: screen, choices: choices},
	}
	if file, isFile := stdin.(*os.File); isFile && Is(file) {
		c.file, c.keyboard.isTerminal = file, true
	}
	if withTerminal {
		c.Terminal = Unseen()
		c.Terminal.Resized = c.Sizes
		if c.file != nil {
			saved, err := term.MakeRaw(int(c.file.Fd()))
			if err != nil {
				return nil, fmt.Errorf("preparing the terminal: %w", err)
			}
			c.saved, c.keyboard.isRaw = saved, true
			signal.Notify(c.notices, syscall.SIGWINCH) // before the size is read, to miss no change
			c.Terminal.Type = os.Getenv("TERM")
			c.Terminal.Size = c.size(c.Terminal.Size)
		}
	}
	signal.Notify(c.notices, syscall.SIGINT, syscall.SIGQUIT)
	c.serving.Go(c.serve)
	return c, nil
}

// Unseen returns a terminal for a job without a user's terminal.
func Unseen() *remote.Terminal {
	return &remote.Terminal{Type: "dumb", Size: remote.Size{Columns: 80, Rows: 24}}
}

// Keys returns the input for the job.
func (c *Console) Keys() io.Reader { return c.keyboard }

// IsRaw reports whether the job gets every key: the input of such a terminal does not end.
func (c *Console) IsRaw() bool { return c.keyboard.isRaw }

// Close restores the terminal.
func (c *Console) Close() error {
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

func (c *Console) size(usual remote.Size) remote.Size {
	columns, rows, err := term.GetSize(int(c.file.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return usual
	}
	return remote.Size{Columns: columns, Rows: rows}
}

// serve passes sizes and signals on until the console is closed.
func (c *Console) serve() {
	defer signal.Stop(c.notices)
	for {
		select {
		case notice := <-c.notices:
			number, _ := notice.(syscall.Signal)
			switch {
			case number == syscall.SIGWINCH:
				c.resize()
			case number == syscall.SIGINT && c.keyboard.isTerminal && !c.keyboard.interrupted():
				// The user is asked.
			default:
				c.offer(number)
			}
		case <-c.end:
			return
		}
	}
}

// resize sends the current size, and drops one that was not received yet.
func (c *Console) resize() {
	select {
	case <-c.Sizes:
	default:
	}
	c.Sizes <- c.size(c.Terminal.Size)
}

// offer sends a signal, unless the job no longer receives any.
func (c *Console) offer(number syscall.Signal) {
	select {
	case c.Signals <- number:
	default:
	}
}

// A keyboard is the user's input. After two interrupts within a second it asks the user what
// to do with the job.
type keyboard struct {
	source     io.Reader
	screen     io.Writer
	choices    Choices
	isTerminal bool
	isRaw      bool // interrupts are typed bytes, not signals

	lock     sync.Mutex
	last     time.Time // of an interrupt
	asking   bool
	skipping bool // the rest of the line of an answer
}

// Read returns input for the job.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		n, err := k.source.Read(p)
		if k.isTerminal {
			n = k.filter(p[:n])
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// filter moves the bytes for the job to the beginning of typed, and returns their number.
func (k *keyboard) filter(typed []byte) int {
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

// interrupted handles an interrupt that came as a signal, and reports whether it is for the
// job.
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
	now := time.Now()
	second := !k.last.IsZero() && now.Sub(k.last) < twiceWithin
	k.last = now
	if second {
		k.last = time.Time{}
	}
	return second
}

func (k *keyboard) ask() {
	k.asking = true
	question := "rmctl: detach, cancel or continue? [d/c/G] "
	if k.choices.Detach == nil {
		question = "rmctl: cancel or continue? [c/G] "
	}
	k.say("\n" + question)
}

// answer handles a key of an answer, and reports whether the job gets the interrupt.
func (k *keyboard) answer(key byte) (goesOn bool) {
	switch key {
	case 'd', 'D':
		if k.choices.Detach == nil {
			return false
		}
		k.choices.Detach()
	case 'c', 'C':
		k.choices.Cancel()
	case 'g', 'G', '\r', '\n':
		goesOn = k.isRaw
	default:
		return false // it keeps waiting for an answer
	}
	k.asking = false
	k.skipping = !k.isRaw && key != '\n'
	if k.isRaw {
		k.say(strings.TrimSpace(string(key)) + "\n") // the terminal does not show what is typed
	}
	return goesOn
}

// say writes to the screen. Errors of the terminal appear elsewhere, too.
func (k *keyboard) say(text string) {
	if k.isRaw {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	_, _ = io.WriteString(k.screen, text)
}
