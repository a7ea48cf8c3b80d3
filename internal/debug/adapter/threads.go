package adapter

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/google/go-dap"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/sorting"
)

const (
	// mostSingle bounds the ranks that are threads of their own to the editor.
	mostSingle = 64
	// mostThreads bounds the threads of a rank that the editor sees.
	mostThreads = 1000
	// threadsLimit bounds how long a list of threads waits for the debuggers.
	threadsLimit = 3 * time.Second
)

// A thread of the editor is a rank, a class of ranks, or a further thread of their processes.
type thread struct {
	id        int
	name      string
	ranks     debug.Ranks
	number    int // of the debuggers; 0 for the one that stopped last
	state     debug.Rank
	moment    int       // the last change of the state of its ranks
	announced int       // the moment of the stop that the editor knows of; 0 if the thread runs to it
	resumed   int       // the moment of the stop from which the editor let it run; 0 once it has stopped again
	held      *snapshot // one for all frames, because it names each rank
	explored  int       // the moment for which further threads are known
}

func (t *thread) isStopped() bool { return t.state.State == debug.Stopped }

// A group is ranks that make up a thread.
type group struct {
	ranks debug.Ranks
	state debug.Rank
}

// groups returns the live ranks, by thread of the editor.
func (p *program) groups(classes []debug.Class) []group {
	count := 0
	for _, class := range classes {
		count += class.Ranks.Count()
	}
	if max(count, p.launched.Size) > mostSingle {
		p.isGrouped = true
	}
	var all []group
	places := map[debug.Rank]int{} // where in all
	for _, class := range classes {
		if class.State != debug.Running && class.State != debug.Stopped {
			continue
		}
		together, alone := p.divide(class.Ranks)
		for _, ranks := range alone {
			all = append(all, group{ranks, class.Rank})
		}
		if len(together) == 0 {
			continue
		}
		place := debug.Rank{State: class.State, Signal: class.Signal, Function: class.Function, File: class.File, Line: class.Line}
		if at, isKnown := places[place]; isKnown {
			all[at].ranks = append(all[at].ranks, together...)
			continue
		}
		places[place] = len(all)
		all = append(all, group{slices.Clone(together), class.Rank})
	}
	for i := range all {
		all[i].ranks = all[i].ranks.Merged()
	}
	sorting.Stable(all, func(a, b group) int { return cmp.Compare(a.ranks[0].First, b.ranks[0].First) })
	return all
}

// regroup brings the threads up to date. Those with equal ranks as before stay the same.
func (p *program) regroup(classes []debug.Class) (gone, added []*thread) {
	before := map[string][]*thread{} // by ranks, with their further ones
	for _, t := range p.threads {
		key := t.ranks.String()
		before[key] = append(before[key], t)
	}
	var threads []*thread
	for _, g := range p.groups(classes) {
		key := g.ranks.String()
		same := before[key]
		delete(before, key)
		if same == nil {
			same = []*thread{{id: p.newID(g.ranks), ranks: g.ranks}}
			added = append(added, same[0])
		}
		moment := slices.Max(p.session.Moments(g.ranks))
		for _, t := range same {
			t.state, t.moment = g.state, moment
			name := p.nameThread(t)
			p.isRenamed = p.isRenamed || t.name != name && t.name != ""
			t.name = name
		}
		threads = append(threads, same...)
	}
	for _, t := range p.threads {
		if before[t.ranks.String()] != nil {
			gone = append(gone, t)
		}
	}
	p.threads = threads
	return gone, added
}

// newID returns the id of a new thread: from 1 for ranks, and above the highest rank for all others.
func (p *program) newID(ranks debug.Ranks) int {
	if !p.isGrouped && ranks != nil {
		return ranks[0].First + 1
	}
	p.lastThread++
	return debug.MostRanks + p.lastThread
}

func (p *program) nameThread(t *thread) string {
	name := nameRanks(t.ranks)
	switch {
	case t.number > 0:
		return name + " thread " + strconv.Itoa(t.number)
	case !p.isGrouped:
		return name
	case t.state.Place() != "":
		return name + ": " + t.state.Place()
	}
	return name + ": " + t.state.String()
}

