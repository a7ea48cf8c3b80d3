package reader

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// benchmarkSource repeatedly reads an output with a number of records.
func benchmarkSource(b *testing.B, output string, records int, definitions ...*config.Source) {
	b.Helper()
	b.SetBytes(int64(len(output)))
	b.ReportAllocs()
	for b.Loop() {
		count := 0
		source, err := newTextSource(definitions, strings.Fields("None N/A Unknown (null)"), testMark, func(record *Record) error {
			if record.Damage == "" {
				count++
			}
			return nil
		})
		require.NoError(b, err)
		for rest := []byte(output); len(rest) > 0; {
			part := rest[:min(32<<10, len(rest))]
			rest = rest[len(part):]
			_, err := source.Write(part)
			require.NoError(b, err)
		}
		require.NoError(b, source.Close())
		require.Equal(b, records, count)
	}
}

// squeueRows returns rows of squeue with twelve columns.
func squeueRows(count int) string {
	var output strings.Builder
	for i := range count {
		output.WriteString(marked(fmt.Sprint(100_000+i), "RUNNING", "None", "debug", "node[001-004]", "2026-11-23T09:26:25",
			"2026-11-23T09:26:25", "N/A", "rmtest", "128", "/home/rmtest/work/a.sh", "simulation"))
	}
	return output.String()
}

func squeueTable() *config.Source {
	return &config.Source{
		Kind: config.Table, Separator: config.MarkSeparator,
		Columns: strings.Fields("id JobState Reason Partition NodeList SubmitTime StartTime EndTime UserId NumCPUs Command JobName"),
	}
}

func BenchmarkMarkedTable(b *testing.B) {
	benchmarkSource(b, squeueRows(100_000), 100_000, squeueTable())
}

func BenchmarkScontrol(b *testing.B) {
	const record = `JobId=%d JobName=timeout job
   UserId=rmtest(1001) GroupId=rmtest(1001) MCS_label=N/A
   Priority=4294901757 Nice=0 Account=(null) QOS=(null)
   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:15
   RunTime=00:01:15 TimeLimit=00:01:00 TimeMin=N/A
   SubmitTime=2026-11-20T12:26:48 EligibleTime=2026-11-20T12:26:48
   AccrueTime=2026-11-20T12:26:48
   StartTime=2026-11-20T12:26:48 EndTime=2026-11-20T12:28:03 Deadline=N/A
   SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-20T12:26:48 Scheduler=Main
   Partition=debug AllocNode:Sid=localhost:4141
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=rmn1
   BatchHost=rmn1
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=1,node=1,billing=1
   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0
   Features=(null) DelayBoot=00:00:00
   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)
   Command=(null)
   WorkDir=/home/rmtest/work
   StdErr=/home/rmtest/work/slurm-3.out
   StdIn=/dev/null
   StdOut=/home/rmtest/work/slurm-3.out
   Power=

`
	var output strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&output, record, i)
	}
	benchmarkSource(b, output.String(), 10_000, scontrolStanzas())
}

func BenchmarkQstat(b *testing.B) {
	const record = `Job Id: %d.pbs01
    Job_Name = odd_env
    Job_Owner = rmtest@pbs01
    job_state = Q
    queue = stopq
    server = pbs01
    Checkpoint = u
    ctime = Fri Nov 20 12:40:55 2026
    Error_Path = pbs01:/home/rmtest/work/odd_env.e2402
    Hold_Types = n
    Join_Path = n
    Keep_Files = n
    Mail_Points = a
    mtime = Fri Nov 20 12:40:55 2026
    Output_Path = pbs01:/home/rmtest/work/odd_env.o2402
    Priority = 0
    qtime = Fri Nov 20 12:40:55 2026
    Rerunable = True
    Resource_List.ncpus = 1
    Resource_List.nodect = 1
    Resource_List.place = pack
    Resource_List.select = 1:ncpus=1
    substate = 10
    Variable_List = PBS_O_HOME=/home/rmtest,PBS_O_LANG=C.UTF-8,PBS_O_LOGNAME=rmtest,PBS_O_PATH=/opt/pbs/bin:/opt/pbs/sbin:/usr/local/bin:/usr/bin:/bin,PBS_O_SHELL=/bin/bash
    comment = Not Running: Queue not started.
    etime = Fri Nov 20 12:40:55 2026
    Submit_arguments = -V odd.sh
    project = _pbs_project_default
    Submit_Host = pbs01

`
	var output strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&output, record, i)
	}
	benchmarkSource(b, output.String(), 10_000, qstatStanzas())
}
