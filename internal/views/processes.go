package views

import (
	"context"
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// mostFollowed bounds the jobs whose processes are queried at a time.
const mostFollowed = 500

// addProcesses adds processes that are not on record: those that the source knows of jobs that
// go on, and what it knew last of those that ended.
func (r *record) addProcesses(ctx context.Context, to map[string][]job.Process) {
	var ids []string
	for tag, j := range r.jobs {
		isFollowed := !j.Detail.Ended() || slices.ContainsFunc(r.processes[tag], goesOn)
		if isFollowed && j.ID != "" && len(ids) < mostFollowed {
			ids = append(ids, j.ID)
		}
	}
	var found map[string][]job.Process
	begun := r.now()
	isResting := begun.Before(r.rested)
	if len(ids) > 0 && !isResting {
		found, _ = r.source.processes(ctx, ids) // if that fails, the listings do, too
		ended := r.now()
		r.rested = ended.Add(restFactor * ended.Sub(begun)) // they may have written much
	}
	for tag := range r.processes {
		if _, isShown := r.jobs[tag]; !isShown {
			delete(r.processes, tag)
		}
	}
	for tag, j := range r.jobs {
		known, isKnown := found[j.ID]
		if !isKnown {
			if known = r.processes[tag]; j.Detail.Ended() && !isResting {
				known = withoutRunning(known)
			}
		}
		if len(known) > 0 {
			r.processes[tag], to[tag] = known, known
		}
	}
}

// goesOn reports whether a process has not ended, as far as is known.
func goesOn(p job.Process) bool {
	return p.State != vocabulary.StateUnknown && !model.Ended(model.Process, model.State(p.State))
}

// withoutRunning returns processes of a job that is over.
func withoutRunning(processes []job.Process) []job.Process {
	if !slices.ContainsFunc(processes, goesOn) {
		return processes
	}
	over := slices.Clone(processes)
	for i := range over {
		if goesOn(over[i]) {
			over[i].State = vocabulary.StateUnknown
		}
	}
	return over
}
