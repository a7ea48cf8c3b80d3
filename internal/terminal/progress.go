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

	mutex sync.Mutex
	done  int
}

// StartProgress begins to show the progress of something that has a number of parts, on a
// stream that is no terminal only if the user wants details.
func StartProgress(stream io.Writer, isWanted bool, what string, all int) *Progress {
	p := &Progress{stream: stream, what: what, all: all, ended: make(chan struct{})}
	p.inLine = Is(stream) && os.Getenv("TERM") != "dumb"
	if p.inLine || isWanted {
		p.left.Go(func() { p.show(time.NewTicker(shownAfter)) })
	}
	return p
}

// Set notes how many parts are done.
func (p *Progress) Set(done int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done = done
}

// Stop ends the display, and clears the line.
func (p *Progress) Stop() {
	close(p.ended)
	p.left.Wait()
}

func (p *Progress) show(ticker *time.Ticker) {
	defer ticker.Stop()
	isShown := false
	for begun := time.Now(); ; {
		select {
		case <-ticker.C:
			isShown = p.inLine
			p.print(time.Since(begun))
		case <-p.ended:
			if isShown {
				_, _ = io.WriteString(p.stream, "\r\x1b[K") // that the terminal is gone shows elsewhere
			}
			return
		}
	}
}

func (p *Progress) print(since time.Duration) {
	p.mutex.Lock()
	text := tui.OneLine(fmt.Sprintf("rmctl: %s: %d of %d, %s", p.what, p.done, p.all, since.Round(time.Second)))
	p.mutex.Unlock()
	if p.inLine {
		text = "\r" + text + "\x1b[K"
	} else {
		text += "\n"
	}
	_, _ = io.WriteString(p.stream, text)
}
