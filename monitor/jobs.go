package monitor

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/state"
)

// Places of the facts of a job.
const (
	jobState = iota
	jobIdentity
	jobOwner
	jobNative
	jobReason
	jobQueue
	jobName
	jobNodes
	jobSubmitted
	jobStarted
	jobEnded
	jobExitCode
	jobSignal
	jobCPUs
	jobFactsCount
)

var jobFacts = []string{"state", "identity", "owner", "native", "reason", "queue", "name", "nodes", "submitted", "started", "ended", "exitCode", "signal", "cpus"}

// jobs takes listings of jobs, and the jobs on record, into the model. A job that is
// on record and in listings is one element, or one for each of its rows, such as the
// tasks of an array.
type jobs struct {
	monitor *Monitor
	known   map[string]seen   // rows of listings, by id
	own     map[string]ownRow // those of jobs on record, by id
	round   uint32
	record  record
	matched uint64 // generation of the record that the newest listing was compared with
	compare bool   // whether each row of the listing at hand is to be compared with the record
	use     use
	row     rowOf // of the job at hand: all share its memory
	repeats
}

// An ownRow is the row of a job on record, kept to be merged with what the record
// tells later.
type ownRow struct {
	tag   string
	facts []string
}

func newJobs(m *Monitor) *jobs {
	return &jobs{monitor: m, known: map[string]seen{}, own: map[string]ownRow{}, record: newRecord(), use: newUse(), repeats: newRepeats()}
}

// adopt takes over the jobs that the model has from before, which may be of listings
// or of the record.
func (j *jobs) adopt(before *model.Manager) {
	for element := range before.All(model.Job) {
		j.known[element.ID()] = seen{}
	}
}

func (j *jobs) facts() []string { return jobFacts }

func (j *jobs) begin() {
	j.round++
	j.repeats.begin()
	j.compare = j.matched != j.record.generation
}

func (j *jobs) merge(u *model.Update, id string, facts []string) {
	before, known := j.known[id]
	isAgain := known && before.round == j.round
	if isAgain {
		j.monitor.again(model.Job, id, before.told, facts[jobState])
		j.repeats.note(id)
	}
	if j.repeats.collect(id, facts) {
		j.known[id] = before.of(j.round, facts[jobState])
	} else if !isAgain {
		j.take(u, id, facts, before, known)
	}
}

// take puts the row of a job unless it is as it was before, where that is known.
func (j *jobs) take(u *model.Update, id string, facts []string, before seen, known bool) {
	print := j.monitor.print(facts)
	if known && before.listed && before.print == print && !j.compare {
		before.round = j.round
		j.known[id] = before
		return
	}
	if !known {
		id = strings.Clone(id)
	}
	tag, isShown := j.record.showing[id]
	if isShown { // the row takes the element
		delete(j.record.showing, id)
		j.record.byTag[tag].shown = ""
	}
	recorded := j.record.of(id, facts, j.monitor.options.User)
	wasOwn := before.own
	j.known[id] = seen{print: print, round: j.round, listed: true, own: recorded != nil, told: facts[jobState] != ""}
	isSame := before.listed && before.print == print
	if recorded == nil {
		if wasOwn {
			j.disown(id)
		}
		if !isSame || wasOwn {
			j.put(u, id, facts, nil, !known && !isShown)
		}
		return
	}
	if row, had := j.own[id]; had && row.tag == recorded.Tag && isSame {
		return
	} else if had && row.tag != recorded.Tag {
		j.disown(id)
	}
	j.adoptOwn(id, recorded, facts)
	j.put(u, id, facts, recorded, false)
}

