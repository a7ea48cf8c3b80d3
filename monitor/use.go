package monitor

import (
	"strings"

	"github.com/rmctl/rmctl/internal/hostlist"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// maxUses bounds how many pairs of a job and a node are looked at together.
const maxUses = 1 << 20

// A use is which jobs have which nodes.
type use struct {
	placed  map[string]placement // by the ids of jobs
	users   map[string]bool      // names that own jobs are owned by
	changed bool
}

type placement struct {
	nodes, user string
	own         bool
}

func newUse() use { return use{placed: map[string]placement{}, users: map[string]bool{}} }

// note takes in the nodes of a job.
func (u *use) note(id string, state model.State, nodes, user string, own bool) {
	if own && user != "" && !u.users[user] {
		u.users[strings.Clone(user)] = true
		u.changed = true
	}
	if nodes == "" || !hasNodes(state) {
		u.leave(id)
		return
	}
	before, known := u.placed[id]
	now := placement{nodes, user, own}
	if known && before == now {
		return
	}
	u.placed[strings.Clone(id)] = placement{strings.Clone(nodes), strings.Clone(user), own}
	u.changed = true
}

// leave takes away the nodes of a job.
func (u *use) leave(id string) {
	if _, known := u.placed[id]; known {
		delete(u.placed, id)
		u.changed = true
	}
}

// usedBy describes the users of a node and this user's processes on it.
type usedBy struct {
	own, other bool
	user       string // of the first job of another user
	several    bool   // whether there are jobs of several other users
	work       work   // of this user's jobs
	silent     bool   // a job of this user has it, and its processes there are unknown
}

// showUse shows the users of the nodes. A node used by only one user counts as exclusive when
// all its CPUs are in use. Known processes of this user's jobs on a node come first.
func (j *jobs) showUse() {
	m := j.monitor
	if !j.use.changed && !m.nodes.changed || len(m.nodes.known) == 0 && !m.nodes.unlisted {
		return
	}
	j.use.changed = false
	working := j.working()
	if m.nodes.unlisted {
		m.nodes.observeWorking(working)
	}
	m.nodes.changed = false
	used := j.usedNodes(working)
	m.update(func(u *model.Update) {
		for id, each := range m.nodes.known {
			by := used[id]
			if extra := by.state(each.full); extra != each.extra {
				each.extra = extra
				u.Put(model.Row{Manager: m.options.Manager, Kind: model.Node, Parent: each.machine, ID: id,
					Attributes: []model.Attribute{{ID: vocabulary.AttributeNodeExtraState, Text: string(extra)}}})
			}
		}
	})
}

// usedNodes returns the users of nodes, by the ids of nodes.
func (j *jobs) usedNodes(working workOfJobs) map[string]usedBy {
	m := j.monitor
	used := make(map[string]usedBy, len(m.nodes.known))
	left := maxUses
	for id, job := range j.use.placed {
		isOwn := job.own || job.user != "" && (withoutHost(job.user) == withoutHost(m.options.User) || j.use.users[job.user])
		most := len(m.nodes.known) + 1
		hostlist.Each(job.nodes, func(name string) bool {
			left--
			most--
			if node, isNode := m.nodes.named(name); isNode {
				by := used[node]
				by.add(isOwn, job.user)
				if isOwn {
					by.addWork(working[id][node])
				}
				used[node] = by
			}
			if most == 0 {
				m.wrong(whatHosts, model.Job, id, job.nodes, 1)
			}
			return most > 0 && left > 0
		})
	}
	if left <= 0 {
		m.wrong(whatUses, model.Node, "", "", 1)
	}
	for id, nodes := range working {
		_, isPlaced := j.use.placed[id]
		for node, work := range nodes {
			if isPlaced && work&worksOn == 0 {
				continue // its list of nodes has the remaining ones
			}
			by := used[node]
			by.own = true
			by.addWork(work)
			used[node] = by
		}
	}
	return used
}

func (b *usedBy) add(own bool, user string) {
	switch {
	case own:
		b.own = true
	case !b.other:
		b.other, b.user = true, user
	case b.user != user:
		b.several = true
	}
}

func (b *usedBy) addWork(done work) {
	b.work |= done
	b.silent = b.silent || done == 0
}

func (b *usedBy) state(full bool) model.State {
	switch {
	case b.work&worksOn != 0:
		return vocabulary.NodeRunningProcess
	case b.work == worked && !b.silent:
		return vocabulary.NodeExitedProcess
	case b.own && !b.other && full:
		return vocabulary.NodeUserExclusive
	case b.own:
		return vocabulary.NodeUserShared
	case b.other && !b.several && full:
		return vocabulary.NodeOtherExclusive
	case b.other:
		return vocabulary.NodeOtherShared
	default:
		return vocabulary.NodeNone
	}
}
