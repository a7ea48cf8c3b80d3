package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// The limits of the file of a history, and how often it is written.
const (
	historyVersion   = 1
	historyLife      = 7 * 24 * time.Hour
	historyInterval  = 10 * time.Minute
	mostHistoryBytes = 4 << 20
	mostStored       = 20 // targets whose samples are written
)

// storedHistory is the JSON of the file.
type storedHistory struct {
	Version  int             `json:"version"`
	Managers []storedManager `json:"managers"`
}

// storedManager is the history of one target in the file.
type storedManager struct {
	ID    string           `json:"id"`
	Tiers [][]storedSample `json:"tiers"`
	Jobs  []pastJob        `json:"jobs"`
}

// A storedSample has the time in seconds since 1970, whether there are nodes (1) and
// jobs (2), and the numbers of a sample in their order.
type storedSample [10]int64

func storedSampleOf(s sample) storedSample {
	var has int64
	if s.HasNodes {
		has |= 1
	}
	if s.HasJobs {
		has |= 2
	}
	return storedSample{s.At.Unix(), has, int64(s.Used), int64(s.Free), int64(s.Unusable), s.CPUs, s.CPUsUsed, int64(s.Running), int64(s.Waiting), int64(s.Others)}
}

func (s storedSample) sample() sample {
	return sample{At: time.Unix(s[0], 0), HasNodes: s[1]&1 != 0, HasJobs: s[1]&2 != 0, Used: int(s[2]), Free: int(s[3]), Unusable: int(s[4]),
		CPUs: s[5], CPUsUsed: s[6], Running: int(s[7]), Waiting: int(s[8]), Others: int(s[9])}
}

// load reads the samples and jobs of the last week from the file.
func (h *History) load(now time.Time) {
	h.saved = now
	if h.path == "" {
		return
	}
	if err := h.readFile(now); err != nil {
		h.log.Warn("cannot show earlier use", "file", h.path, "error", err)
	}
}

// isSaveDue reports whether it is time to write the file again.
func (h *History) isSaveDue(now time.Time) bool { return now.Sub(h.saved) >= historyInterval }

// save writes the history with what other servers of this user have written meanwhile,
// and with the jobs of a snapshot. It replaces an unreadable file, unless a later
// version of rmctl wrote it.
func (h *History) save(s *model.Snapshot, l *listing.Ledger, now time.Time) {
	h.saved = now
	if h.path == "" {
		return
	}
	err := h.readFile(now)
	if !h.isForeign {
		h.addListed(s, l)
		err = h.writeFile(now)
	}
	switch {
	case err == nil:
		h.clearRemoved()
	case !h.isFailing:
		h.log.Warn("use is recorded only while the server runs", "file", h.path, "error", err)
	}
	h.isFailing = err != nil
}

