package monitor

import (
	"maps"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// work is what the processes of a job on one node do, as far as that is known: some
// of these.
type work uint8

const (
	worksOn   work = 1 << iota // a process has not ended
	worked                     // a process has ended
	worksDark                  // the fate of a process is unknown
)

func workOf(processState job.ProcessState) work {
	switch s := model.State(processState); {
	case model.Ended(model.Process, s):
		return worked
	case s == vocabulary.StateStarting || s == vocabulary.StateRunning || s == vocabulary.StateSuspended:
		return worksOn
	default:
		return worksDark
	}
}

// workOfJobs is the work of jobs by the ids of their elements, and in these by the
// names of the nodes.
type workOfJobs map[string]map[string]work

// working returns the work of this user's jobs that have not ended.
func (j *jobs) working() workOfJobs {
	m := j.monitor
	all := workOfJobs{}
	manager, known := m.options.Model.Snapshot().Manager(m.options.Manager)
	if !known {
		return all
	}
	for tag, shown := range j.record.shown {
		job, isJob := manager.Get(model.Job, shown.element)
		if !isJob || model.Ended(model.Job, job.State()) {
			continue
		}
		nodes := map[string]work{}
		for _, process := range j.record.processes[tag] {
			if process.Node == "" || len(process.Node) > maxID {
				continue
			}
			name, isNode := m.nodes.named(process.Node)
			if isNode || m.nodes.unlisted {
				nodes[name] |= workOf(process.State)
			}
		}
		all[shown.element] = nodes
	}
	return all
}

// named returns the id of the node that goes by a name, or the name itself if no node has it: some name hosts with their domain only in one place.
func (n *nodes) named(name string) (string, bool) {
	if _, isNode := n.known[name]; isNode {
		return name, true
	}
	short, _, _ := strings.Cut(name, ".")
	if _, isNode := n.known[short]; isNode {
		return short, true
	}
	return name, false
}

// observeWorking takes the nodes that jobs work on, or worked, for those there are: of a
// scheduler that does not list its nodes no others are known.
func (n *nodes) observeWorking(working workOfJobs) {
	n.startListing()
	n.monitor.update(func(u *model.Update) {
		facts := keptFacts{factState: vocabulary.StateUp}
		print := n.monitor.fingerprint(nodeFacts, facts)
		for _, element := range slices.Sorted(maps.Keys(working)) {
			for _, id := range slices.Sorted(maps.Keys(working[element])) {
				n.observe(u, id, facts, print)
			}
		}
	})
	n.sweep(true)
	n.areWhole = true
	n.monitor.machines.show()
}
