package monitor

import (
	"errors"
	"slices"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// Predefined attributes.
const (
	attributeNumNodes      = "numNodes"
	attributeNodeNumber    = "nodeNumber"
	attributeJobID         = "jobId"
	attributeJobSubmission = "jobSubId"
	attributeJobProcesses  = "jobNumProcs"
)

// definitions are the attributes of the resource manager, and those of jobs that are no facts
// of rows.
var definitions = []model.Definition{
	date(vocabulary.AttributeListedJobs, "Jobs Listed", "Time of the last listing of jobs"),
	date(vocabulary.AttributeListedNodes, "Nodes Listed", "Time of the last listing of nodes"),
	date(vocabulary.AttributeListedQueues, "Queues Listed", "Time of the last listing of queues"),
	{ID: vocabulary.AttributeUnlisted, Type: model.Array, Name: "Not Listed", Description: "Listings that the scheduler does not support", Display: true},
	text(vocabulary.AttributeStale, "Stale", "Why the listing is outdated", true),
	{ID: vocabulary.AttributeProblems, Type: model.Array, Name: "Wrong In Listings", Description: "Problems of listings, with counts and first places", Display: true},
	text(vocabulary.AttributeJobDetail, "Detail", "Detail of the job's state", true),
	text(vocabulary.AttributeJobTag, "Tag", "Tag of the submission", false),
	text(vocabulary.AttributeJobEnsemble, "Ensemble", "Ensemble that the job is a part of", true),
	text(vocabulary.AttributeJobPart, "Part", "Label of the part", true),
	text(vocabulary.AttributeJobOutput, "Output File", "Output file on the target", false),
	text(vocabulary.AttributeJobErrors, "Error File", "Error output file on the target", false),
	text(vocabulary.AttributeJobDoubt, "Doubt", "Why the state may be outdated", true),
	{ID: vocabulary.AttributeJobUnconfirmed, Type: model.Boolean, Name: "Unconfirmed", Description: "Whether the state is from the record and not confirmed yet", Default: []string{"false"}},
}

// A column is a fact of rows and the attribute that shows it.
type column struct {
	fact      string
	attribute model.Definition
}

// The columns of each kind, in the order of the attributes.
var (
	queueColumns = []column{
		{"native", predefined(vocabulary.AttributeQueueStatus)},
		{factDefault, model.Definition{ID: vocabulary.AttributeQueueDefault, Type: model.Boolean, Name: "Default", Description: "Whether this is the default queue", Default: []string{"false"}, Display: true}},
		{"timeLimit", text(vocabulary.AttributeQueueTimeLimit, "Time Limit", "Longest run time of a job, as the scheduler writes it", true)},
		{"running", count(vocabulary.AttributeQueueRunning, "Running", "Number of jobs that run")},
		{"waiting", count(vocabulary.AttributeQueueWaiting, "Waiting", "Number of jobs that wait")},
		{"nodes", count(vocabulary.AttributeQueueNodes, "Nodes", "Number of nodes")},
	}
	nodeColumns = []column{
		{"native", predefined(vocabulary.AttributeNodeStatus)},
		{factCPUs, count(vocabulary.AttributeNodeCPUs, "CPUs", "Number of CPUs")},
		{factCPUsUsed, count(vocabulary.AttributeNodeCPUsUsed, "CPUs In Use", "Number of CPUs in use")},
		{"memory", count(vocabulary.AttributeNodeMemory, "Memory (MiB)", "Memory in MiB")},
		{"load", model.Definition{ID: vocabulary.AttributeNodeLoad, Type: model.Double, Name: "Load", Description: "Load of the node", Default: []string{"0"}, Display: true}},
		{"queues", model.Definition{ID: vocabulary.AttributeNodeQueues, Type: model.Array, Name: "Queues", Description: "Queues that may use the node", Display: true}},
		{"reason", text(vocabulary.AttributeNodeReason, "Reason", "Why the node is in its state", true)},
	}
	jobColumns = []column{
		{"name", predefined(vocabulary.AttributeName)},
		{factOwner, predefined(vocabulary.AttributeJobUser)},
		{"native", predefined(vocabulary.AttributeJobStatus)},
		{"reason", predefined(vocabulary.AttributeJobMessage)},
		{factQueue, predefined(vocabulary.AttributeJobQueue)},
		{factNodes, text(vocabulary.AttributeJobNodes, "Nodes", "Nodes of the job, as the scheduler writes them", true)},
		{factSubmitted, date(vocabulary.AttributeJobSubmitted, "Submitted", "When the job was submitted")},
		{"started", date(vocabulary.AttributeJobStarted, "Started", "When the job started")},
		{"ended", date(vocabulary.AttributeJobEnded, "Ended", "When the job ended")},
		{"exitCode", model.Definition{ID: vocabulary.AttributeJobExitCode, Type: model.Integer, Name: "Exit Code", Description: "Exit code of the job", Default: []string{"0"}, Display: true}},
		{"signal", count(vocabulary.AttributeJobSignal, "Signal", "Signal that ended the job")},
		{"cpus", count(vocabulary.AttributeJobCPUs, "CPUs", "Number of CPUs")},
	}
)

// Facts that the monitor also uses itself.
const (
	factState     = "state"
	factDefault   = "default"
	factCPUs      = "cpus"
	factCPUsUsed  = "cpusUsed"
	factMachine   = "machine"
	factIdentity  = "identity"
	factOwner     = "owner"
	factQueue     = "queue"
	factNodes     = "nodes"
	factSubmitted = "submitted"
	factFurther   = "attributes" // attributes without a column, in the format of package further
)

// factsOf returns the names of the facts that columns show, behind others.
func factsOf(columns []column, others ...string) []string {
	for _, c := range columns {
		others = append(others, c.fact)
	}
	return others
}

// predefined is an attribute that the model defines.
func predefined(id string) model.Definition { return model.Definition{ID: id} }

func text(id, name, description string, display bool) model.Definition {
	return model.Definition{ID: id, Type: model.String, Name: name, Description: description, Default: []string{""}, Display: display}
}

func date(id, name, description string) model.Definition {
	return model.Definition{ID: id, Type: model.Date, Name: name, Description: description, Display: true}
}

func count(id, name, description string) model.Definition {
	return model.Definition{ID: id, Type: model.Integer, Name: name, Description: description, Default: []string{"0"}, Display: true, Limited: true, Max: 1<<53 - 1}
}

// define defines the attributes that the model does not know yet.
func define(m *model.Model) error {
	var problems []error
	all := slices.Clone(definitions)
	for _, c := range slices.Concat(queueColumns, nodeColumns, jobColumns) {
		all = append(all, c.attribute)
	}
	m.Update(func(u *model.Update) {
		for _, definition := range all {
			if _, defined := m.Snapshot().Definition(definition.ID); !defined {
				problems = append(problems, u.Define(definition))
			}
		}
	})
	return errors.Join(problems...)
}
