package monitor

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// jobFacts are the facts of a job that the model shows or that identify it.
var jobFacts = factsOf(jobColumns, factState, factIdentity, factFurther)

// jobs takes listings of jobs, and the jobs on record, into the model. A job that is
// on record and in listings is one element, or one for each of its rows, such as the
// tasks of an array.
type jobs struct {
	listed
	own     map[string]ownRow // rows of recorded jobs, by id
	record  record
	matched uint64 // generation of the record that the newest listing was compared with
	compare bool   // whether each row of the listing at hand is to be compared with the record
	use     use
	since   time.Time           // when the record was first read
	gone    map[string]*lastRow // jobs that listings have no more and that are not on record yet, by id
	row     rowOf               // of the job at hand: all share its memory
}

// An ownRow is the row of a job on record, kept to be merged with later changes of
// the record.
type ownRow struct {
	tag   string
	facts keptFacts
}

func newJobs(m *Monitor) *jobs {
	j := &jobs{listed: newListed(m, model.Job, jobFacts), own: map[string]ownRow{}, record: newRecord(), use: newUse(), gone: map[string]*lastRow{}}
	j.apply = j.observe
	return j
}

func (j *jobs) startListing() {
	j.listed.startListing()
	j.compare = j.matched != j.record.generation
}

// observe applies the row of a job to the model, unless it is unchanged and belongs to the
// same recorded job.
func (j *jobs) observe(u *model.Update, id string, facts Facts, print uint64) {
	before, known := j.known[id]
	isSame := before.listed && before.print == print
	if isSame && !j.compare {
		before.round = j.round
		j.known[id] = before
		return
	}
	if !known {
		id = strings.Clone(id)
	}
	isShown := j.claimElement(id)
	recorded := j.record.match(id, facts, j.monitor.options.User)
	j.known[id] = rowState{print: print, round: j.round, listed: true, own: recorded != nil, hasState: facts.Fact(factState) != ""}
	switch row, wasOwn := j.own[id]; {
	case recorded != nil && wasOwn && row.tag == recorded.Tag && isSame:
		return
	case recorded != nil:
		if wasOwn && row.tag != recorded.Tag {
			j.disown(id)
		}
		j.adoptOwn(id, recorded, facts)
		j.update(u, id, facts, recorded, false)
	case !isSame || before.own:
		j.disown(id)
		j.update(u, id, facts, nil, !known && !isShown)
	}
}

// claimElement gives the element with an id to a row, and reports whether it showed a
// job on record without one.
func (j *jobs) claimElement(id string) bool {
	tag, isShown := j.record.showing[id]
	if isShown {
		delete(j.record.showing, id)
		j.record.byTag[tag].shown = ""
	}
	return isShown
}

// adoptOwn notes that a row is of a job on record.
func (j *jobs) adoptOwn(id string, recorded *recorded, facts Facts) {
	kept := keptFacts{}
	kept.add(jobFacts, facts)
	j.own[id] = ownRow{recorded.Tag, kept}
	recorded.last = nil
	if !slices.Contains(recorded.rows, id) {
		recorded.rows = append(recorded.rows, id)
	}
}

// disown notes that a row is not listed any more, or not of the job on record that
// it was of.
func (j *jobs) disown(id string) {
	row, had := j.own[id]
	if !had {
		return
	}
	delete(j.own, id)
	if recorded, known := j.record.byTag[row.tag]; known {
		recorded.rows = slices.DeleteFunc(recorded.rows, func(other string) bool { return other == id })
	}
}

// end removes the jobs that a whole listing lacks, unless they are on record.
func (j *jobs) end(whole bool) {
	j.applyRepeated()
	if whole {
		j.matched = j.record.generation
		var gone []string
		for id, each := range j.known {
			if each.round != j.round {
				gone = append(gone, id)
			}
		}
		j.removeGone(gone)
	}
	j.showListed()
}

// endChanges removes the jobs that are gone, unless they are on record, and returns how many
// are known.
func (j *jobs) endChanges(gone []string) int {
	j.applyRepeated()
	j.matched = j.record.generation
	j.removeGone(slices.DeleteFunc(slices.Clone(gone), func(id string) bool {
		each, known := j.known[id]
		return !known || each.round == j.round
	}))
	j.showListed()
	return len(j.known)
}

