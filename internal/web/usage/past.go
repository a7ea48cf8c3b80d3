package usage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

// mostPast bounds the jobs that are not listed any more, of all targets together.
const mostPast = 10_000

// A pastJob is a job that ran, as it was last listed, with its JSON in the file.
type pastJob struct {
	ID     string      `json:"id"`
	Name   string      `json:"name,omitempty"`
	User   string      `json:"user,omitempty"`
	Queue  string      `json:"queue"`
	State  model.State `json:"state"`
	Detail string      `json:"detail,omitempty"`
	From   int64       `json:"from"` // when it started, in seconds since 1970
	To     int64       `json:"to"`   // when it ended, or was last listed
	Mine   bool        `json:"mine,omitempty"`

	manager string // its id
}

// A pastKey distinguishes jobs of one target, which reuses ids.
type pastKey struct {
	id   string
	from int64
}

func (p *pastJob) key() pastKey { return pastKey{p.ID, p.From} }

// The lengths of the texts of past jobs, which bars show. A queue with a longer id has no
// past jobs.
const (
	longestPastID   = 60
	longestPastUser = 40
	longestPastLine = 100
)

// pastOf returns a job that has started as a past job; false for one that has not, or whose
// end is unknown. listedAt is when the jobs were listed.
func pastOf(job *model.Element, own listing.Owner, listedAt time.Time) (pastJob, bool) {
	state := listing.SeenState(job)
	if state == vocabulary.StatePending {
		return pastJob{}, false
	}
	ran, isKnown := stretchOf(job, state, listedAt, listedAt)
	if !isKnown || len(job.Parent()) > longestPastLine {
		return pastJob{}, false
	}
	return pastJob{
		ID: listing.CutTo(job.ID(), longestPastID), Name: listing.CutTo(job.Name(), longestPastID), Queue: job.Parent(), State: state,
		User: listing.CutTo(listing.GivenText(job, vocabulary.AttributeJobUser), longestPastUser), Detail: listing.GivenText(job, vocabulary.AttributeJobDetail),
		From: ran.from.Unix(), To: ran.to.Unix(), Mine: own.Has(job),
	}, true
}

// isListed reports whether the model has the job.
func (p *pastJob) isListed(m *model.Manager) bool {
	job, known := m.Get(model.Job, p.ID)
	return known && listing.MomentOf(job, vocabulary.AttributeJobStarted).At.Unix() == p.From
}

// addGone adds the jobs that a target listed before and does not list now, also if
// another job has their id now.
func (h *History) addGone(s *model.Snapshot, l *listing.Ledger, before, now *model.Manager) {
	if before == nil || before == now {
		return
	}
	listedAt := listing.MomentOf(before.Element(), vocabulary.AttributeListedJobs).At
	if listedAt.IsZero() {
		return
	}
	own := l.Owner(s, now)
	var gone []pastJob
	for job := range before.All(model.Job) {
		if is, known := now.Get(model.Job, job.ID()); known && (is == job || listing.MomentOf(is, vocabulary.AttributeJobStarted) == listing.MomentOf(job, vocabulary.AttributeJobStarted)) {
			continue
		}
		if past, ran := pastOf(job, own, listedAt); ran {
			gone = append(gone, past)
		}
	}
	h.addPast(now.Element().ID(), newestPast(gone, mostPast))
}

// addPast keeps jobs as they were last observed.
func (h *History) addPast(manager string, jobs []pastJob) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, job := range jobs {
		job.manager = manager
		if h.past[manager] == nil {
			h.past[manager] = map[pastKey]pastJob{}
		}
		if before, known := h.past[manager][job.key()]; !known || before.To <= job.To {
			h.past[manager][job.key()] = job
		}
	}
	count := 0
	for _, jobs := range h.past {
		count += len(jobs)
	}
	if count <= mostPast {
		return
	}
	for _, job := range newestPast(h.allPast(), count)[mostPast:] {
		delete(h.past[job.manager], job.key())
	}
}

// allPast returns all past jobs; the lock is held.
func (h *History) allPast() []pastJob {
	var all []pastJob
	for _, jobs := range h.past {
		all = slices.AppendSeq(all, maps.Values(jobs))
	}
	return all
}

// newestPast returns the jobs that were listed last, the newest first.
func newestPast(jobs []pastJob, most int) []pastJob {
	sorting.Stable(jobs, func(a, b pastJob) int {
		return cmp.Or(cmp.Compare(b.To, a.To), cmp.Compare(b.From, a.From), cmp.Compare(a.manager, b.manager), cmp.Compare(a.ID, b.ID))
	})
	return jobs[:min(len(jobs), most)]
}

// pastOn returns the jobs of a target that ran after a time and are not listed any
// more, by the ids of their queues and in the order of their start.
func (h *History) pastOn(m *model.Manager, from time.Time, mineOnly bool) map[string][]pastJob {
	h.mu.Lock()
	byQueue := map[string][]pastJob{}
	for _, job := range h.past[m.Element().ID()] {
		if job.To > from.Unix() && (job.Mine || !mineOnly) {
			byQueue[job.Queue] = append(byQueue[job.Queue], job)
		}
	}
	h.mu.Unlock()
	for queue, jobs := range byQueue {
		jobs = slices.DeleteFunc(jobs, func(job pastJob) bool { return job.isListed(m) })
		sorting.Stable(jobs, func(a, b pastJob) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.ID, b.ID)) })
		byQueue[queue] = jobs
	}
	return byQueue
}
