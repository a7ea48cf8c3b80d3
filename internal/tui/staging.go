package tui

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/remote"
)

const (
	// Smaller files are there before anybody wonders.
	shownStaging = 1 << 20
	// More often than this nobody can read it.
	stagingPace = 100 * time.Millisecond
	// Below this width only the share is shown.
	narrowBar = 40
)

// A stagingBar shows on one line of a terminal how far large files are on their
// way to their targets. The line is gone when they are there.
type stagingBar struct {
	screen  io.Writer
	columns func() int
	now     func() time.Time

	lock  sync.Mutex
	files map[string]remote.Transfer // on their way
	drawn time.Time                  // zero while the line is empty
}

// StagingBar returns what shows on a stream how far files are on their way; nil where the
// stream is no terminal that can take a line back.
func StagingBar(stream io.Writer) func(remote.Transfer) {
	if !IsTerminal(stream) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	screen := stream.(*os.File)
	bar := &stagingBar{screen: screen, now: time.Now, columns: func() int {
		columns, _ := sizeOf(screen)
		return columns
	}}
	return bar.show
}

// show takes notice of how far a file is.
func (b *stagingBar) show(file remote.Transfer) {
	if file.Size < shownStaging {
		return
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.files == nil {
		b.files = map[string]remote.Transfer{}
	}
	b.files[file.Path] = file
	if file.Done {
		delete(b.files, file.Path)
	}
	switch now := b.now(); {
	case len(b.files) == 0 && !b.drawn.IsZero():
		b.drawn = time.Time{}
		b.say("")
	case len(b.files) > 0 && now.Sub(b.drawn) >= stagingPace:
		b.drawn = now
		b.say(b.line())
	}
}

// say replaces the line by a text. It ignores errors: a lost terminal is noticed
// elsewhere.
func (b *stagingBar) say(text string) {
	_, _ = io.WriteString(b.screen, "\r"+text+"\x1b[K")
}

// line is what the line shows: as much as its width allows, less one column
// where the cursor stays.
func (b *stagingBar) line() string {
	var sent, size int64
	name := fmt.Sprintf("%d files", len(b.files))
	for _, file := range b.files {
		sent, size = sent+file.Sent, size+file.Size
		if len(b.files) == 1 {
			name = OneLine(path.Base(file.Path))
		}
	}
	width := max(b.columns()-1, 0)
	share := fmt.Sprintf("%3d%%", 100*sent/size)
	if width < narrowBar {
		return share[:min(len(share), width)]
	}
	counts := fmt.Sprintf(" %.1f of %.1f MiB ", mebibytes(sent), mebibytes(size))
	name = Cut(name, width/3)
	inside := width - Width(name) - len(counts) - len("[] ") - len(share)
	if inside < 1 {
		return share
	}
	filled := int(int64(inside) * sent / size)
	return name + counts + "[" + strings.Repeat("=", filled) + strings.Repeat(" ", inside-filled) + "] " + share
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
