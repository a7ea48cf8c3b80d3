package monitor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A record is the last reading of the recorded jobs.
type record struct {
	byTag      map[string]*recorded
	byID       map[string]*recorded // the newest of each id and short id
	identities map[string]*recorded
	generation uint64 // changes when a row may have to be matched with another job
	processes  map[string][]job.Process
	prints     map[string]uint64         // of the processes, by tag
	shown      map[string]shownProcesses // by tag
	showing    map[string]string         // tags of the jobs that elements without a row show, by the elements' ids
}

// A recorded is a job on record, and where it is shown.
type recorded struct {
	job.Job
	submitted  []model.Attribute // its submission
	processes  int               // how many are known
	print      uint64            // of the facts and the doubt
	generation uint64            // of the record when the job was new in it, or got its id
	rows       []string          // ids of the rows of listings that are of this job
	shown      string            // id of the element that shows it without a row; empty if a row shows it
	shownAs    uint64            // print that the elements show

	// last is the row that a listing had of the job and the next one lacked, while it says more than the
	// record, which may be read later. It is nil for none.
	last *lastRow

	// The state is from before the record was first read. It counts as unconfirmed for some time,
	// then as doubtful.
	isUnconfirmed, isOld bool
}

// confirmLimit is how long a state on record may wait for the scheduler to confirm it.
const confirmLimit = 10 * time.Second

// rate notes whether the state of a job is from before a time, that is since when the record is
// read. That a query failed or did not find the job confirms nothing.
func (r *recorded) rate(since, now time.Time) {
	isBefore := r.ID != "" && !r.IsOver() && r.Observed.Before(since)
	r.isOld = isBefore && now.Sub(since) >= confirmLimit
	r.isUnconfirmed = isBefore && !r.isOld
}

// doubt returns why the state of a job that no listing has may be another by now.
func (r *recorded) doubt() string {
	if doubt := r.Doubt(); doubt != "" || !r.isOld {
		return doubt
	}
	return "not confirmed by the scheduler yet"
}

func newRecord() record {
	return record{byTag: map[string]*recorded{}, byID: map[string]*recorded{}, identities: map[string]*recorded{}, shown: map[string]shownProcesses{}, showing: map[string]string{}}
}

// match returns the job on record that a row belongs to, or nil. The identity
// decides where it is known, else the id unless the record shows that the scheduler gave
// it again. Anybody may forge an identity, so a row of another user never matches.
func (r *record) match(id string, facts Facts, user string) *recorded {
	if len(r.byTag) == 0 {
		return nil
	}
	identity, owner := facts.Fact(factIdentity), facts.Fact(factOwner)
	if identity != "" {
		if found, known := r.byTag[identity]; known {
			return found.unlessOf(owner, user)
		}
		if found, known := r.identities[identity]; known {
			return found.unlessOf(owner, user)
		}
	}
	found, known := r.byID[id]
	if !known || found.unlessOf(owner, user) == nil {
		return nil
	}
	detail, _ := job.ParseDetail(facts.Fact(factState))
	if transition.IsAnother(&found.Job, job.Observation{Identity: identity, Detail: detail, Submitted: facts.Fact(factSubmitted)}) {
		return nil
	}
	return found
}

// unlessOf returns the job unless the owner in its row is another one than on record or,
// where the record has none, than this user.
func (r *recorded) unlessOf(owner, user string) *recorded {
	if mine := cmp.Or(r.Owner, user); areOthers(owner, mine) {
		return nil
	}
	return r
}

// areOthers reports whether two names belong to different users. Some schedulers append a host
// to the name, and one shows the uid of unknown users.
func areOthers(a, b string) bool {
	a, b = withoutHost(a), withoutHost(b)
	return a != "" && b != "" && a != b && !isNumber(a) && !isNumber(b)
}

