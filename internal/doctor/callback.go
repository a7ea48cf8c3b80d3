package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/callback"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/job"
)

// Time limits of the examination of nodes.
const (
	nodesTimeout   = 10 * time.Minute // for the job to start and to be examined
	resultsTimeout = 20 * time.Second // for the node to try all addresses
	endTimeout     = time.Minute      // for the job to end
	lookInterval   = 200 * time.Millisecond
)

// The names of findings about nodes.
const (
	nameOfJob      = "nodes: test job"
	nameOfCallback = "nodes: connections to the target"
	nameOfOnNodes  = "nodes: processes beside a job"
)

// NodesOptions are the options of [ExamineNodes].
type NodesOptions struct {
	Controller   *control.Controller
	Directory    *nodes.Directory
	Defaults     []job.Assignment // of the target
	RelayAddress string           // setting of the target
	// Reach returns how the processes of a job are reached.
	Reach func(context.Context, job.Job) (*onnodes.Reachable, error)
}

// A nodesExaminer examines the nodes of one job.
type nodesExaminer struct {
	NodesOptions
	test *onnodes.CallbackTest
}

// ExamineNodes submits a small job, tests whether its nodes reach the target and whether rmctl can
// start processes beside it, and ends the job.
func ExamineNodes(ctx context.Context, o NodesOptions) []Finding {
	ctx, cancel := context.WithTimeout(ctx, nodesTimeout)
	defer cancel()
	definition := o.Controller.Definition
	if definition.Command(config.SubmitBatch) == nil {
		return []Finding{{nameOfJob, Warning, "not tested: definition " + definition.Name + " has no batch jobs", "rmctl does not know whether nodes reach the target", "try a target with batch jobs on the same host"}}
	}
	test, err := onnodes.StartCallbackTest(ctx, o.Controller.Connection, o.Directory)
	if err != nil {
		return []Finding{failedTest("starting rmctl-node on the target", err)}
	}
	e := &nodesExaminer{o, test}
	findings := e.examine(ctx)
	if err := test.Close(); err != nil {
		findings = append(findings, failedTest("ending rmctl-node on the target", err))
	}
	return findings
}

func failedTest(what string, err error) Finding {
	reason, fix, _ := strings.Cut(err.Error(), "\n")
	return Finding{nameOfJob, Warning, what + ": " + reason, "rmctl stacks and --track may not work", fix}
}

// examine submits the job and ends it.
func (e *nodesExaminer) examine(ctx context.Context) (findings []Finding) {
	submitted, err := e.Controller.Submit(ctx, e.submission())
	if err != nil {
		return []Finding{failedTest("submitting a job", err)}
	}
	defer func() {
		if err := e.end(context.WithoutCancel(ctx), submitted); err != nil {
			findings = append(findings, failedTest("ending job "+submitted.ID, err))
		}
	}()
	running, err := e.Controller.Wait(ctx, submitted, job.Running, nil)
	switch {
	case err != nil:
		return []Finding{failedTest("waiting for job "+submitted.ID+" to run", err)}
	case running.Detail.Ended():
		return []Finding{{nameOfJob, Warning, fmt.Sprintf("job %s ended before it was examined: %s", running.ID, cmp.Or(running.Reason, running.Detail.Word())),
			"rmctl stacks and --track may not work", "read its errors with rmctl output " + shellescape.Quote(running.Tag) + "; if nodes do not see the program, set node_directory"}}
	}
	findings = append(findings, Finding{Name: nameOfJob, Verdict: Fine, Seen: "job " + running.ID + " runs"})
	onNodes, isHere := e.examineOnNodes(ctx, running)
	return append(findings, e.examineAddresses(ctx, onNodes.Verdict == Fine, isHere), onNodes)
}

// submission returns a job that tries to reach the target.
func (e *nodesExaminer) submission() job.Submission {
	s := job.Submission{Executable: e.test.Words[0], Arguments: e.test.Words[1:]}
	for _, link := range e.Controller.Definition.PortableLinks("wallTime") {
		isSet := func(value job.Assignment) bool { return value.Name == link.Name || value.Name == link.Attribute }
		if link.Attribute != "" && link.Refused == "" && !slices.ContainsFunc(e.Defaults, isSet) {
			s.Values = []job.Assignment{{Name: link.Name, Value: "10m"}}
		}
	}
	return s
}

