package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// What the file of a history holds at most, and how often it is written.
const (
	historyVersion   = 1
	historyLife      = 7 * 24 * time.Hour
	historyInterval  = 10 * time.Minute
	mostHistoryBytes = 4 << 20
	mostStored       = 20 // resource managers whose samples are written
)

// storedHistory is a history as a file has it.
type storedHistory struct {
	Version  int             `json:"version"`
	Managers []storedManager `json:"managers"`
}

// storedManager is what the file has of one resource manager.
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

// A historyFile keeps a history from one server to the next. It is used by one goroutine.
type historyFile struct {
	path    string // empty for none
	history *History
	log     *slog.Logger

	written time.Time // when that was tried last
	foreign bool      // whether a later version of this program wrote the file: it is left as it is
	failed  bool      // whether the last try failed, so that it is logged once
}

// load takes what the file has into the history, as far as it is no older than a week.
func (f *historyFile) load(now time.Time) {
	f.written = now
	if f.path == "" {
		return
	}
	if err := f.merge(now); err != nil {
		f.log.Warn("what was in use before is not shown", "file", f.path, "error", err)
	}
}

// isDue reports whether the file is to be written again.
func (f *historyFile) isDue(now time.Time) bool { return now.Sub(f.written) >= historyInterval }

// save writes the history, with what other servers of this user have written meanwhile,
// and with the jobs of a snapshot. A file that cannot be read is replaced, unless a later
// version of this program wrote it.
func (f *historyFile) save(s *model.Snapshot, l *listing.Ledger, now time.Time) {
	f.written = now
	if f.path == "" {
		return
	}
	err := f.merge(now)
	if !f.foreign {
		f.history.noteListed(s, l)
		err = f.write(now)
	}
	if err == nil {
		f.history.forgetRemoved()
	} else if !f.failed {
		f.log.Warn("what is in use is remembered only while the server runs", "file", f.path, "error", err)
	}
	f.failed = err != nil
}

// merge takes what the file has into the history. Where that cannot be used the error
// says why.
func (f *historyFile) merge(now time.Time) error {
	stored, err := readHistory(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the history: %w", err)
	}
	f.foreign = stored.Version > historyVersion
	if stored.Version != historyVersion {
		return fmt.Errorf("the history has version %d, this program knows %d", stored.Version, historyVersion)
	}
	f.history.merge(stored, now)
	return nil
}

func readHistory(path string) (*storedHistory, error) {
	info, err := os.Stat(path) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, mostHistoryBytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(text) > mostHistoryBytes {
		return nil, fmt.Errorf("it has more than %d bytes", mostHistoryBytes)
	}
	var stored storedHistory
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, err
	}
	return &stored, nil
}

// write writes the history: with fewer jobs, and then of fewer resource managers, where it
// would have too many bytes.
func (f *historyFile) write(now time.Time) error {
	managers, jobs := mostStored, mostPast
	var text []byte
	for {
		var err error
		if text, err = json.Marshal(f.history.stored(now, managers, jobs)); err != nil {
			return fmt.Errorf("writing the history: %w", err)
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
	if err := settings.WritePrivateFile(f.path, text); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

// merge takes what a file had. Of what was seen at about the same time one is kept;
// resource managers that went since the history was written stay away.
func (h *History) merge(stored *storedHistory, now time.Time) {
	oldest, newest := now.Add(-historyLife).Unix(), now.Unix()
	for _, each := range stored.Managers {
		h.mu.Lock()
		kept := h.byManager[each.ID]
		isWanted := each.ID != "" && !h.removed[each.ID] && (kept != nil || len(h.byManager) < mostHistories)
		if isWanted && len(each.Tiers) == len(tiers) {
			if kept == nil {
				kept = make([][]sample, len(tiers))
				h.byManager[each.ID] = kept
			}
			for i, samples := range each.Tiers {
				kept[i] = mergedTier(kept[i], samples, tiers[i], oldest, newest)
			}
		}
		h.mu.Unlock()
		var jobs []pastJob
		for _, job := range each.Jobs {
			if isWanted && job.ID != "" && job.From <= job.To && job.To >= oldest && job.To <= newest {
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
	slices.SortStableFunc(all, func(a, b sample) int { return a.At.Compare(b.At) })
	var merged []sample
	for _, each := range all {
		if n := len(merged); n == 0 || each.At.Sub(merged[n-1].At) >= t.step {
			merged = append(merged, each)
		}
	}
	return merged[max(0, len(merged)-t.most):]
}

// noteListed keeps jobs that began and are listed as they are seen now, the newest ones,
// so that they are known should they not be listed when the next server begins.
func (h *History) noteListed(s *model.Snapshot, l *listing.Ledger) {
	for m := range s.Managers() {
		seen, own := listing.MomentOf(m.Element(), vocabulary.AttributeListedJobs).At, l.Owner(s, m)
		var began []pastJob
		for job := range m.All(model.Job) {
			if past, ran := pastOf(job, own, seen); ran {
				began = append(began, past)
			}
		}
		h.addPast(m.Element().ID(), newestPast(began, mostPast/2))
	}
}

// stored returns what of the history is no older than a week, as a file has it: samples
// of so many resource managers and so many jobs at most, the newest ones.
func (h *History) stored(now time.Time, mostManagers, mostJobs int) *storedHistory {
	h.mu.Lock()
	defer h.mu.Unlock()
	oldest := now.Add(-historyLife)
	h.forgetPast(oldest)
	managers := map[string]*storedManager{}
	of := func(id string) *storedManager {
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
			of(id).Tiers = append(of(id).Tiers, tier)
		}
	}
	for _, job := range newestPast(h.allPast(), mostJobs) {
		of(job.manager).Jobs = append(of(job.manager).Jobs, job)
	}
	all := &storedHistory{Version: historyVersion}
	for _, id := range slices.Sorted(maps.Keys(managers)) {
		all.Managers = append(all.Managers, *managers[id])
	}
	return all
}

// newest returns when a resource manager was sampled last; the lock is held.
func (h *History) newest(manager string) time.Time {
	finest := h.byManager[manager][0]
	if len(finest) == 0 {
		return time.Time{}
	}
	return finest[len(finest)-1].At
}
