package bridge

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A row is an element in a listing: the fields that the definition reads, and under "attributes" shown
// attributes without a field. The row of a queried job has all attributes.
type row map[string]any

// manager waits for the first listing and returns the resource manager of the session.
func (r *request) manager(ctx context.Context) (*model.Manager, error) {
	if err := r.session.Listed(ctx); err != nil {
		return nil, err
	}
	return managerOf(r.session), nil
}

// managerOf returns the current state of the resource manager.
func managerOf(session *agentclient.Session) *model.Manager {
	manager, _ := session.Model().Snapshot().Manager(session.Manager()) // always exists
	return manager
}

// list prints a document with a row for each element.
func (r *request) list(ctx context.Context, name string, kind model.Kind, of func(*model.Manager, *model.Element) row) error {
	manager, err := r.manager(ctx)
	if err != nil {
		return err
	}
	return r.document(ctx, name, func(each func(row) error) error {
		for element := range manager.All(kind) {
			if err := each(of(manager, element)); err != nil {
				return err
			}
		}
		return nil
	})
}

// document prints a JSON object with a list, one row per line.
func (r *request) document(ctx context.Context, name string, rows func(each func(row) error) error) error {
	output := bufio.NewWriterSize(r.stdout, 64<<10)
	encoder := json.NewEncoder(output)
	write := func(text string) error {
		if _, err := output.WriteString(text); err != nil {
			return &outputError{err}
		}
		return nil
	}
	separator := `{"` + name + `":[` + "\n"
	err := rows(func(one row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := write(separator); err != nil {
			return err
		}
		separator = ","
		if err := encoder.Encode(one); err != nil {
			return &outputError{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if separator == "," {
		separator = ""
	}
	if err := write(separator + "]}\n"); err != nil {
		return err
	}
	if err := output.Flush(); err != nil {
		return &outputError{err}
	}
	return nil
}

// set adds fields from the attributes of the element.
func (r row) set(element *model.Element, fields map[string]string) {
	for definition, value := range element.Attributes() {
		field, isField := fields[definition.ID]
		if !isField || value.Text() == "" {
			continue
		}
		r[field] = value.Text()
	}
}

// setAttributes adds the chosen attributes of the element.
func (r row) setAttributes(element *model.Element, isChosen func(*model.Definition) bool) {
	var chosen map[string]any
	for definition, value := range element.Attributes() {
		if value.Text() == "" || !isChosen(definition) {
			continue
		}
		if chosen == nil {
			chosen = map[string]any{}
		}
		if definition.Type == model.Array {
			chosen[definition.ID] = value.Array()
		} else {
			chosen[definition.ID] = value.Text()
		}
	}
	if chosen != nil {
		r["attributes"] = chosen
	}
}

// isFurther reports whether listings show an attribute without a fact for it.
func isFurther(definition *model.Definition) bool {
	return definition.Display && !vocabulary.IsKnown(definition.ID)
}

func isAny(*model.Definition) bool { return true }

// jobs prints all jobs, or only those named, with all attributes. It is an error if the only named job is
// unknown.
func (r *request) jobs(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return r.list(ctx, "jobs", model.Job, r.jobRow)
	}
	found, err := r.find(ctx, ids, r.wholeRow)
	if err == nil && len(found) == 0 && len(ids) == 1 {
		err = &agentclient.UnknownJobError{Job: ids[0]}
	}
	if err != nil {
		return err
	}
	return r.printJobs(ctx, found)
}

// listing prints all jobs, or those named that are known.
func (r *request) listing(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return r.list(ctx, "jobs", model.Job, r.jobRow)
	}
	found, err := r.find(ctx, ids, r.jobRow)
	if err != nil {
		return err
	}
	return r.printJobs(ctx, found)
}

// find returns rows of jobs, including ended jobs that were removed.
func (r *request) find(ctx context.Context, ids []string, of func(*model.Manager, *model.Element) row) ([]row, error) {
	manager, err := r.manager(ctx)
	if err != nil {
		return nil, err
	}
	var found []row
	for _, id := range ids {
		element, known := manager.Get(model.Job, id)
		if !known {
			element, known = r.session.Ended(id)
		}
		if known {
			found = append(found, of(manager, element))
		}
	}
	return found, nil
}

func (r *request) printJobs(ctx context.Context, jobs []row) error {
	return r.document(ctx, "jobs", func(each func(row) error) error {
		for _, one := range jobs {
			if err := each(one); err != nil {
				return err
			}
		}
		return nil
	})
}

// jobFields are the fields of jobs, by attribute.
var jobFields = map[string]string{
	vocabulary.AttributeName: "name", vocabulary.AttributeJobUser: "owner", vocabulary.AttributeJobStatus: "native",
	vocabulary.AttributeJobMessage: "reason", vocabulary.AttributeJobNodes: "nodes", vocabulary.AttributeJobSubmitted: "submitted",
	vocabulary.AttributeJobStarted: "started", vocabulary.AttributeJobEnded: "ended", vocabulary.AttributeJobExitCode: "exitCode",
	vocabulary.AttributeJobSignal: "signal", vocabulary.AttributeJobCPUs: "cpus",
	vocabulary.AttributeJobOutput: "outputPath", vocabulary.AttributeJobErrors: "errorPath",
}

// Further attributes of jobs from an rmctl agent.
const (
	attributeSubmission = "jobSubId"
	attributeProcesses  = "jobNumProcs"
)

// wholeRow is jobRow with all attributes, as evidence for the state.
func (r *request) wholeRow(manager *model.Manager, element *model.Element) row {
	one := r.jobRow(manager, element)
	one.setAttributes(element, isAny)
	if id := element.ID(); len(r.session.Features()) == 0 && !strings.Contains(id, "/") { // rmctl agents have files
		one["outputPath"] = definition.OutputFolder + id + "/" + outputStream
		one["errorPath"] = definition.OutputFolder + id + "/" + errorStream
	}
	return one
}

func (r *request) jobRow(manager *model.Manager, element *model.Element) row {
	one := row{"id": element.ID(), "detail": string(r.detailOf(element))}
	one.set(element, jobFields)
	if queue, known := manager.Get(model.Queue, element.Parent()); known {
		one["queue"] = queue.ID()
	}
	if _, has := one["native"]; !has {
		one["native"] = string(element.State())
	}
	if tag := given(element, attributeSubmission); tag != "" { // jobTag belongs to the agent's record
		one["tag"] = tag
	}
	one.setAttributes(element, isFurther)
	if _, has := one["cpus"]; !has {
		if count := given(element, attributeProcesses); count != "" {
			one["cpus"] = count
		}
	}
	return one
}

// given returns the text of an attribute of the element, empty if it has none.
func given(element *model.Element, attribute string) string {
	for definition, value := range element.Attributes() {
		if definition.ID == attribute {
			return value.Text()
		}
	}
	return ""
}

// detailOf returns the state of a job: the detail sent by an rmctl agent, otherwise the state in the
// model. The protocol does not report that a job was canceled.
func (r *request) detailOf(element *model.Element) job.Detail {
	if detail, known := job.ParseDetail(given(element, vocabulary.AttributeJobDetail)); known {
		return detail
	}
	switch element.State() {
	case vocabulary.StatePending:
		return job.QueuedActive
	case vocabulary.StateStarted, vocabulary.StateRunning:
		return job.Running
	case vocabulary.StateSuspended:
		return job.Suspended
	case vocabulary.StateTerminated:
		if r.connection.canceled.has(element.ID()) && given(element, vocabulary.AttributeJobExitCode) == "" {
			return job.Canceled
		}
		return job.Completed
	case vocabulary.StateError:
		return job.Failed
	}
	return job.Undetermined
}

// nodeFields are the fields of nodes, by attribute.
var nodeFields = map[string]string{
	vocabulary.AttributeNodeStatus: "native", vocabulary.AttributeNodeCPUs: "cpus", vocabulary.AttributeNodeCPUsUsed: "cpusUsed",
	vocabulary.AttributeNodeMemory: "memory", vocabulary.AttributeNodeLoad: "load", vocabulary.AttributeNodeReason: "reason",
}

func (r *request) nodes(ctx context.Context, _ []string) error {
	return r.list(ctx, "nodes", model.Node, func(manager *model.Manager, element *model.Element) row {
		one := row{"id": element.ID(), "state": string(element.State()), "machine": element.Parent()}
		one.set(element, nodeFields)
		for definition, value := range element.Attributes() {
			if definition.ID == vocabulary.AttributeNodeQueues {
				one["queues"] = strings.Join(value.Array(), ",")
			}
		}
		if machine, known := manager.Get(model.Machine, element.Parent()); known {
			one["machineState"] = string(machine.State())
		}
		one.setAttributes(element, isFurther)
		return one
	})
}

// queueFields are the fields of queues, by attribute.
var queueFields = map[string]string{
	vocabulary.AttributeQueueStatus: "native", vocabulary.AttributeQueueDefault: "default", vocabulary.AttributeQueueTimeLimit: "timeLimit",
	vocabulary.AttributeQueueRunning: "running", vocabulary.AttributeQueueWaiting: "waiting", vocabulary.AttributeQueueNodes: "nodes",
}

func (r *request) queues(ctx context.Context, _ []string) error {
	return r.list(ctx, "queues", model.Queue, func(_ *model.Manager, element *model.Element) row {
		one := row{"id": element.ID(), "state": string(element.State())}
		one.set(element, queueFields)
		one.setAttributes(element, isFurther)
		return one
	})
}

// processes prints the processes of jobs. It is an error if the only job is unknown.
func (r *request) processes(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return &usageError{"processes takes jobs"}
	}
	manager, err := r.manager(ctx)
	if err != nil {
		return err
	}
	if _, known := manager.Get(model.Job, ids[0]); !known && len(ids) == 1 {
		return &agentclient.UnknownJobError{Job: ids[0]}
	}
	room := mostOutput
	return r.document(ctx, "processes", func(each func(row) error) error {
		for _, id := range ids {
			for element := range manager.Children(model.Process, id) {
				one := processRow(manager, element)
				if room > 0 {
					room -= one.setOutput(element)
				}
				if err := each(one); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// setOutput adds the end of a process's output and returns its length.
func (r row) setOutput(element *model.Element) (bytes int) {
	for attribute, field := range map[string]string{"processStdout": "output", "processStderr": "errorOutput"} {
		if text := given(element, attribute); text != "" {
			r[field] = text
			bytes += len(text)
		}
	}
	return bytes
}

func processRow(manager *model.Manager, element *model.Element) row {
	one := row{"id": element.ID(), "state": string(element.State()), "job": element.Parent()}
	one.set(element, map[string]string{
		vocabulary.AttributeProcessIndex: "rank", vocabulary.AttributeProcessExitCode: "exitCode", "processPID": "pid",
		"processSignalName": "signal", vocabulary.AttributeProcessNodeID: "node",
	})
	if id, has := one["node"].(string); has {
		if node, known := manager.Get(model.Node, id); known {
			one["node"] = node.Name()
		}
	}
	if _, has := one["rank"]; !has {
		if rank, err := strconv.Atoi(element.ID()[strings.LastIndexByte(element.ID(), '.')+1:]); err == nil {
			one["rank"] = strconv.Itoa(rank)
		}
	}
	one["rank"] = cmp.Or(one["rank"], any("0"))
	return one
}
