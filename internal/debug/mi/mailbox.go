package mi

import (
	"sync"

	"github.com/rmctl/rmctl/debug"
)

// mostOutput bounds the notices that wait, above which output is left out.
const mostOutput = 1000

// A mailbox passes notices on from a separate goroutine, so that their receiver may send requests.
type mailbox struct {
	mutex   sync.Mutex
	queue   []debug.Notice
	wake    chan struct{}
	isClose bool
	done    chan struct{}
}

func (m *mailbox) start(notify func(debug.Notice)) {
	m.wake, m.done = make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(m.done)
		for range m.wake {
			m.mutex.Lock()
			queue, isClosed := m.queue, m.isClose
			m.queue = nil
			m.mutex.Unlock()
			for _, notice := range queue {
				notify(notice)
			}
			if isClosed {
				return
			}
		}
	}()
}

func (m *mailbox) add(notice debug.Notice) {
	m.mutex.Lock()
	if notice.Report != debug.ReportOutput || len(m.queue) < mostOutput {
		m.queue = append(m.queue, notice)
	}
	m.mutex.Unlock()
	m.signal()
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// close waits until all notices are passed on.
func (m *mailbox) close() {
	m.mutex.Lock()
	m.isClose = true
	m.mutex.Unlock()
	m.signal()
	<-m.done
}
