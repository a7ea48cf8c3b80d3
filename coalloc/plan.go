package coalloc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// A PartPlan is what would be submitted for a part.
type PartPlan struct {
	Part       Part
	Submission job.Submission     // with the processes of the part as tasks
	Rendering  *control.Rendering // files and commands; nil with a problem
	Problem    error              // why the part cannot be submitted
	Start      time.Time          // when the scheduler expects the job to start; zero if unknown
	NoStart    error              // why it is unknown; nil if the definition cannot query it
}

var errDryRun = errors.New("the request says dryRun: nothing is submitted\nplan it, or remove dryRun")

// mostAtOnce bounds how many targets are planned at the same time.
const mostAtOnce = 16

// Plan returns what would be submitted for each part, in the order of the request. It submits nothing. With start, it queries
// the schedulers for the expected start.
func Plan(ctx context.Context, client Client, r *Request, start bool) []PartPlan {
	plans := make([]PartPlan, len(r.Parts))
	byTarget := map[string][]*PartPlan{} // one after the other, as they share a session
	for i, part := range r.Parts {
		plans[i].Part = part
		byTarget[part.Target] = append(byTarget[part.Target], &plans[i])
	}
	slots := make(chan struct{}, mostAtOnce)
	var targets sync.WaitGroup
	for _, parts := range byTarget {
		targets.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, plan := range parts {
				plan.make(ctx, client, start)
			}
		})
	}
	targets.Wait()
	return plans
}

// make makes the plan of a part.
func (p *PartPlan) make(ctx context.Context, client Client, start bool) {
	if p.Part.Problem != "" { // which may be that there is no such target
		p.Problem = errors.New(p.Part.Problem)
		return
	}
	controller, err := client.Controller(ctx, p.Part.Target)
	if err != nil {
		p.Problem = err
		return
	}
	var defaults map[string]string
	if targets, err := client.Targets(); err == nil {
		if target, err := targets.Find(p.Part.Target); err == nil { // an agent has none
			defaults = target.Attributes
		}
	}
	if p.Submission, p.Problem = p.Part.SubmissionOn(controller.Definition, defaults); p.Problem != nil {
		return
	}
	if p.Problem = controller.Check(p.Submission); p.Problem != nil {
		return
	}
	shown := p.Submission
	if shown.Executable != "" {
		shown.Wrapper = []string{"rmctl-node", "run", "--pass", "PASS", "--"}
	}
	if start {
		p.Rendering, p.Problem = controller.Preview(ctx, shown)
	} else {
		p.Rendering, p.Problem = controller.Render(shown)
	}
	if start && p.Problem == nil {
		estimated := p.Submission
		estimated.Values = append(slices.Clone(estimated.Values), job.Assignment{Name: estimateScript, Value: p.Rendering.Script})
		p.Start, p.NoStart = estimate(ctx, controller, estimatePlan, estimated)
	}
}
