package vocabulary

import "sync"

// IsKnown reports whether listings have a fact for an attribute of elements, or rmctl finds it out
// itself. What else schedulers and agents say of elements is shown as it is.
func IsKnown(id string) bool { return known()[id] }

var known = sync.OnceValue(func() map[string]bool {
	ids := map[string]bool{}
	for _, id := range []string{
		AttributeID, AttributeName, AttributeRMState, AttributeMachineState,
		AttributeQueueState, AttributeQueueStatus, AttributeNodeState, AttributeNodeExtraState,
		AttributeNodeStatus, AttributeJobState, AttributeJobStatus, AttributeJobMessage,
		AttributeProcessState, AttributeProcessNodeID, AttributeProcessIndex, AttributeProcessExitCode,
		AttributeListedJobs, AttributeListedNodes, AttributeListedQueues, AttributeUnlisted,
		AttributeStale, AttributeProblems, AttributeNodeCPUs, AttributeNodeCPUsUsed,
		AttributeNodeMemory, AttributeNodeLoad, AttributeNodeQueues, AttributeNodeReason,
		AttributeQueueDefault, AttributeQueueTimeLimit, AttributeQueueRunning, AttributeQueueWaiting,
		AttributeQueueNodes, AttributeJobDetail, AttributeJobNodes, AttributeJobSubmitted,
		AttributeJobStarted, AttributeJobEnded, AttributeJobExitCode, AttributeJobSignal,
		AttributeJobCPUs, AttributeJobTag, AttributeJobOutput, AttributeJobErrors, AttributeJobDoubt, AttributeJobUser,
		AttributeJobEnsemble, AttributeJobPart,
		AttributeJobLaunched, "rmHost", "rmCause", "rmDefinition", "rmSince",
		"rmDescription", "rmType", "rmID", "numNodes", "nodeNumber", "processPID", "processSignalName", "processStdout", "processStderr",
		"messageLevel", "messageCode", "messageText", "errorCode", "errorMsg", "filterChildren",
		"jobId", "jobSubId", AttributeJobQueue,
	} {
		ids[id] = true
	}
	return ids
})