// readFile merges the file into the history.
func (h *History) readFile(now time.Time) error {
	text, err := settings.ReadFile(h.path, mostHistoryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var stored storedHistory
	switch {
	case err != nil:
	case len(text) > mostHistoryBytes:
		err = fmt.Errorf("it has more than %d bytes", mostHistoryBytes)
	default:
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	h.isForeign = stored.Version > historyVersion
	if stored.Version != historyVersion {
		return fmt.Errorf("the history has version %d, this program supports %d", stored.Version, historyVersion)
	}
	h.merge(stored, now)
	return nil
}

// writeFile writes the history: with fewer jobs, and then fewer targets, if it
// would have too many bytes.
func (h *History) writeFile(now time.Time) error {
	managers, jobs := mostStored, mostPast
	var text []byte
	for {
		var err error
		if text, err = json.Marshal(h.stored(now, managers, jobs)); err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
		if len(text) <= mostHistoryBytes {
			break
		}
		if jobs > 0 {
			jobs /= 2
		} else {
			managers /= 2
		}
	}
	if err := settings.WritePrivateFile(h.path, text); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// merge adds the content of a file. It keeps one of several samples of about the same
// time, and skips targets that were removed since the file was written.
func (h *History) merge(stored storedHistory, now time.Time) {
	oldest, newest := now.Add(-historyLife).Unix(), now.Unix()
	for _, each := range stored.Managers {
		h.mu.Lock()
		_, isKept := h.byManager[each.ID]
		isWelcome := each.ID != "" && !h.removed[each.ID] && (isKept || len(h.byManager) < mostHistories)
		if isWelcome && len(each.Tiers) == len(tiers) {
			kept := h.tiersOf(each.ID)
			for i, samples := range each.Tiers {
				kept[i] = mergedTier(kept[i], samples, tiers[i], oldest, newest)
			}
		}
		h.mu.Unlock()
		var jobs []pastJob
		for _, job := range each.Jobs {
			if isWelcome && job.ID != "" && job.From <= job.To && job.To >= oldest && job.To <= newest {
				jobs = append(jobs, job)
			}
		}
		h.addPast(each.ID, newestPast(jobs, mostPast))
	}
}

// mergedTier returns the samples of a tier with stored ones of a time.
func mergedTier(kept []sample, stored []storedSample, t tier, oldest, newest int64) []sample {
	all := slices.Clone(kept)
	for _, each := range stored {
		if each[0] >= oldest && each[0] <= newest && slices.Min(each[2:]) >= 0 {
			all = append(all, each.sample())
		}
	}
	sorting.Stable(all, func(a, b sample) int { return a.At.Compare(b.At) })
	return t.with(nil, all...)
}

// addListed adds the newest listed jobs that have begun: they may not be listed any more
// when the next server starts.
func (h *History) addListed(s *model.Snapshot, l *listing.Ledger) {
	for m := range s.Managers() {
		listedAt, own := listing.MomentOf(m.Element(), vocabulary.AttributeListedJobs).At, l.Owner(s, m)
		var began []pastJob
		for job := range m.All(model.Job) {
			if past, ran := pastOf(job, own, listedAt); ran {
				began = append(began, past)
			}
		}
		h.addPast(m.Element().ID(), newestPast(began, mostPast/2))
	}
}

// stored returns the newest samples and jobs of the last week for the file, within limits.
func (h *History) stored(now time.Time, mostManagers, mostJobs int) *storedHistory {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := now.Add(-historyLife)
	for _, jobs := range h.past {
		maps.DeleteFunc(jobs, func(_ pastKey, job pastJob) bool { return job.To < oldest.Unix() })
	}
	managers := map[string]*storedManager{}
	managerOf := func(id string) *storedManager {
		if managers[id] == nil {
			managers[id] = &storedManager{ID: id}
		}
		return managers[id]
	}
	newest := slices.SortedFunc(maps.Keys(h.byManager), func(a, b string) int { return cmp.Or(h.newest(b).Compare(h.newest(a)), cmp.Compare(a, b)) })
	for _, id := range newest[:min(len(newest), mostManagers)] {
		for _, samples := range h.byManager[id] {
			tier := []storedSample{}
			for _, each := range samples {
				if !each.At.Before(oldest) {
					tier = append(tier, storedSampleOf(each))
				}
			}
			managerOf(id).Tiers = append(managerOf(id).Tiers, tier)
		}
	}
	for _, job := range newestPast(h.allPast(), mostJobs) {
		managerOf(job.manager).Jobs = append(managerOf(job.manager).Jobs, job)
	}
	all := &storedHistory{Version: historyVersion}
	for _, id := range slices.Sorted(maps.Keys(managers)) {
		all.Managers = append(all.Managers, *managers[id])
	}
	return all
}

// newest returns the time of the last sample of a target; the lock is held.
func (h *History) newest(manager string) time.Time {
	finest := h.byManager[manager][0]
	if len(finest) == 0 {
		return time.Time{}
	}
	return finest[len(finest)-1].At
}
