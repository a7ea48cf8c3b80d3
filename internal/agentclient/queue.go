package agentclient

import (
	"sync"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/proxy"
)

// mostQueued bounds the bytes of queued events.
const mostQueued = 8 << 20

// A queue passes events from the goroutine that reads them to the one that applies them to the model. It
// combines many events into one update, and reading waits if the model falls behind.
type queue struct {
	filled  chan struct{} // signals queued events
	emptied chan struct{} // signals free room
	stopped chan struct{} // closed when the reader has stopped

	mu     sync.Mutex
	events []proxy.Update
	bytes  int
	end    error // why no more events come
}

func newQueue() *queue {
	return &queue{filled: make(chan struct{}, 1), emptied: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// put adds an event, waiting for room. It reports false if the queue has been stopped.
func (q *queue) put(event proxy.Update, bytes int) bool {
	for !q.offer(event, bytes) {
		select {
		case <-q.emptied:
		case <-q.stopped:
			return false
		}
	}
	execution.Offer(q.filled, struct{}{})
	return true
}

func (q *queue) offer(event proxy.Update, bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes > 0 && q.bytes+bytes > mostQueued {
		return false
	}
	q.events = append(q.events, event)
	q.bytes += bytes
	return true
}

// close ends the queue with a reason.
func (q *queue) close(end error) {
	q.mu.Lock()
	q.end = end
	q.mu.Unlock()
	execution.Offer(q.filled, struct{}{})
}

// take returns the queued events or, after the last one, the reason for the end.
func (q *queue) take() ([]proxy.Update, error) {
	q.mu.Lock()
	events, end := q.events, q.end
	q.events, q.bytes = nil, 0
	q.mu.Unlock()
	execution.Offer(q.emptied, struct{}{})
	return events, end
}