// end lets the job end, and cancels it if it does not.
func (e *nodesExaminer) end(ctx context.Context, submitted job.Job) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	ending, stop := context.WithTimeout(ctx, endTimeout/2)
	defer stop()
	err := e.test.EndJob(ctx)
	if err == nil {
		if _, err = e.Controller.Wait(ending, submitted, "", nil); err == nil {
			return nil
		}
	}
	if canceled := e.Controller.Operate(ctx, control.Cancel, submitted); !isEnded(canceled) {
		return canceled
	}
	return nil
}

// isEnded reports whether a job is canceled or has ended.
func isEnded(err error) bool {
	_, hasEnded := errors.AsType[*control.EndedError](err)
	return err == nil || hasEnded
}

// examineOnNodes starts processes on the nodes of the job as commands of rmctl do. It reports
// whether the job runs on the target itself.
func (e *nodesExaminer) examineOnNodes(ctx context.Context, running job.Job) (found Finding, isHere bool) {
	const impact, fix = "rmctl stacks cannot reach these nodes", "see the section for this scheduler in docs/use/stacks.md"
	failed := func(seen string) (Finding, bool) { return Finding{nameOfOnNodes, Warning, seen, impact, fix}, false }
	reached, err := e.Reach(ctx, running)
	if err != nil {
		return failed(oneLine(err))
	}
	names, problems, err := onnodes.TryNodes(ctx, reached)
	switch {
	case err != nil:
		return failed(oneLine(err))
	case len(problems) > 0:
		node := slices.Min(slices.Collect(maps.Keys(problems)))
		return failed(fmt.Sprintf("%d of %d nodes failed; %s: %s", len(problems), len(names), node, problems[node]))
	case len(names) == 0:
		return Finding{Name: nameOfOnNodes, Verdict: Fine, Seen: "started on the target itself, where the job runs"}, true
	}
	return Finding{Name: nameOfOnNodes, Verdict: Fine, Seen: "started on " + strings.Join(names, ", ")}, false
}

func oneLine(err error) string {
	reason, _, _ := strings.Cut(err.Error(), "\n")
	return reason
}

// examineAddresses returns at which addresses the node of the job reached the target.
func (e *nodesExaminer) examineAddresses(ctx context.Context, isReachable, isHere bool) Finding {
	if isHere {
		return Finding{Name: nameOfCallback, Verdict: Fine, Seen: "not needed: the job runs on the target itself"}
	}
	results, err := e.results(ctx)
	reached, name := e.test.Reached(), shellescape.Quote(e.Controller.Target)
	impact := "rmctl stacks reaches no node"
	if isReachable {
		impact = "rmctl starts a process on each node through the scheduler, which takes longer"
	}
	set := "rmctl targets set " + name + " --relay-address "
	switch {
	case len(reached) > 0 && e.RelayAddress != "":
		return Finding{Name: nameOfCallback, Verdict: Fine, Seen: fmt.Sprintf("nodes reach %s; relay_address is %s", strings.Join(reached, ", "), e.RelayAddress)}
	case len(reached) > 0:
		return Finding{nameOfCallback, Warning, "nodes reach " + strings.Join(reached, ", ") + ", but relay_address is not set", impact, set + reached[0]}
	case err != nil:
		return Finding{nameOfCallback, Warning, "cannot read the result of the node: " + oneLine(err), impact, ""}
	case results == nil:
		return Finding{nameOfCallback, Warning, "no node reached the target, and no node wrote to its directory", "nodes might not share the directory of rmctl-node", "rmctl targets set " + name + " --node-directory DIR, with a DIR that nodes share"}
	case e.RelayAddress != "":
		return Finding{nameOfCallback, Warning, "nodes do not reach the target: " + refusals(results), impact, set + "''"}
	}
	return Finding{nameOfCallback, cmp.Or(map[bool]Verdict{true: Fine}[isReachable], Warning), "nodes do not reach the target: " + refusals(results), impact, "open a route from nodes to the target"}
}

// results waits for the results of the node; nil if it writes nothing in time.
func (e *nodesExaminer) results(ctx context.Context) ([]callback.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, resultsTimeout)
	defer cancel()
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	for {
		results, isWritten, err := e.test.Results(ctx)
		if isWritten || err != nil && ctx.Err() == nil {
			return results, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// refusals returns the problem of each address.
func refusals(results []callback.Result) string {
	texts := make([]string, 0, len(results))
	for _, result := range results {
		texts = append(texts, result.Address+": "+result.Problem)
	}
	if len(texts) == 0 {
		return "it has only a loopback address"
	}
	return strings.Join(texts, "; ")
}
