package launch

import (
	"log/slog"
	"sync"
	"time"
)

// steps are the steps of a launch, with their times.
type steps struct {
	log *slog.Logger

	mutex  sync.Mutex
	count  int
	latest time.Time
	first  time.Time
	known  map[string]bool
}

func newSteps(log *slog.Logger) *steps {
	now := time.Now()
	return &steps{log: log, latest: now, first: now, known: map[string]bool{}}
}

// done logs a step, once.
func (s *steps) done(text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.known[text] {
		return
	}
	s.known[text] = true
	s.count++
	now := time.Now()
	s.log.Info("launch: "+text, "step", s.count, "took", now.Sub(s.latest).Round(time.Millisecond), "since the start", now.Sub(s.first).Round(time.Millisecond))
	s.latest = now
}
