package tui

import (
	"strings"
	"sync"
)

// Notices are what is said while the screen is shown, such as warnings, in place
// of standard error: each line that is written to them is shown. Those that come
// faster than they are shown replace the oldest.
type Notices struct {
	lock    sync.Mutex
	partial strings.Builder
	lines   []string
}

// mostNotices is how many lines wait to be shown at most, and noticeBytes how long
// one may be.
const (
	mostNotices = 200
	noticeBytes = 4096
)

// Write takes lines. It never fails.
func (n *Notices) Write(text []byte) (int, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	for i, line := range strings.Split(string(text), "\n") {
		if i > 0 {
			n.lines = append(n.lines, n.partial.String())
			n.partial.Reset()
		}
		n.partial.WriteString(line[:min(len(line), max(noticeBytes-n.partial.Len(), 0))])
	}
	n.lines = n.lines[max(len(n.lines)-mostNotices, 0):]
	return len(text), nil
}

// Take returns the lines that were written since it was called last, at most 200: the
// newest. They are as they were written, each cut after 4 KiB.
func (n *Notices) Take() []string {
	n.lock.Lock()
	defer n.lock.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}
