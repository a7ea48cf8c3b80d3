package bridge

import (
	"context"
	"sync"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// mostFinished bounds the jobs that are remembered after the agent removed them.
const mostFinished = 10_000

// finished remembers jobs that had ended when the agent removed them: agents soon forget such
// jobs, and whoever asks for one wants to know how it ended.
type finished struct {
	mutex sync.Mutex
	rows  map[string]row
	order []string // the oldest first
}

func newFinished() *finished { return &finished{rows: map[string]row{}} }

// follow watches the jobs of a session until it ends.
func (f *finished) follow(session *agentclient.Session) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-session.Done()
		cancel()
	}()
	snapshot := session.Model().Snapshot()
	for {
		newer, err := session.Model().Next(ctx, snapshot)
		if err != nil {
			return
		}
		before, _ := snapshot.Manager(session.Manager())
		after, known := newer.Manager(session.Manager())
		if known && before != nil {
			for change := range after.Changes(model.Job, before) {
				if change.After == nil && hasEnded(change.Before) {
					f.add(wholeRow(before, change.Before))
				}
			}
		}
		snapshot = newer
	}
}

func hasEnded(job *model.Element) bool {
	return job.State() == vocabulary.StateTerminated || job.State() == vocabulary.StateError
}

func (f *finished) add(one row) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	id := one["id"].(string)
	if _, known := f.rows[id]; !known {
		f.order = append(f.order, id)
	}
	f.rows[id] = one
	if len(f.order) > mostFinished {
		delete(f.rows, f.order[0])
		f.order = f.order[1:]
	}
}

// get returns the row of a job that was removed.
func (f *finished) get(id string) (row, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	one, known := f.rows[id]
	return one, known
}

// areUnfinished reports whether the agent has jobs that this user submitted here and that have
// not ended.
func (f *finished) areUnfinished(session *agentclient.Session) bool {
	manager := managerOf(session)
	if manager == nil {
		return false
	}
	for element := range manager.All(model.Job) {
		if !hasEnded(element) && given(element, attributeSubmission) != "" {
			return true
		}
	}
	return false
}
