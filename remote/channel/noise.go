package channel

import (
	"fmt"
	"sync"
)

const (
	noiseKept  = 4 << 10 // bytes, for people to look at
	noiseLimit = 1 << 20 // bytes: a login that says more is given up
)

// noise is what login shells say before ours answers: banners, complaints of
// profiles.
type noise struct {
	mutex sync.Mutex
	text  []byte
	count int
	flood chan struct{} // closed when there was more than noiseLimit
	once  sync.Once
}

func newNoise() *noise { return &noise{flood: make(chan struct{})} }

func (n *noise) add(data []byte) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.count += len(data)
	if room := noiseKept - len(n.text); room > 0 {
		n.text = append(n.text, data[:min(room, len(data))]...)
	}
	if n.count > noiseLimit {
		n.once.Do(func() { close(n.flood) })
	}
}

// String returns the beginning of what was heard.
func (n *noise) String() string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return string(n.text)
}

// words describes it for an error; hostile bytes are escaped.
func (n *noise) words() string {
	text := n.String()
	if text == "" {
		return "it says nothing"
	}
	return fmt.Sprintf("it says %q", text[:min(len(text), 200)])
}
