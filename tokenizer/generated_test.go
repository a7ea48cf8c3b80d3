package tokenizer_test

import (
	"bytes"
	"fmt"
)

// The streams below imitate the output of schedulers, for benchmarks.

// slurmRecords is output like that of scontrol -d show job for jobs on many nodes: 25 lines a record and
// one for each node. One line has the state.
func slurmRecords(size, nodes int) []byte {
	var stream bytes.Buffer
	for job := 1; stream.Len() < size; job++ {
		fmt.Fprintf(&stream, "JobId=%d JobName=relax-%d\n", job, job%977)
		fmt.Fprintf(&stream, "   UserId=user%d(%d) GroupId=physics(2000) MCS_label=N/A\n", job%40, 1000+job%40)
		fmt.Fprintf(&stream, "   Priority=%d Nice=0 Account=(null) QOS=(null)\n", 4294901759-job)
		fmt.Fprintf(&stream, "   JobState=%s Reason=None Dependency=(null)\n", []string{"RUNNING", "PENDING", "COMPLETED", "FAILED"}[job%4])
		stream.WriteString("   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n" +
			"   DerivedExitCode=0:0\n" +
			"   RunTime=00:12:07 TimeLimit=00:20:00 TimeMin=N/A\n" +
			"   SubmitTime=2026-11-20T12:26:48 EligibleTime=2026-11-20T12:26:48\n" +
			"   AccrueTime=2026-11-20T12:26:48\n" +
			"   StartTime=2026-11-20T12:27:03 EndTime=2026-11-20T12:47:03 Deadline=N/A\n" +
			"   SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-20T12:27:03 Scheduler=Main\n" +
			"   Partition=batch AllocNode:Sid=login1:4141\n" +
			"   ReqNodeList=(null) ExcNodeList=(null)\n" +
			"   NodeList=node[0001-0999]\n" +
			"   BatchHost=node0001\n" +
			"   NumNodes=75 NumCPUs=600 NumTasks=600 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n" +
			"   TRES=cpu=600,node=75,billing=600\n" +
			"   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*\n" +
			"   JOB_GRES=(null)\n")
		for node := 1; node <= nodes; node++ {
			fmt.Fprintf(&stream, "     Nodes=node%04d CPU_IDs=0-7 Mem=4096 GRES=\n", node)
		}
		stream.WriteString("   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0\n" +
			"   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)\n")
		fmt.Fprintf(&stream, "   StdOut=/home/user%d/run/slurm-%d.out\n", job%40, job)
		stream.WriteString("   Power=\n   \n\n")
	}
	return stream.Bytes()
}

// pbsTable is output like that of qstat.
func pbsTable(rows int) []byte {
	var stream bytes.Buffer
	stream.WriteString("Job id            Name             User              Time Use S Queue\n" +
		"----------------  ---------------- ----------------  -------- - -----\n")
	for row := range rows {
		fmt.Fprintf(&stream, "%-17s %-16s %-16s  %8s %c %-5s\n", fmt.Sprintf("%d.server", 100000+row),
			fmt.Sprintf("simulation%d", row%1000), fmt.Sprintf("user%d", row%40), fmt.Sprintf("%02d:%02d:%02d", row%24, row%60, row%59),
			"QRHE"[row%4], "batch")
	}
	return stream.Bytes()
}

// pbsNearMisses are rows of many columns without a state: four greedy loops
// that overlap try all ways of sharing them.
func pbsNearMisses(rows int) []byte {
	var stream bytes.Buffer
	for row := range rows {
		fmt.Fprintf(&stream, "%d.srv", row)
		for column := range 40 {
			fmt.Fprintf(&stream, " %d", column)
		}
		stream.WriteByte('\n')
	}
	return stream.Bytes()
}

// ompiParameters is output like that of ompi_info --all --parseable.
func ompiParameters(size int) []byte {
	var stream bytes.Buffer
	stream.WriteString("ompi:version:full:1.8\n")
	for parameter := 0; stream.Len() < size; parameter++ {
		framework := []string{"btl", "coll", "pml", "orte", "mpool", "osc"}[parameter%6]
		name := fmt.Sprintf("%s_component_setting_%d", framework, parameter)
		prefix := fmt.Sprintf("mca:%s:base:param:%s:", framework, name)
		access := []string{"writable", "read-only"}[parameter%2]
		fmt.Fprintf(&stream, "%svalue:%d\n%sdata_source:default value\n%sstatus:%s\n", prefix, parameter%17, prefix, prefix, access)
		fmt.Fprintf(&stream, "%shelp:What setting number %d is for, in as many words as such texts use to have\n%sdeprecated:no\n", prefix, parameter, prefix)
		if parameter%5 == 0 {
			fmt.Fprintf(&stream, "option:build:%d:yes\n", parameter)
		}
	}
	return stream.Bytes()
}

// taggedJobs has one tagged job in about 1950 characters of other text.
func taggedJobs(size int) []byte {
	var stream bytes.Buffer
	for job := 0; stream.Len() < size; job++ {
		fmt.Fprintf(&stream, "<job>%d:%s</job>", 100000+job%1000, []string{"RUNNING", "QUEUED", "DONE"}[job%3])
		for range 39 {
			stream.WriteString("some text of the scheduler between the jobs here,\n")
		}
	}
	return stream.Bytes()
}

// jobListing has a row of seven columns for each job.
func jobListing(jobs int) []byte {
	var stream bytes.Buffer
	for job := range jobs {
		fmt.Fprintf(&stream, "%d|relax-%d|user%d|%s|batch|2026-11-20T12:%02d:%02d|%d\n", 1000000+job, job%977, job%400,
			[]string{"RUNNING", "PENDING", "COMPLETING"}[job%3], job%60, job%59, 1+job%64)
	}
	return stream.Bytes()
}
