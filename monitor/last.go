package monitor

import (
	"maps"
	"time"

	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A lastRow is the last shown state of a job that is no longer listed.
type lastRow struct {
	facts  keptFacts
	listed time.Time // the time of the listing that lacked it
}

// How long jobs that are gone may wait to be found on record, and how many.
const (
	lastLimit = 2 * time.Minute
	mostGone  = 10_000
)

// keepLast keeps the shown state of jobs without rows, except other users' jobs. Schedulers
// forget jobs soon after their end, perhaps before the end or even the job is on record.
// Without it, such jobs would run again in the views.
func (j *jobs) keepLast(gone []string) {
	now := j.monitor.options.Now()
	maps.DeleteFunc(j.gone, func(_ string, last *lastRow) bool { return now.Sub(last.listed) > lastLimit })
	manager, known := j.monitor.options.Model.Snapshot().Manager(j.monitor.options.Manager)
	if !known {
		return
	}
	for _, id := range gone {
		element, known := manager.Get(model.Job, id)
		if !known {
			continue
		}
		last := &lastRow{factsOfShown(element), now}
		recorded, isOwn := j.record.byTag[j.own[id].tag]
		if !isOwn && areOthers(last.facts.Fact(factOwner), j.monitor.options.User) {
			continue
		}
		if !isOwn {
			recorded = j.record.byID[id] // new on record, and not compared with rows yet
		}
		switch {
		case recorded == nil:
			if len(j.gone) < mostGone {
				j.gone[id] = last
			}
		case recorded.ID == id:
			recorded.keepLast(last)
		}
	}
}

// factsOfShown returns the facts that the model shows of a job.
func factsOfShown(e *model.Element) keptFacts {
	facts := keptFacts{}
	for definition, value := range e.Attributes() {
		if definition.ID == vocabulary.AttributeJobDetail {
			facts[factState] = value.Text()
		}
		for _, column := range jobColumns {
			if column.attribute.ID == definition.ID {
				facts[column.fact] = value.Text()
			}
		}
	}
	return facts
}

// keepLast keeps the last row while it is newer and more precise than the record.
func (r *recorded) keepLast(last *lastRow) {
	if last == nil || r.Observed.After(last.listed) {
		return
	}
	detail, isState := job.ParseDetail(last.facts.Fact(factState))
	seen := job.Observation{Detail: detail, Submitted: last.facts.Fact(factSubmitted)}
	if isState && transition.Next(r.Detail, detail) != r.Detail && !transition.IsAnother(&r.Job, seen) {
		r.last = last
	}
}

// lastFacts returns what the last row of a job said that no listing has any more, or nil.
func (r *recorded) lastFacts(element string) Facts {
	if r.last == nil || r.ID != element {
		return nil
	}
	return r.last.facts
}
