package listings

import (
	"time"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// RecordedJobs is how jobs on record are printed, with the time of their submission.
func RecordedJobs(seen string) Kind[*job.Job] {
	now := time.Now()
	document := func(j *job.Job) any {
		document := j.Document()
		document.Seen = seen
		return document
	}
	return Kind[*job.Job]{Document: document, Columns: []Column[*job.Job]{
		{"JOB", func(j *job.Job) string { return terminal.OrDash(j.ID) }},
		{"TARGET", func(j *job.Job) string { return terminal.OrDash(j.Target) }},
		{"DETAIL", func(j *job.Job) string { return string(j.DetailOrUndetermined()) }},
		{"SUBMITTED", func(j *job.Job) string { return ago(j.SubmittedAt(), now) }},
		{"NAME", func(j *job.Job) string { return terminal.OrDash(j.Name) }},
		{"", func(j *job.Job) string { return Remark(*j) }},
	}}
}

func ago(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return terminal.Age(at, now) + " ago"
}

// A Status is a job whose state was queried.
type Status struct {
	job.Job
	Document any // for JSON
}

// StatusOfJobs is how the states of jobs are printed, with the time of their observation.
func StatusOfJobs() Kind[Status] {
	now := time.Now()
	return Kind[Status]{Document: func(s Status) any { return s.Document }, Columns: []Column[Status]{
		{"JOB", func(s Status) string { return terminal.OrDash(s.ID) }},
		{"TARGET", func(s Status) string { return terminal.OrDash(s.Target) }},
		{"STATE", func(s Status) string { return string(s.Detail.Primary()) }},
		{"DETAIL", func(s Status) string { return string(s.DetailOrUndetermined()) }},
		{"QUEUE", func(s Status) string { return terminal.OrDash(s.Queue) }},
		{"SEEN", func(s Status) string { return terminal.Age(s.Observed, now) }},
		{"", func(s Status) string { return Remark(s.Job) }},
	}}
}

// PrintJobsOfEveryone prints the jobs that a scheduler lists.
func PrintJobsOfEveryone(output Output, jobs []job.Document) error {
	if len(jobs) == 0 {
		output.sayNone("the scheduler lists no job; it may not list those that have ended")
	}
	document := func(listed job.Document) any {
		listed.Seen = output.Seen
		return listed
	}
	text := func(title string, of func(*job.Document) string) Column[job.Document] {
		return Column[job.Document]{title, func(d job.Document) string { return terminal.OrDash(of(&d)) }}
	}
	return Kind[job.Document]{Document: document, Columns: []Column[job.Document]{
		text("JOB", func(d *job.Document) string { return d.ID }),
		text("USER", func(d *job.Document) string { return d.Owner }),
		text("DETAIL", func(d *job.Document) string { return d.Detail }),
		text("QUEUE", func(d *job.Document) string { return d.Queue }),
		text("NAME", func(d *job.Document) string { return d.Name }),
		text("SUBMITTED", func(d *job.Document) string { return d.Submitted }),
		text("NODES", func(d *job.Document) string { return d.Nodes }),
		text("REASON", func(d *job.Document) string { return d.Reason }),
	}}.PrintAll(output, jobs)
}