// thread returns a thread by its id, nil if there is no such one.
func (p *program) thread(id int) *thread {
	if p == nil {
		return nil
	}
	at := slices.IndexFunc(p.threads, func(t *thread) bool { return t.id == id })
	if at < 0 {
		return nil
	}
	return p.threads[at]
}

// find returns the thread of a request. Otherwise the request has failed.
func (a *adapter) find(r *request, id int) *thread {
	t := a.program.thread(id)
	if t == nil {
		a.fail(r, "there is no thread "+strconv.Itoa(id)+" any more: its ranks have ended or are in other states")
	}
	return t
}

// listThreads answers with the threads, and queries stopped ranks for further ones.
func (a *adapter) listThreads(r *request, _ *dap.ThreadsRequest) {
	p := a.program
	if p == nil || p.isFinished {
		a.respond(r, &dap.ThreadsResponse{Body: dap.ThreadsResponseBody{Threads: []dap.Thread{}}})
		return
	}
	var unexplored debug.Ranks
	for _, t := range p.threads {
		if t.number == 0 && t.isStopped() && t.explored != t.moment {
			t.explored = t.moment
			unexplored = append(unexplored, t.ranks...)
		}
	}
	if len(unexplored) == 0 {
		a.respondThreads(r)
		return
	}
	question := debug.Question{Ranks: unexplored.Merged(), Request: debug.Request{Verb: debug.Threads}}
	a.ask(r, threadsLimit, p.session.Send(question), func(parts []debug.Part) {
		if p != a.program {
			a.fail(r, errRan.Error())
			return
		}
		gone, added := p.explore(parts)
		a.respondThreads(r)
		a.announce(gone, added)
	})
}

func (a *adapter) respondThreads(r *request) {
	threads := make([]dap.Thread, 0, len(a.program.threads))
	for _, t := range a.program.threads {
		threads = append(threads, dap.Thread{Id: t.id, Name: t.name})
	}
	a.respond(r, &dap.ThreadsResponse{Body: dap.ThreadsResponseBody{Threads: threads}})
}

// explore adds the further threads that ranks have, and takes out those that they no longer have.
func (p *program) explore(parts []debug.Part) (gone, added []*thread) {
	numbers := map[int][]int{} // by rank
	for _, part := range parts {
		further := furtherThreads(part.Threads)
		for _, span := range part.Ranks {
			for rank := span.First; rank <= span.Last; rank++ {
				numbers[rank] = further
			}
		}
	}
	before := map[*thread]bool{}
	var threads []*thread
	for i := 0; i < len(p.threads); {
		first := p.threads[i]
		same := p.threads[i:]
		if next := slices.IndexFunc(same[1:], func(t *thread) bool { return t.number == 0 }); next >= 0 {
			same = same[:next+1]
		}
		i += len(same)
		if _, isAsked := numbers[first.ranks[0].First]; !isAsked || !first.isStopped() {
			threads = append(threads, same...)
			continue
		}
		threads = append(threads, first)
		for _, number := range agreed(first.ranks, numbers) {
			at := slices.IndexFunc(same, func(t *thread) bool { return t.number == number })
			if at >= 0 {
				before[same[at]] = true
				threads = append(threads, same[at])
				continue
			}
			t := &thread{id: p.newID(nil), ranks: first.ranks, number: number, state: first.state, moment: first.moment}
			t.name = p.nameThread(t)
			added, threads = append(added, t), append(threads, t)
		}
		for _, t := range same[1:] {
			if !before[t] {
				gone = append(gone, t)
			}
		}
	}
	p.threads = threads
	return gone, added
}

// furtherThreads returns the numbers of all threads except the current one.
func furtherThreads(all []debug.Thread) []int {
	current := max(0, slices.IndexFunc(all, func(t debug.Thread) bool { return t.Current }))
	var further []int
	for i, t := range all[:min(len(all), mostThreads)] {
		if i != current && t.ID > 0 {
			further = append(further, t.ID)
		}
	}
	return further
}

// agreed returns the numbers of further threads if all ranks have the same.
func agreed(ranks debug.Ranks, numbers map[int][]int) []int {
	first := numbers[ranks[0].First]
	for _, span := range ranks {
		for rank := span.First; rank <= span.Last; rank++ {
			if !slices.Equal(numbers[rank], first) {
				return nil
			}
		}
	}
	return first
}
