package reader

import (
	"strings"

	"github.com/rmctl/rmctl/config"
)

// jobTable returns a table of three columns.
func jobTable(separator string) *config.Source {
	return &config.Source{Kind: config.Table, Separator: separator, Columns: []string{"id", "state", "name"}}
}

// scontrolStanzas reads scontrol show job.
func scontrolStanzas() *config.Source {
	return &config.Source{
		Kind: config.Stanzas, Begin: pattern(`JobId=\d+ `), Field: pattern(`([A-Za-z][\w:/]*)=(\S*)`),
		Rest: []string{"JobName", "Command", "Comment", "AdminComment", "WorkDir", "StdErr", "StdOut"},
	}
}

// qstatStanzas reads qstat -f -w.
func qstatStanzas() *config.Source {
	return &config.Source{
		Kind: config.Stanzas, Begin: pattern(`Job Id: (\S+)`), Columns: []string{"id"}, Field: pattern(` {4}(\S+) = (.*)`),
	}
}

// foldedStanzas reads qstat -f.
func foldedStanzas() *config.Source {
	folded := qstatStanzas()
	folded.Continued, folded.Until = pattern(`\t`), "Variable_List"
	return folded
}

// submitLines reads the answer of sbatch.
func submitLines() []*config.Source {
	return []*config.Source{
		{Kind: config.Lines, Expression: pattern(`(?:sbatch: )?Submitted batch job (\d+)(?: on cluster \S+)?\s*|(\d+);[\w.-]+\s*`), Columns: []string{"id", "id"}},
		{Kind: config.Lines, Expression: pattern(`(\d+)\s*`), Columns: []string{"id"}, Only: true},
	}
}

// bhistLog reads bhist -l.
func bhistLog() *config.Source {
	event := func(expression, columns, time, clears string) *config.LogEvent {
		return &config.LogEvent{Expression: pattern(expression), Columns: strings.Fields(columns), Time: time, Clears: strings.Fields(clears)}
	}
	return &config.Source{
		Kind: config.Log, Begin: pattern(`Job <(\d+(?:\[\d+\])?)>.*`), Columns: []string{"id"}, Continued: pattern(` {21}(?: {5})?`),
		Time: pattern(`(\w{3} \w{3} +\d+ [\d:]+\d(?: \d{4})?): +`),
		Lines: []*config.LogEvent{
			event(`Submitted from host .*? to Queue <([^>]*)>.*`, "queue", "made", ""),
			event(`(?:Dispatched|Starting) .*`, "", "begun", "word"),
			event(`(?:Pending:|Requeue|Running ).*`, "", "", "word code signal why"),
			event(`(Done) successfully\..*`, "word", "finished", ""),
			event(`(Exited) with exit code (\d+).*`, "word code", "finished", ""),
			event(`Completed <(exit)>.*?(?:; (TERM_.*?))?[.;]? *`, "word why", "finished", ""),
		},
	}
}

// everySource returns a definition of every kind of text source.
func everySource() [][]*config.Source {
	withHeader := &config.Source{Kind: config.Table, Header: true}
	withWidths := &config.Source{Kind: config.Table, Columns: []string{"id", "state", "name"}, Widths: []int{4, 3}}
	return [][]*config.Source{
		{jobTable(config.MarkSeparator)}, {jobTable("|")}, {jobTable("")}, {withHeader}, {withWidths},
		{scontrolStanzas()}, {qstatStanzas()}, {foldedStanzas()}, submitLines(), {bhistLog()},
	}
}

// sampleOutput returns a valid output for a source.
func sampleOutput(definition *config.Source) string {
	switch {
	case definition.Separator == config.MarkSeparator:
		return "Welcome\n" + marked("51", "RUNNING", "a\n52") + marked("52", "PENDING") + marked("53", "N/A", "\nx")
	case definition.Kind == config.Table && definition.Separator != "":
		return "51|RUNNING|a b\r\n\n52|PENDING\n53|N/A|x|y\n"
	case definition.Kind == config.Table:
		return "ID  ST NAME\n51  R  a b\n\n52  PD\n53  N/Ax\n"
	case definition.Kind == config.Lines:
		return "Welcome\nSubmitted batch job 51\n52;cluster\n"
	case definition.Kind == config.Log:
		return "\nJob <51>, Job Name <a>, Command <#!/bin/sh;\n                     x>\nSun Jan 10 17:50:11 2027: Submitted from host <login>, to Queue <nor\n" +
			"                     mal>, CWD <$HOME>;\nSun Jan 10 17:50:12 2027: Starting (Pid 1);\nSun Jan 10 17:52:30 2027: Done successfully. x;\n\nJob <52>, x\n"
	case definition.Until != "":
		return "Job Id: 51.pbs01\n    Job_Name = a\n    comment = Not Running: Queue \n\tnot started.\n    Variable_List = A=b,\n\tC=d\n    substate = 10\n\n" +
			"Job Id: 52.pbs01\n    job_state = R\n    job_state = F\n"
	case len(definition.Columns) > 0:
		return "Job Id: 51.pbs01\n    Job_Name = a\n    job_state = R\n\nJob Id: 52.pbs01\n    Job_Name = N/A\n    job_state = F\n"
	}
	return "JobId=51 JobName=a JobState=F\n   JobState=RUNNING Reason=(null) CPUs/Task=1\n   Command=/x y=z\n\nJobId=52 JobName=b\n   JobState=FAILED\nJobState=R\n"
}
