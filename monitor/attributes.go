package monitor

import (
	"errors"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

const attributeNumNodes = "numNodes" // of machines; predefined

// definitions are those of the attributes that are not predefined.
var definitions = []model.Definition{
	date(vocabulary.AttributeListedJobs, "Jobs Listed", "When the jobs were last listed"),
	date(vocabulary.AttributeListedNodes, "Nodes Listed", "When the nodes were last listed"),
	date(vocabulary.AttributeListedQueues, "Queues Listed", "When the queues were last listed"),
	{ID: vocabulary.AttributeUnlisted, Type: model.Array, Name: "Not Listed", Description: "Of what the scheduler has no listing", Display: true},
	text(vocabulary.AttributeStale, "Stale", "Why what is shown is older than it should be", true),
	{ID: vocabulary.AttributeProblems, Type: model.Array, Name: "Wrong In Listings", Description: "What was wrong with what the scheduler listed, how often, and where first", Display: true},

	count(vocabulary.AttributeNodeCPUs, "CPUs", "Number of CPUs"),
	count(vocabulary.AttributeNodeCPUsUsed, "CPUs In Use", "Number of CPUs in use"),
	count(vocabulary.AttributeNodeMemory, "Memory (MiB)", "Memory in MiB"),
	{ID: vocabulary.AttributeNodeLoad, Type: model.Double, Name: "Load", Description: "Load of the node", Default: []string{"0"}, Display: true},
	{ID: vocabulary.AttributeNodeQueues, Type: model.Array, Name: "Queues", Description: "Queues that may use the node", Display: true},
	text(vocabulary.AttributeNodeReason, "Reason", "Why the node is in its state", true),

	{ID: vocabulary.AttributeQueueDefault, Type: model.Boolean, Name: "Default", Description: "Whether jobs that name no queue go here", Default: []string{"false"}, Display: true},
	text(vocabulary.AttributeQueueTimeLimit, "Time Limit", "Longest run time of a job, as the scheduler writes it", true),
	count(vocabulary.AttributeQueueRunning, "Running", "Number of jobs that run"),
	count(vocabulary.AttributeQueueWaiting, "Waiting", "Number of jobs that wait"),
	count(vocabulary.AttributeQueueNodes, "Nodes", "Number of nodes"),

	text(vocabulary.AttributeJobDetail, "Detail", "State of the job in more words than the model has", true),
	text(vocabulary.AttributeJobNodes, "Nodes", "Nodes of the job, as the scheduler writes them", true),
	date(vocabulary.AttributeJobSubmitted, "Submitted", "When the job was submitted"),
	date(vocabulary.AttributeJobStarted, "Started", "When the job started"),
	date(vocabulary.AttributeJobEnded, "Ended", "When the job ended"),
	{ID: vocabulary.AttributeJobExitCode, Type: model.Integer, Name: "Exit Code", Description: "Exit code of the job", Default: []string{"0"}, Display: true},
	count(vocabulary.AttributeJobSignal, "Signal", "Signal that ended the job"),
	count(vocabulary.AttributeJobCPUs, "CPUs", "Number of CPUs"),
	text(vocabulary.AttributeJobTag, "Tag", "Tag of the submission", false),
	text(vocabulary.AttributeJobDoubt, "Doubt", "Why the state may be another by now", true),
}

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
	m.Update(func(u *model.Update) {
		for _, definition := range definitions {
			if _, defined := m.Snapshot().Definition(definition.ID); !defined {
				problems = append(problems, u.Define(definition))
			}
		}
	})
	return errors.Join(problems...)
}