// showListed shows what follows from a listing.
func (j *jobs) showListed() {
	j.settle()
	j.monitor.queues.sweep()
	j.showUse()
}

// unmatched returns the ids of rows that have to be compared with jobs which are new on record.
func (j *jobs) unmatched() []string {
	if j.matched == j.record.generation {
		return nil
	}
	var ids []string
	for _, job := range j.record.byTag {
		for _, id := range []string{job.ID, job.ShortID} {
			if job.generation > j.matched && j.known[id].listed {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// removeGone removes jobs that are gone from the scheduler, unless they are on record.
func (j *jobs) removeGone(gone []string) {
	slices.Sort(gone)
	j.keepLast(gone)
	for _, id := range gone {
		j.disown(id)
		delete(j.known, id)
	}
	kept := j.record.elements(j)
	for some := range slices.Chunk(gone, largestBatch) {
		j.monitor.update(func(u *model.Update) {
			for _, id := range some {
				if !kept[id] {
					j.remove(u, id)
				}
			}
		})
	}
}

func (j *jobs) remove(u *model.Update, id string) {
	u.Remove(j.monitor.options.Manager, model.Job, id)
	j.use.leave(id)
}

// update updates a job from its row and the record. Either may be nil. The caller knows
// that a new one is not in the model.
func (j *jobs) update(u *model.Update, id string, listed Facts, recorded *recorded, isNew bool) {
	m := j.monitor
	detail, isState := j.detail(id, listed, recorded)
	facts := completed(listed, recorded)
	if detail.Primary() == job.Submitted {
		facts = waitingFacts{facts}
	}
	row := &j.row
	row.monitor = m
	row.row = model.Row{Manager: m.options.Manager, Kind: model.Job, Parent: m.queues.find(u, facts.Fact(factQueue)), ID: id, Attributes: row.row.Attributes[:0], Whole: true}
	jobState := j.stateOf(id, detail, facts)
	row.text(vocabulary.AttributeJobState, string(jobState))
	if isState {
		row.text(vocabulary.AttributeJobDetail, string(detail))
	}
	row.facts(jobColumns, facts)
	row.further(u, facts)
	if listed != nil {
		row.text(attributeJobID, id)
	}
	if recorded != nil {
		row.recorded(recorded, listed == nil)
		_, areShown := j.record.shown[recorded.Tag]
		j.use.changed = j.use.changed || areShown
	}
	if !isNew && j.isAnother(&row.row, jobState) {
		u.Remove(m.options.Manager, model.Job, id)
	}
	u.Put(row.row)
	j.use.note(id, jobState, facts.Fact(factNodes), facts.Fact(factOwner), recorded != nil)
}

// recorded adds the attributes that only a job on record has.
func (r *rowOf) recorded(recorded *recorded, isUnlisted bool) {
	if isUnlisted {
		r.text(attributeJobID, recorded.ID)
	}
	r.text(vocabulary.AttributeJobLaunched, "true")
	r.text(vocabulary.AttributeJobTag, recorded.Tag)
	r.text(attributeJobSubmission, recorded.Tag)
	r.text(vocabulary.AttributeJobEnsemble, recorded.Ensemble)
	r.text(vocabulary.AttributeJobPart, recorded.Part)
	r.text(vocabulary.AttributeJobOutput, recorded.OutputPath)
	r.text(vocabulary.AttributeJobErrors, recorded.ErrorPath)
	doubt := recorded.Doubt()
	if isUnlisted {
		doubt = recorded.doubt()
	}
	r.text(vocabulary.AttributeJobDoubt, cut(doubt, maxText))
	if recorded.isUnconfirmed { // also with a row, of a listing that another process may have made before
		r.text(vocabulary.AttributeJobUnconfirmed, "true")
	}
	r.row.Attributes = append(r.row.Attributes, recorded.submitted...)
	isCounted := slices.ContainsFunc(recorded.submitted, func(a model.Attribute) bool { return a.ID == attributeJobProcesses })
	if !isCounted && recorded.processes > 0 {
		r.text(attributeJobProcesses, strconv.Itoa(recorded.processes))
	}
}

// stateOf returns the state of a job in the model. A job that was seen running has started, also
// if the scheduler does not say so.
func (j *jobs) stateOf(id string, detail job.Detail, facts Facts) model.State {
	seen := job.Observation{Detail: detail}
	if detail == job.Failed {
		seen.Started, seen.ExitCode, seen.Signal = facts.Fact("started"), job.Number(facts.Fact("exitCode")), job.Number(facts.Fact("signal"))
	}
	state := model.JobState(&seen)
	if state != vocabulary.StateError {
		return state
	}
	if manager, known := j.monitor.options.Model.Snapshot().Manager(j.monitor.options.Manager); known {
		if before, known := manager.Get(model.Job, id); known && slices.Contains(statesOfStarted, before.State()) {
			return vocabulary.StateTerminated
		}
	}
	return state
}

// statesOfStarted are the states of jobs that have started.
var statesOfStarted = []model.State{vocabulary.StateRunning, vocabulary.StateSuspended, vocabulary.StateTerminated}

// detail returns the state of a job, and whether its row or the record states one. The
// record may be newer than the row or older, so the rules of states decide.
func (j *jobs) detail(id string, listed Facts, recorded *recorded) (job.Detail, bool) {
	detail := job.Undetermined
	isState := false
	if listed != nil {
		word := listed.Fact(factState)
		detail, isState = job.ParseDetail(word)
		switch {
		case word == "" && recorded == nil:
			j.monitor.wrong(whatNoState, model.Job, id, "", 1)
		case word != "" && !isState:
			j.monitor.wrong(whatState, model.Job, id, word, 1)
		}
	}
	if recorded == nil {
		return detail, isState
	}
	if detail == job.Completed && !recorded.CancelAccepted.IsZero() {
		detail = transition.AfterCancel(&recorded.Job, job.Observe(listed.Fact)).Detail
	}
	return transition.Next(recorded.Detail, detail), true
}

// completedFacts returns the facts of a row, with recorded ones that it lacks.
type completedFacts struct {
	listed   Facts
	recorded *recorded
}

// Fact implements [Facts].
func (c completedFacts) Fact(name string) string {
	if listed := c.listed.Fact(name); listed != "" {
		return listed
	}
	return c.recorded.Fact(name)
}

// waitingFacts returns the facts of a job that has no nodes, or none any more.
type waitingFacts struct{ Facts }

// Fact implements [Facts].
func (w waitingFacts) Fact(name string) string {
	if name == factNodes {
		return ""
	}
	return w.Facts.Fact(name)
}

func completed(listed Facts, recorded *recorded) Facts {
	switch {
	case recorded == nil:
		return listed
	case listed == nil:
		return recorded
	}
	return completedFacts{listed, recorded}
}

// isAnother reports whether a row is of another job than the one that the model has
// under its id, and that has ended: they differ in what never changes. Schedulers give
// ids again.
func (j *jobs) isAnother(row *model.Row, now model.State) bool {
	manager, known := j.monitor.options.Model.Snapshot().Manager(j.monitor.options.Manager)
	if !known {
		return false
	}
	before, known := manager.Get(model.Job, row.ID)
	if !known || !model.Ended(model.Job, before.State()) {
		return false
	}
	texts := func(unchanging string) (was, is string) {
		value, _ := before.Value(unchanging)
		if at := slices.IndexFunc(row.Attributes, func(a model.Attribute) bool { return a.ID == unchanging }); at >= 0 {
			is = row.Attributes[at].Text
		}
		return value.Text(), is
	}
	goesOn := !model.Ended(model.Job, now) && now != vocabulary.StateUnknown
	was, is := texts(vocabulary.AttributeJobTag)
	if was != is && (was != "" && is != "" || goesOn) {
		return true
	}
	was, is = texts(vocabulary.AttributeJobSubmitted)
	return goesOn && was != "" && is != "" && !timezone.IsSameTime(was, is)
}
