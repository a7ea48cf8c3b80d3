// Package usage records how much of targets was in use and which jobs ran when,
// keeps this in a file, and draws it as plots and timelines.
package usage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// A sample is how much of a target was in use when it was listed.
type sample struct {
	At time.Time // when its nodes or jobs were listed

	HasNodes             bool
	Used, Free, Unusable int
	CPUs, CPUsUsed       int64

	HasJobs          bool
	Running, Waiting int
	Others           int // suspended, or in an unknown state
}

// A tier keeps one sample for each step of time, at most a number of them.
type tier struct {
	step time.Duration
	most int
}

// tiers bound the samples of a target: fine steps for the last hour, coarse ones
// for the last week.
var tiers = []tier{{10 * time.Second, 360}, {2 * time.Minute, 720}, {15 * time.Minute, 672}}

// mostHistories bounds the targets with a history.
const mostHistories = 200

// A History keeps samples of targets, and jobs that ran and are not listed any
// more. Its methods may be called concurrently, except for Run.
type History struct {
	before    map[string]*model.Manager // as last sampled; nil for one that has stopped
	path      string                    // of the file; empty for none
	log       *slog.Logger
	saved     time.Time // when the last attempt to read or write the file was
	isForeign bool      // whether a later version of rmctl wrote the file, which stays as it is
	isFailing bool      // whether the last attempt failed, which is logged once

	mu        sync.Mutex
	byManager map[string][][]sample // by tier
	past      map[string]map[pastKey]pastJob
	removed   map[string]bool // targets that were removed since the file was written
}

// Open returns the history in a file; an empty path means no file.
func Open(path string, log *slog.Logger) *History {
	h := newHistory()
	h.path, h.log = path, log
	h.load(time.Now())
	return h
}

// Run samples the model until ctx ends, and writes the file every ten minutes and at the
// end.
func (h *History) Run(ctx context.Context, models *model.Model, l *listing.Ledger) {
	snapshot := models.Snapshot()
	for {
		h.sample(snapshot, l)
		newer, err := models.Next(ctx, snapshot)
		if err != nil {
			h.save(snapshot, l, time.Now())
			return
		}
		snapshot = newer
		if now := time.Now(); h.isSaveDue(now) {
			h.save(snapshot, l, now)
		}
	}
}

func newHistory() *History {
	return &History{before: map[string]*model.Manager{}, byManager: map[string][][]sample{}, past: map[string]map[pastKey]pastJob{}, removed: map[string]bool{}}
}

// sample adds a sample of each target that was listed since the last one, and
// the jobs that are not listed any more. It drops targets that were removed.
func (h *History) sample(s *model.Snapshot, l *listing.Ledger) {
	h.dropRemoved(s)
	for m := range s.Managers() {
		id, state := m.Element().ID(), listing.SeenState(m.Element())
		if before, known := h.before[id]; !known || state == vocabulary.StateStopped {
			h.addGone(s, l, before, m)
			h.before[id] = nil
		}
		if state != vocabulary.StateStarted {
			continue
		}
		jobs, nodes := listing.MomentOf(m.Element(), vocabulary.AttributeListedJobs).At, listing.MomentOf(m.Element(), vocabulary.AttributeListedNodes).At
		at := jobs
		if nodes.After(at) {
			at = nodes
		}
		if at.IsZero() || !h.isSampleDue(id, at) {
			continue
		}
		census := l.Census(s, m)
		current := sample{At: at, HasNodes: !nodes.IsZero(), HasJobs: !jobs.IsZero(), CPUs: census.AnyNode.CPUs, CPUsUsed: census.AnyNode.CPUsUsed}
		current.Used, current.Free, current.Unusable = census.AnyNode.Use()
		current.Running, current.Waiting = census.Jobs.ByState[vocabulary.StateRunning]+census.Jobs.ByState[vocabulary.StateStarted], census.Jobs.ByState[vocabulary.StatePending]
		current.Others = census.Jobs.ByState[vocabulary.StateSuspended] + census.Jobs.ByState[vocabulary.StateUnknown]
		h.add(id, current)
		h.addGone(s, l, h.before[id], m)
		h.before[id] = m
	}
}

// dropRemoved drops the history of targets that were removed.
func (h *History) dropRemoved(s *model.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for manager := range h.before {
		if _, known := s.Manager(manager); !known {
			delete(h.before, manager)
			delete(h.byManager, manager)
			delete(h.past, manager)
			h.removed[manager] = true
		}
	}
}

// clearRemoved is called once the file lacks the targets that were removed.
func (h *History) clearRemoved() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.removed)
}

// isSampleDue reports whether a time is at least one step after the last sample.
func (h *History) isSampleDue(manager string, at time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.byManager[manager]
	if kept == nil {
		return len(h.byManager) < mostHistories
	}
	finest := kept[0]
	return len(finest) == 0 || at.Sub(finest[len(finest)-1].At) >= tiers[0].step
}

// add keeps a sample in each tier that has none of its step.
func (h *History) add(manager string, current sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.tiersOf(manager)
	for i, t := range tiers {
		kept[i] = t.with(kept[i], current)
	}
}

// tiersOf returns the tiers of a target, empty ones if it has none yet; the
// lock is held.
func (h *History) tiersOf(manager string) [][]sample {
	if h.byManager[manager] == nil {
		h.byManager[manager] = make([][]sample, len(tiers))
	}
	return h.byManager[manager]
}

// with returns the samples of a tier with later ones that are at least one step apart.
func (t tier) with(kept []sample, later ...sample) []sample {
	for _, each := range later {
		if n := len(kept); n == 0 || each.At.Sub(kept[n-1].At) >= t.step {
			kept = append(kept, each)
		}
	}
	if surplus := len(kept) - t.most; surplus > 0 {
		kept = append(kept[:0], kept[surplus:]...)
	}
	return kept
}

// began returns the time of the oldest sample, or the zero time without samples.
func (h *History) began() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	var oldest time.Time
	for _, tiers := range h.byManager {
		for _, samples := range tiers {
			if len(samples) > 0 && (oldest.IsZero() || samples[0].At.Before(oldest)) {
				oldest = samples[0].At
			}
		}
	}
	return oldest
}

// since returns the samples of a target since a time, from the finest tier that
// reaches back to it, and the step of that tier.
func (h *History) since(manager string, from time.Time) ([]sample, time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.byManager[manager]
	for i, samples := range kept {
		reaches := len(samples) < tiers[i].most || !samples[0].At.After(from)
		if !reaches && i < len(kept)-1 {
			continue
		}
		first := 0
		for first < len(samples) && samples[first].At.Before(from) {
			first++
		}
		return append([]sample(nil), samples[first:]...), tiers[i].step
	}
	return nil, tiers[0].step
}