// adoptOwn notes that a row is of a job on record.
func (j *jobs) adoptOwn(id string, recorded *recorded, facts []string) {
	kept := make([]string, len(facts))
	for i, fact := range facts {
		kept[i] = strings.Clone(fact)
	}
	j.own[id] = ownRow{recorded.Tag, kept}
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
	m := j.monitor
	if rows := j.repeats.take(); len(rows) > 0 {
		m.update(func(u *model.Update) {
			for _, id := range sorted(rows) {
				before, known := j.known[id]
				j.take(u, id, rows[id], before, known)
			}
		})
	}
	if !whole {
		j.settle()
		m.queues.sweep()
		j.showUse()
		return
	}
	j.matched = j.record.generation
	var gone []string
	for id, each := range j.known {
		if each.round != j.round {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		j.disown(id)
		delete(j.known, id)
	}
	kept := j.record.elements(j)
	for some := range slices.Chunk(gone, largestBatch) {
		m.update(func(u *model.Update) {
			for _, id := range some {
				if !kept[id] {
					j.remove(u, id)
				}
			}
		})
	}
	j.settle()
	m.queues.sweep()
	j.showUse()
}

func (j *jobs) remove(u *model.Update, id string) {
	u.Remove(j.monitor.options.Manager, model.Job, id)
	j.use.leave(id)
}

// put puts a job as its row tells, and the record. Either may be nil. One that is new
// is known not to be in the model.
func (j *jobs) put(u *model.Update, id string, facts []string, recorded *recorded, isNew bool) {
	m := j.monitor
	detail, isState := j.detail(id, facts, recorded)
	facts = completed(facts, recorded)
	row := &j.row
	row.monitor = m
	row.row = model.Row{Manager: m.options.Manager, Kind: model.Job, Parent: m.queues.of(u, facts[jobQueue]), ID: id, Attributes: row.row.Attributes[:0], Whole: true}
	jobState := model.JobState(detail)
	row.text(model.AttributeJobState, string(jobState))
	if isState {
		row.text(AttributeJobDetail, string(detail))
	}
	row.text(model.AttributeName, facts[jobName])
	row.text(AttributeJobUser, facts[jobOwner])
	row.text(model.AttributeJobStatus, facts[jobNative])
	row.text(model.AttributeJobMessage, facts[jobReason])
	row.text(AttributeJobQueue, facts[jobQueue])
	row.text(AttributeJobNodes, facts[jobNodes])
	row.date(AttributeJobSubmitted, facts[jobSubmitted])
	row.date(AttributeJobStarted, facts[jobStarted])
	row.date(AttributeJobEnded, facts[jobEnded])
	row.text(AttributeJobExitCode, facts[jobExitCode])
	row.text(AttributeJobSignal, facts[jobSignal])
	row.text(AttributeJobCPUs, facts[jobCPUs])
	if recorded != nil {
		row.text(AttributeJobLaunched, "true")
		row.text(AttributeJobTag, recorded.Tag)
		row.text(AttributeJobDoubt, cut(recorded.Doubt, maxText))
		_, areShown := j.record.shown[recorded.Tag]
		j.use.changed = j.use.changed || areShown
	}
	if !isNew && j.isAnother(&row.row, jobState) {
		u.Remove(m.options.Manager, model.Job, id)
	}
	u.Put(row.row)
	j.use.note(id, jobState, facts[jobNodes], facts[jobOwner], recorded != nil)
}

// detail returns the state of a job, and whether its row or the record told one. What
// is on record is newer than the row or older, so the rules of states decide.
func (j *jobs) detail(id string, facts []string, recorded *recorded) (state.Detail, bool) {
	seen := state.Undetermined
	isState := false
	if facts != nil {
		word := facts[jobState]
		seen, isState = state.Parse(word)
		switch {
		case word == "" && recorded == nil:
			j.monitor.wrong(whatNoState, model.Job, id, "", 1)
		case word != "" && !isState:
			j.monitor.wrong(whatState, model.Job, id, word, 1)
		}
	}
	if recorded == nil {
		return seen, isState
	}
	return state.Next(recorded.Detail, seen), true
}

// completed returns the facts of a row with those of the record where it tells none.
func completed(facts []string, recorded *recorded) []string {
	if recorded == nil {
		return facts
	}
	if facts == nil {
		return recorded.facts
	}
	all := slices.Clone(facts)
	for i, fact := range all {
		if fact == "" {
			all[i] = recorded.facts[i]
		}
	}
	return all
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
	told := func(unchanging string) (was, is string) {
		value, _ := before.Value(unchanging)
		if at := slices.IndexFunc(row.Attributes, func(a model.Attribute) bool { return a.ID == unchanging }); at >= 0 {
			is = row.Attributes[at].Text
		}
		return value.Text(), is
	}
	goesOn := !model.Ended(model.Job, now) && now != model.JobUnknown
	was, is := told(AttributeJobTag)
	if was != is && (was != "" && is != "" || goesOn) {
		return true
	}
	was, is = told(AttributeJobSubmitted)
	return goesOn && was != "" && is != "" && !state.IsSameTime(was, is)
}
