package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/job"
)

// Attach starts a debugger for each rank of a running job, and returns once they have connected. It logs ranks
// that cannot be debugged, and fails if no rank can. The context bounds the whole session. The caller closes the
// result.
func Attach(ctx context.Context, target Target, reachable *onnodes.Reachable, request Request) (*Debugged, error) {
	if _, where := debuggerOf(request.Debugger); where != "" {
		if err := checkExecutable(ctx, target.Controller.Connection, "debugger", where); err != nil {
			return nil, err
		}
	}
	d := newDebugged(ctx, target, newSteps(target.Log))
	d.job = reachable.Job
	if err := d.attach(ctx, reachable, request); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// launchAndAttach submits a job as usual, and starts debuggers once it runs.
func launchAndAttach(ctx context.Context, target Target, request Request, steps *steps) *Debugged {
	d := newDebugged(ctx, target, steps)
	d.launched, d.isInteractive = true, runsInteractively(target.Controller.Definition, false)
	submission := request.Submission
	submission.Tag, submission.Track = uuid.NewString(), true // which says the ranks, and permits debuggers
	d.tasks.Go(func() {
		d.run(submission, func(ctx context.Context, j job.Job) {
			reachable, err := target.Reach(ctx, j.Tag)
			if err == nil {
				err = d.attach(ctx, reachable, request)
			}
			if err != nil && ctx.Err() == nil {
				d.end(err)
			}
		})
	})
	return d
}

// attach starts a debugger for each rank, and waits until they have connected.
func (d *Debugged) attach(ctx context.Context, reachable *onnodes.Reachable, request Request) error {
	reached, err := onnodes.Reach(ctx, reachable)
	if err != nil {
		return err
	}
	d.steps.done("started relays on the nodes")
	d.mutex.Lock()
	d.attached, d.only = true, nil // until it is known which ranks have a debugger
	d.mutex.Unlock()
	d.gather(reached)
	request.Submission.Executable = ""                                      // it runs already
	pass := path.Join(reached.Directory, "debug-"+uuid.NewString()+".json") // each session with a job has one
	if err := writePass(ctx, d.target, request, reached.Directory, pass, false); err != nil {
		return err
	}
	d.mutex.Lock()
	d.pass = pass
	d.mutex.Unlock()
	body, err := json.Marshal(server.AttachQuestion{Pass: pass})
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, relayLimit, errors.New("the debuggers of the ranks did not connect in time"))
	defer cancel()
	started, missing, err := reached.StartDebuggers(limited, server.KindAttach, body, request.Ranks)
	if err != nil {
		return err
	}
	if len(started) == 0 {
		return fmt.Errorf("no rank can be debugged: %s", reasons(missing))
	}
	if len(missing) > 0 {
		d.target.Log.Warn("cannot debug some ranks", "why", reasons(missing))
	}
	d.mutex.Lock()
	d.only = started
	d.mutex.Unlock()
	return d.Ready(limited)
}

// reasons describes ranks that cannot be debugged.
func reasons(missing []stacks.Missing) string {
	byReason := map[string]ranges.Set{}
	nodes := map[string][]string{}
	var order []string
	for _, each := range missing {
		if !slices.Contains(order, each.Reason) {
			order = append(order, each.Reason)
		}
		byReason[each.Reason] = byReason[each.Reason].Union(each.Ranks)
		nodes[each.Reason] = append(nodes[each.Reason], each.Nodes...)
	}
	var texts []string
	for _, reason := range order {
		var where []string
		if ranks := byReason[reason]; len(ranks) > 0 {
			where = append(where, "ranks "+ranks.String())
		}
		if names := nodes[reason]; len(names) > 0 {
			where = append(where, "node "+strings.Join(names[:min(len(names), mostProblems)], ", "))
		}
		texts = append(texts, strings.TrimPrefix(strings.Join(where, ", ")+": ", ": ")+reason)
	}
	return strings.Join(texts[:min(len(texts), mostProblems)], "; ")
}
