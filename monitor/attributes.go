package monitor

import (
	"errors"

	"github.com/rmctl/rmctl/model"
)

// The ids of the attributes that a monitor gives elements beside the predefined
// ones.
const (
	// Of resource managers: when the listings last succeeded, why what is shown is
	// older than it should be, and what was wrong with what was listed.
	AttributeListedJobs   = "rmListedJobs"
	AttributeListedNodes  = "rmListedNodes"
	AttributeListedQueues = "rmListedQueues"
	AttributeUnlisted     = "rmUnlisted" // the kinds of elements that the scheduler has no listing of, such as "node"
	AttributeStale        = "rmStale"
	AttributeProblems     = "rmProblems" // what was wrong with the listings, a text for each kind of problem

	attributeNumNodes = "numNodes" // of machines; predefined

	AttributeNodeCPUs     = "nodeCPUs"
	AttributeNodeCPUsUsed = "nodeCPUsUsed"
	AttributeNodeMemory   = "nodeMemory" // MiB
	AttributeNodeLoad     = "nodeLoad"
	AttributeNodeQueues   = "nodeQueues"
	AttributeNodeReason   = "nodeReason"

	AttributeQueueDefault   = "queueDefault"
	AttributeQueueTimeLimit = "queueTimeLimit"
	AttributeQueueRunning   = "queueRunning"
	AttributeQueueWaiting   = "queueWaiting"
	AttributeQueueNodes     = "queueNodes"

	AttributeJobDetail    = "jobDetail" // the state in the words of package job
	AttributeJobNodes     = "jobNodes"
	AttributeJobSubmitted = "jobSubmitted"
	AttributeJobStarted   = "jobStarted"
	AttributeJobEnded     = "jobEnded"
	AttributeJobExitCode  = "jobExitCode"
	AttributeJobSignal    = "jobSignal"
	AttributeJobCPUs      = "jobCPUs"
	AttributeJobTag       = "jobTag"
	AttributeJobDoubt     = "jobDoubt"

	// Predefined ones of jobs that a monitor gives.
	AttributeJobUser     = "userId"
	AttributeJobQueue    = "queueId"
	AttributeJobLaunched = "launchedByPTP" // "true" for a job that this user submitted through rmctl
)

// definitions are those of the attributes that are not predefined.
var definitions = []model.Definition{
	date(AttributeListedJobs, "Jobs Listed", "When the jobs were last listed"),
	date(AttributeListedNodes, "Nodes Listed", "When the nodes were last listed"),
	date(AttributeListedQueues, "Queues Listed", "When the queues were last listed"),
	{ID: AttributeUnlisted, Type: model.Array, Name: "Not Listed", Description: "Of what the scheduler has no listing", Display: true},
	text(AttributeStale, "Stale", "Why what is shown is older than it should be", true),
	{ID: AttributeProblems, Type: model.Array, Name: "Wrong In Listings", Description: "What was wrong with what the scheduler listed, how often, and where first", Display: true},

	count(AttributeNodeCPUs, "CPUs", "Number of CPUs"),
	count(AttributeNodeCPUsUsed, "CPUs In Use", "Number of CPUs in use"),
	count(AttributeNodeMemory, "Memory (MiB)", "Memory in MiB"),
	{ID: AttributeNodeLoad, Type: model.Double, Name: "Load", Description: "Load of the node", Default: []string{"0"}, Display: true},
	{ID: AttributeNodeQueues, Type: model.Array, Name: "Queues", Description: "Queues that may use the node", Display: true},
	text(AttributeNodeReason, "Reason", "Why the node is in its state", true),

	{ID: AttributeQueueDefault, Type: model.Boolean, Name: "Default", Description: "Whether jobs that name no queue go here", Default: []string{"false"}, Display: true},
	text(AttributeQueueTimeLimit, "Time Limit", "Longest run time of a job, as the scheduler writes it", true),
	count(AttributeQueueRunning, "Running", "Number of jobs that run"),
	count(AttributeQueueWaiting, "Waiting", "Number of jobs that wait"),
	count(AttributeQueueNodes, "Nodes", "Number of nodes"),

	text(AttributeJobDetail, "Detail", "State of the job in more words than the model has", true),
	text(AttributeJobNodes, "Nodes", "Nodes of the job, as the scheduler writes them", true),
	date(AttributeJobSubmitted, "Submitted", "When the job was submitted"),
	date(AttributeJobStarted, "Started", "When the job started"),
	date(AttributeJobEnded, "Ended", "When the job ended"),
	{ID: AttributeJobExitCode, Type: model.Integer, Name: "Exit Code", Description: "Exit code of the job", Default: []string{"0"}, Display: true},
	count(AttributeJobSignal, "Signal", "Signal that ended the job"),
	count(AttributeJobCPUs, "CPUs", "Number of CPUs"),
	text(AttributeJobTag, "Tag", "Tag of the submission", false),
	text(AttributeJobDoubt, "Doubt", "Why the state may be another by now", true),
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
