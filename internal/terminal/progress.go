package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/tui"
)

// shownAfter is how long something takes before its progress is shown, and how often
// that is.
const shownAfter = time.Second

// A Progress counts on a stream what a long command has done: in one line of a terminal,
// otherwise in a line each time.
type Progress struct {
	stream io.Writer
	what   string
	all    int
	inLine bool
	ended  chan struct{}
	left   sync.WaitGroup

	mutex   sync.Mutex
	done    int
	begun   time.Time
	isShown bool // whether the line is on the terminal
}

// StartProgress begins to show the progress of something that has a number of parts, on a
// stream that is no terminal only if the user wants details.
func StartProgress(stream io.Writer, isWanted bool, what string, all int) *Progress {
	p := &Progress{stream: stream, what: what, all: all, ended: make(chan struct{}), begun: time.Now()}
	p.inLine = CountsInLine(stream)
	if p.inLine || isWanted {
		p.left.Go(func() { p.show(time.NewTicker(shownAfter)) })
	}
	return p
}

// CountsInLine reports whether a stream is a terminal where a line can be replaced.
func CountsInLine(stream io.Writer) bool { return Is(stream) && os.Getenv("TERM") != "dumb" }

// Set notes how many parts are done.
func (p *Progress) Set(done int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done = done
}

// Print calls a function that prints other lines, with the line that counts out of their way.
func (p *Progress) Print(print func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.clear()
	print()
	if p.isShown {
		p.count()
	}
}

// Stop ends the display, and clears the line.
func (p *Progress) Stop() {
	close(p.ended)
	p.left.Wait()
}

func (p *Progress) show(ticker *time.Ticker) {
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.mutex.Lock()
			p.isShown = p.inLine
			p.count()
			p.mutex.Unlock()
		case <-p.ended:
			p.Print(func() { p.isShown = false })
			return
		}
	}
}

// clear clears the line. That the terminal is gone shows elsewhere.
func (p *Progress) clear() {
	if p.isShown {
		_, _ = io.WriteString(p.stream, "\r\x1b[K")
	}
}

func (p *Progress) count() {
	text := tui.OneLine(fmt.Sprintf("rmctl: %s: %d of %d, %s", p.what, p.done, p.all, time.Since(p.begun).Round(time.Second)))
	if p.inLine {
		text = "\r" + text + "\x1b[K"
	} else {
		text += "\n"
	}
	_, _ = io.WriteString(p.stream, text)
}
