package monitor

import (
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// defaultQueue is the queue of jobs that name none, where it is not known which queue
// takes them.
const defaultQueue = "default"

var queueFacts = factsOf(queueColumns, factState, factFurther)

// queues takes listings of queues into the model.
type queues struct {
	listed
	usual string // that receives jobs without a queue; empty if unknown
}

// A rowState is the remembered state of a row, to detect changes in the next listing.
type rowState struct {
	print    uint64 // of its facts; 0 to apply it in any case
	round    uint32 // of the listing that last had it
	listed   bool   // whether the last whole listing, or one since, had it
	own      bool   // a job that is on record
	hasState bool   // whether the row has a state
}

// observed returns the state to remember after a listing had the row, which is stored later.
func (s rowState) observed(round uint32, state string) rowState {
	s.hasState = s.hasState && s.round == round || state != ""
	s.round = round
	return s
}

func newQueues(m *Monitor) *queues {
	q := &queues{listed: newListed(m, model.Queue, queueFacts)}
	q.apply = q.observe
	return q
}

// observe applies the row of a queue to the model.
func (q *queues) observe(u *model.Update, id string, facts Facts, print uint64) {
	m := q.monitor
	before, known := q.known[id]
	if !known {
		id = strings.Clone(id)
	}
	q.known[id] = rowState{print: print, round: q.round, listed: true, hasState: facts.Fact(factState) != ""}
	if strings.EqualFold(facts.Fact(factDefault), "true") && q.usual == "" {
		q.usual = id
	}
	if known && before.print == print {
		return
	}
	row := rowOf{monitor: m, row: model.Row{Manager: m.options.Manager, Kind: model.Queue, ID: id, Whole: true}}
	if slices.ContainsFunc(queueFacts, func(name string) bool { return facts.Fact(name) != "" }) { // else only the names are known
		row.state(vocabulary.AttributeQueueState, facts.Fact(factState), "")
	}
	row.facts(queueColumns, facts)
	row.further(u, facts)
	u.Put(row.row)
}

// end removes the queues that a whole listing lacks. Those that have jobs stay until
// these are gone; only their names are known then.
func (q *queues) end(whole bool) {
	q.applyRepeated()
	if whole {
		q.monitor.update(func(u *model.Update) {
			for id, each := range q.known {
				if each.listed && each.round != q.round {
					q.known[id] = rowState{}
					u.Put(model.Row{Manager: q.monitor.options.Manager, Kind: model.Queue, ID: id, Whole: true})
				}
			}
		})
		if usual, known := q.known[q.usual]; !known || !usual.listed {
			q.usual = ""
		}
	}
	q.sweep()
}

// sweep removes the queues that are not listed and have no jobs.
func (q *queues) sweep() {
	m := q.monitor
	manager, known := m.options.Model.Snapshot().Manager(m.options.Manager)
	if !known {
		return
	}
	var empty []string
	for id, each := range q.known {
		if !each.listed && !hasJobs(manager, id) {
			empty = append(empty, id)
		}
	}
	if len(empty) == 0 {
		return
	}
	m.update(func(u *model.Update) {
		for _, id := range empty {
			u.Remove(m.options.Manager, model.Queue, id)
			delete(q.known, id)
		}
	})
}

func hasJobs(manager *model.Manager, queue string) bool {
	for range manager.Children(model.Job, queue) {
		return true
	}
	return false
}

// find returns the queue of a job according to its row: the first of several. It adds an
// unknown queue to the model.
func (q *queues) find(u *model.Update, text string) string {
	id := text
	if _, known := q.known[id]; known && id != "" {
		return id
	}
	if first, _, several := strings.Cut(text, ","); several {
		id = first
	}
	if id == "" {
		id = q.usual
	}
	if id == "" {
		id = defaultQueue
	}
	if len(id) > maxID {
		id = cut(id, maxID-len("…"))
	}
	if _, known := q.known[id]; !known {
		id = strings.Clone(id)
		q.known[id] = rowState{}
		u.Put(model.Row{Manager: q.monitor.options.Manager, Kind: model.Queue, ID: id})
	}
	return id
}

// A rowOf builds a row from facts.
type rowOf struct {
	monitor *Monitor
	row     model.Row
}

// facts adds the attributes that columns show.
func (r *rowOf) facts(columns []column, facts Facts) {
	for i := range columns {
		attribute := &columns[i].attribute
		text := facts.Fact(columns[i].fact)
		switch {
		case text == "":
		case attribute.Type == model.Date:
			r.date(attribute.ID, text)
		case attribute.Type == model.Array:
			r.row.Attributes = append(r.row.Attributes, model.Attribute{ID: attribute.ID, Elements: strings.Split(text, ",")})
		default:
			r.text(attribute.ID, text)
		}
	}
}

// text adds an attribute unless the fact is empty.
func (r *rowOf) text(attribute, fact string) {
	if fact != "" {
		r.row.Attributes = append(r.row.Attributes, model.Attribute{ID: attribute, Text: fact})
	}
}

// state adds the state of an element that is not a job. An unknown word is counted and mapped
// to another state, empty for the kind's default.
func (r *rowOf) state(attribute, word, instead string) {
	for _, known := range model.States(r.row.Kind) {
		if string(known) == word {
			r.text(attribute, word)
			return
		}
	}
	if word == "" {
		r.monitor.wrong(whatNoState, r.row.Kind, r.row.ID, "", 1)
	} else {
		r.monitor.wrong(whatState, r.row.Kind, r.row.ID, word, 1)
	}
	r.text(attribute, instead)
}

// date adds a time, which a scheduler may write in several ways.
func (r *rowOf) date(attribute, fact string) {
	text, readable := dateOf(fact, r.monitor.options.Location)
	if !readable {
		r.monitor.wrong(whatTime, r.row.Kind, r.row.ID, fact, 1)
		return
	}
	r.text(attribute, text)
}
