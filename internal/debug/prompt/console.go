package prompt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	mostTyped    = 64 << 10 // bytes that wait for a command to end
	keyInterrupt = 'C' - '@'
	// clearLine moves to the end of the line, and deletes all before.
	clearLine = "\x05\x15"
)

// A console is the user's terminal. It reads keys all the time, so that Ctrl-C works during commands.
type console struct {
	terminal   *term.Terminal
	interrupts chan struct{} // gets a value for Ctrl-C

	file    *os.File
	saved   *term.State
	history *history
	keys    *keys
	end     *os.File // closed to end the tasks; ended is the other end of the pipe
	ended   *os.File
	tasks   sync.WaitGroup
}

// openConsole makes a terminal raw. Complete returns the completions of a text.
func openConsole(file *os.File, out io.Writer, complete func(string) []string, historyFile string) (*console, error) {
	c := &console{file: file, interrupts: make(chan struct{}, 1), keys: newKeys()}
	var err error
	if c.ended, c.end, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	if c.saved, err = term.MakeRaw(c.descriptor()); err != nil {
		return nil, fmt.Errorf("preparing the terminal: %w", errors.Join(err, c.end.Close(), c.ended.Close()))
	}
	c.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{c.keys, out}, "")
	c.history = openHistory(historyFile)
	c.terminal.History = c.history
	c.terminal.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		line, at, offered := completed(line, at, complete)
		if len(offered) > 0 {
			_, _ = io.WriteString(c.terminal, strings.Join(offered, "  ")+"\n") // that the terminal is gone shows when reading
		}
		return line, at, true
	}
	c.tasks.Go(c.readKeys)
	c.tasks.Go(c.followSize)
	return c, nil
}

func (c *console) descriptor() int { return int(c.file.Fd()) }

// Write prints above the line that is edited.
func (c *console) Write(text []byte) (int, error) { return c.terminal.Write(text) }

// width returns the columns of the terminal.
func (c *console) width() int {
	if columns, _, err := term.GetSize(c.descriptor()); err == nil && columns > 0 {
		return columns
	}
	return usualWidth
}

// read reads a line.
func (c *console) read(prompt string) (string, error) {
	c.terminal.SetPrompt(prompt)
	text, err := c.terminal.ReadLine()
	if err != nil {
		c.terminal.SetPrompt("")
		_, _ = io.WriteString(c.terminal, "\n") // clears the line
	}
	return text, err
}

// confirm asks a question. The end of the input agrees.
func (c *console) confirm(question string) bool {
	c.history.isPaused = true
	defer func() { c.history.isPaused = false }()
	text, err := c.read(question)
	return err != nil || strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")
}

// readKeys reads the keys.
func (c *console) readKeys() {
	defer c.keys.close()
	terminal, ended := c.descriptor(), int(c.ended.Fd())
	var buffer [4096]byte
	for {
		var ready unix.FdSet
		ready.Set(terminal)
		ready.Set(ended)
		_, err := unix.Select(max(terminal, ended)+1, &ready, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || ready.IsSet(ended):
			return
		}
		count, err := unix.Read(terminal, buffer[:])
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil || count <= 0 {
			return
		}
		c.typed(string(buffer[:count]))
	}
}

// typed handles keys. Ctrl-C discards the keys before it.
func (c *console) typed(text string) {
	if at := strings.LastIndexByte(text, keyInterrupt); at >= 0 {
		c.keys.replace(clearLine)
		text = text[at+1:]
		select {
		case c.interrupts <- struct{}{}:
		default:
		}
	}
	c.keys.add(text)
}

// followSize gives the editor the size of the terminal whenever it changes.
func (c *console) followSize() {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH)
	defer signal.Stop(changes)
	for {
		if columns, rows, err := term.GetSize(c.descriptor()); err == nil && columns > 0 {
			_ = c.terminal.SetSize(columns, rows) // that the terminal is gone shows when reading
		}
		select {
		case <-changes:
		case <-c.keys.closed:
			return
		}
	}
}

// close restores the terminal.
func (c *console) close() error {
	err := c.end.Close()
	c.tasks.Wait()
	err = errors.Join(err, c.ended.Close(), c.history.close(), term.Restore(c.descriptor(), c.saved))
	if err != nil {
		return fmt.Errorf("restoring the terminal: %w", err)
	}
	return nil
}

// keys are the unread keys.
type keys struct {
	mutex   sync.Mutex
	changed *sync.Cond
	text    []byte
	isEnd   bool
	closed  chan struct{}
}

func newKeys() *keys {
	k := &keys{closed: make(chan struct{})}
	k.changed = sync.NewCond(&k.mutex)
	return k
}

// Read returns typed keys, or waits for them.
func (k *keys) Read(buffer []byte) (int, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for len(k.text) == 0 && !k.isEnd {
		k.changed.Wait()
	}
	if len(k.text) == 0 {
		return 0, io.EOF
	}
	count := copy(buffer, k.text)
	k.text = k.text[count:]
	return count, nil
}

func (k *keys) add(text string) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.text = append(k.text, text[:min(len(text), max(mostTyped-len(k.text), 0))]...)
	k.changed.Broadcast()
}

func (k *keys) replace(text string) {
	k.mutex.Lock()
	k.text = nil
	k.mutex.Unlock()
	k.add(text)
}

func (k *keys) close() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.isEnd = true
	close(k.closed)
	k.changed.Broadcast()
}
