package vocabulary

// The ids of attributes that package model predefines.
const (
	AttributeID              = "id"
	AttributeName            = "name"
	AttributeRMState         = "rmState"
	AttributeMachineState    = "machineState"
	AttributeQueueState      = "queueState"
	AttributeQueueStatus     = "queueStatus"
	AttributeNodeState       = "nodeState"
	AttributeNodeExtraState  = "nodeExtraState"
	AttributeNodeStatus      = "nodeStatus"
	AttributeJobState        = "jobState"
	AttributeJobStatus       = "jobStatus"
	AttributeJobMessage      = "jobStatusMessage"
	AttributeProcessState    = "processState"
	AttributeProcessNodeID   = "processNodeId"
	AttributeProcessIndex    = "processIndex"
	AttributeProcessExitCode = "processExitCode"
)

// The ids of the attributes that package monitor gives elements.
const (
	// Of resource managers: when the listings last succeeded, why what is shown is
	// older than it should be, and what was wrong with what was listed.
	AttributeListedJobs   = "rmListedJobs"
	AttributeListedNodes  = "rmListedNodes"
	AttributeListedQueues = "rmListedQueues"
	AttributeUnlisted     = "rmUnlisted" // the kinds of elements that the scheduler has no listing of, such as "node"
	AttributeStale        = "rmStale"
	AttributeProblems     = "rmProblems" // what was wrong with the listings, a text for each kind of problem

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
	AttributeJobEnsemble  = "jobEnsemble"
	AttributeJobPart      = "jobPart"
	AttributeJobDoubt     = "jobDoubt"
	AttributeJobOutput    = "jobOutputPath"
	AttributeJobErrors    = "jobErrorPath"
	// The state is the one on record, and others may have seen a newer one already.
	AttributeJobUnconfirmed = "jobUnconfirmed"

	// Predefined ones of jobs that a monitor gives.
	AttributeJobUser     = "userId"
	AttributeJobQueue    = "queueId"
	AttributeJobLaunched = "launchedByPTP" // "true" for a job that this user submitted through rmctl
)
