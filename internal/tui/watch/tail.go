package watch

import (
	"bytes"
	"slices"
	"sync"
)

// Bounds of what is kept of a job's output: the end of it.
const (
	tailLines   = 5000
	tailPerLine = 4096 // bytes
)

// A tail keeps the last lines that are written to it.
type tail struct {
	stir func() // called after each change

	lock    sync.Mutex
	lines   []string // at most twice tailLines
	partial []byte   // of the last line, which has not ended
	isCut   bool     // whether something stood before these
	moved   int      // lines by which what is kept has moved up since hasMoved was called
	inLine  bool     // whether what comes is the rest of a line that is cut
}

// skip notes that what is written is the end of something longer.
func (t *tail) skip(int64) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.isCut, t.inLine = true, true
}

// Write keeps what is written. It never fails.
func (t *tail) Write(written []byte) (int, error) {
	t.lock.Lock()
	rest := written
	for {
		line, after, isWhole := bytes.Cut(rest, []byte("\n"))
		if !t.inLine {
			t.partial = append(t.partial, line[:min(len(line), max(tailPerLine-len(t.partial), 0))]...)
		}
		if !isWhole {
			break
		}
		if !t.inLine {
			t.lines = append(t.lines, string(t.partial))
		}
		t.inLine, t.partial, rest = false, t.partial[:0], after
		if len(t.lines) >= 2*tailLines {
			if t.moved += tailLines; !t.isCut {
				t.moved-- // a line says that something stood before
			}
			t.isCut = true
			t.lines = slices.Clone(t.lines[tailLines:])
		}
	}
	t.lock.Unlock()
	t.stir()
	return len(written), nil
}

// hasMoved returns by how many lines what is shown of the tail has moved up since it
// was called last, as older lines went.
func (t *tail) hasMoved() int {
	t.lock.Lock()
	defer t.lock.Unlock()
	moved := t.moved
	t.moved = 0
	return moved
}

// last returns the lines that are kept, and whether these are all.
func (t *tail) last() (lines []string, isWhole bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	lines = slices.Clone(t.lines)
	if len(t.partial) > 0 {
		lines = append(lines, string(t.partial))
	}
	return lines, !t.isCut
}
