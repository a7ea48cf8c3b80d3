package agentclient

import (
	"sync"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/proxy"
)

// mostQueued bounds the bytes of events that were read and are not in the model yet.
const mostQueued = 8 << 20

// A queue holds events between the goroutine that reads them and the one that puts them into
// the model. So many events become one update, and reading waits when the model is behind.
type queue struct {
	filled  chan struct{} // has a value when there is something to take
	emptied chan struct{} // has a value when there may be room
	stopped chan struct{} // closed when nobody takes any more

	mu     sync.Mutex
	events []proxy.Update
	bytes  int
	end    error // why no more events come
}

func newQueue() *queue {
	return &queue{filled: make(chan struct{}, 1), emptied: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// put adds an event, and waits until there is room. It reports false if nobody takes it.
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

// close says why no more events come.
func (q *queue) close(end error) {
	q.mu.Lock()
	q.end = end
	q.mu.Unlock()
	execution.Offer(q.filled, struct{}{})
}

// take returns the events that came, and once all were taken the reason why no more come.
func (q *queue) take() ([]proxy.Update, error) {
	q.mu.Lock()
	events, end := q.events, q.end
	q.events, q.bytes = nil, 0
	q.mu.Unlock()
	execution.Offer(q.emptied, struct{}{})
	return events, end
}