func withoutHost(user string) string {
	name, _, _ := strings.Cut(user, "@")
	return name
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

// readRecord reads the record and shows it.
func (j *jobs) readRecord(ctx context.Context) error {
	m := j.monitor
	if j.since.IsZero() {
		j.since = m.options.Now()
	}
	known, processes, err := m.options.Record(ctx)
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	fresh := newRecord()
	fresh.processes = processes
	for tag, each := range known {
		one := &recorded{Job: each, processes: len(processes[tag])}
		one.rate(j.since, m.options.Now())
		if m.options.Submission != nil {
			one.submitted = m.options.Submission(tag)
		}
		fresh.byTag[tag] = one
	}
	fresh.printProcesses(m)
	j.exchange(fresh)
	j.settle()
	j.showUse()
	return nil
}

// exchange applies a reading of the record.
func (j *jobs) exchange(fresh record) {
	before := j.record
	fresh.generation, fresh.shown, fresh.showing = before.generation, before.shown, before.showing
	moved := len(fresh.byTag) != len(before.byTag)
	for tag, job := range fresh.byTag {
		job.print = j.monitor.fingerprint(recordedFacts, job)
		old, known := before.byTag[tag]
		if known {
			job.rows, job.shown, job.shownAs, job.generation = old.rows, old.shown, old.shownAs, old.generation
			job.keepLast(old.last)
		}
		if !known || old.ID != job.ID || old.ShortID != job.ShortID || old.Identity != job.Identity {
			job.generation = before.generation + 1
			moved = true
			job.keepLast(j.gone[job.ID])
			delete(j.gone, job.ID)
		}
		for _, id := range []string{job.ID, job.ShortID} {
			if newest, has := fresh.byID[id]; id != "" && (!has || newest.Created.Before(job.Created)) {
				fresh.byID[id] = job
			}
		}
		if job.Identity != "" {
			fresh.identities[job.Identity] = job
		}
	}
	if moved {
		fresh.generation++
	}
	j.record = fresh
	j.forget(before)
}

// forget removes jobs that are no longer on record. Their rows then belong to unknown users.
func (j *jobs) forget(before record) {
	m := j.monitor
	m.update(func(u *model.Update) {
		for _, tag := range slices.Sorted(maps.Keys(before.byTag)) {
			old := before.byTag[tag]
			if _, kept := j.record.byTag[tag]; kept {
				continue
			}
			j.hide(u, old, "")
			j.forgetProcesses(tag)
			for _, id := range old.rows {
				each := j.known[id]
				each.own = false
				j.known[id] = each
				j.update(u, id, j.own[id].facts, nil, false)
				delete(j.own, id)
			}
		}
	})
}

// Facts about a recorded job: its doubt, the number of its known processes, and the number of
// attributes of its submission.
const (
	factDoubt       = "doubt"
	factUnconfirmed = "unconfirmed"
	factProcesses   = "processes"
	factSubmission  = "submission"
)

// recordedFacts are the facts of a job on record that are shown.
var recordedFacts = append(slices.Clone(jobFacts), factDoubt, factUnconfirmed, factProcesses, factSubmission, "outputPath", "errorPath")

// Fact implements [Facts].
func (r *recorded) Fact(name string) string {
	switch {
	case name == factDoubt:
		return r.doubt()
	case name == factUnconfirmed:
		return strconv.FormatBool(r.isUnconfirmed)
	case name == factProcesses:
		return strconv.Itoa(r.processes)
	case name == factSubmission:
		return strconv.Itoa(len(r.submitted))
	case name == factSubmitted && r.Submitted == "" && !r.SubmittedAt().IsZero():
		return strconv.FormatInt(r.Created.Unix(), 10)
	}
	return cut(r.Observation.Fact(name), maxText)
}

func number(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// elements returns the ids of the elements that are to show jobs on record which no
// listing has.
func (r *record) elements(j *jobs) map[string]bool {
	ids := map[string]bool{}
	for _, job := range r.byTag {
		if len(job.rows) == 0 {
			ids[j.elementOf(job)] = true
		}
	}
	return ids
}

// elementOf returns the id of the element that shows a job on record without a row:
// its own, or its tag where it has none, or another job has that by now.
func (j *jobs) elementOf(job *recorded) string {
	if job.ID == "" || len(job.ID) > maxID || j.record.byID[job.ID] != job || j.known[job.ID].listed {
		return job.Tag
	}
	return job.ID
}

// settle shows the current recorded jobs, those without a row under an id of their own, and
// their processes.
func (j *jobs) settle() {
	tags := slices.Sorted(maps.Keys(j.record.byTag))
	for len(tags) > 0 {
		j.monitor.update(func(u *model.Update) {
			for rows := 0; len(tags) > 0 && rows < largestBatch; tags = tags[1:] {
				job := j.record.byTag[tags[0]]
				j.settleOne(u, job)
				rows += 1 + len(j.record.processes[job.Tag])
			}
		})
	}
}

func (j *jobs) settleOne(u *model.Update, job *recorded) {
	isShown := job.shownAs == job.print
	if len(job.rows) > 0 {
		for _, id := range job.rows {
			if !isShown {
				j.update(u, id, j.own[id].facts, job, false)
			}
		}
		j.hide(u, job, "")
		job.shownAs = job.print
		j.showProcesses(u, job, job.rows[0])
		return
	}
	if job.generation > j.matched && j.known[job.ID].listed {
		return // the row may be of this job: the next listing shows
	}
	id := j.elementOf(job)
	if !isShown || job.shown != id {
		j.hide(u, job, id)
		delete(j.known, id) // from an earlier listing
		j.update(u, id, job.lastFacts(id), job, false)
		job.shown, job.shownAs = id, job.print
		j.record.showing[id] = job.Tag
	}
	j.showProcesses(u, job, id)
}

// hide removes the element that shows a job without a row, unless it is the one with
// the id, or shows another job or a row by now.
func (j *jobs) hide(u *model.Update, job *recorded, id string) {
	if job.shown == "" || job.shown == id {
		return
	}
	if j.record.showing[job.shown] == job.Tag {
		delete(j.record.showing, job.shown)
		if !j.known[job.shown].listed {
			j.remove(u, job.shown)
		}
	}
	job.shown = ""
}
