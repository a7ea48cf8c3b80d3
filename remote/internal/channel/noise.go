package channel

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rmctl/rmctl/internal/execution"
)

const (
	noiseKept  = 4 << 10 // bytes, for people to look at
	noiseLimit = 1 << 20 // bytes: a login that says more is given up
)

// noise is the output of a login shell before ours answers: banners, complaints of
// profiles.
type noise struct {
	text  *execution.Head
	count atomic.Int64
	flood chan struct{} // closed when there was more than noiseLimit
	once  sync.Once
}

func newNoise() *noise {
	return &noise{text: execution.NewHead(noiseKept), flood: make(chan struct{})}
}

func (n *noise) add(data []byte) {
	_, _ = n.text.Write(data) // never fails
	if n.count.Add(int64(len(data))) > noiseLimit {
		n.once.Do(func() { close(n.flood) })
	}
}

// words describes the noise for an error, with hostile bytes escaped.
func (n *noise) words() string {
	text := n.text.String()
	if text == "" {
		return "it says nothing"
	}
	return fmt.Sprintf("it says %q", text[:min(len(text), 200)])
}
