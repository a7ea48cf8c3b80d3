package listings

import (
	"reflect"
	"slices"
	"time"

	"github.com/rmctl/rmctl/internal/terminal"
	"github.com/rmctl/rmctl/job"
)

// jobColumns returns the columns of jobs on record. Those that are not usual are wide.
func jobColumns(usual ...string) []Column[*job.Job] {
	now := time.Now()
	text := func(title string, of func(*job.Job) string) Column[*job.Job] {
		return Column[*job.Job]{Title: title, Cell: func(j *job.Job) string { return terminal.OrDash(of(j)) }}
	}
	age := func(title, suffix string, of func(*job.Job) time.Time) Column[*job.Job] {
		return Column[*job.Job]{
			Title: title, Key: func(j *job.Job) string { return job.Timestamp(of(j).UTC().Round(0)) },
			Cell: func(j *job.Job) string {
				if of(j).IsZero() {
					return "-"
				}
				return terminal.Age(of(j), now) + suffix
			},
		}
	}
	columns := []Column[*job.Job]{
		text("JOB", func(j *job.Job) string { return j.ID }),
		text("TARGET", func(j *job.Job) string { return j.Target }),
		text("STATE", func(j *job.Job) string { return j.Detail.Word() }),
		text("DETAIL", func(j *job.Job) string { return string(j.DetailOrUndetermined()) }),
		text("NATIVE", func(j *job.Job) string { return j.Native }),
		text("QUEUE", func(j *job.Job) string { return j.Queue }),
		text("NODES", func(j *job.Job) string { return j.Nodes }),
		age("SUBMITTED", " ago", (*job.Job).SubmittedAt),
		text("STARTED", func(j *job.Job) string { return j.Started }),
		text("ENDED", func(j *job.Job) string { return j.Ended }),
		{Title: "EXIT", Cell: func(j *job.Job) string { return Number(j.ExitCode) }},
		age("SEEN", "", func(j *job.Job) time.Time { return j.Observed }),
		text("ENSEMBLE", func(j *job.Job) string { return j.Ensemble }),
		text("PART", func(j *job.Job) string { return j.Part }),
		text("TAG", func(j *job.Job) string { return j.Tag }),
		text("NAME", func(j *job.Job) string { return j.Name }),
		{Title: "NOTE", Cell: func(j *job.Job) string { return Remark(*j) }},
	}
	for i, column := range columns {
		columns[i].IsWide = !slices.Contains(usual, column.Title)
	}
	return columns
}

// nameOf returns what commands accept as the name of a job: the id, or the tag without one.
func nameOf(j *job.Job, withTarget bool) string {
	switch {
	case j.ID == "":
		return j.Tag
	case withTarget:
		return j.Target + "/" + j.ID
	}
	return j.ID
}

// RecordedJobs is how jobs on record are printed.
func RecordedJobs() Kind[*job.Job] {
	return Kind[*job.Job]{
		Columns: jobColumns("JOB", "TARGET", "STATE", "SUBMITTED", "NAME", "NOTE"), ID: nameOf,
		Document: func(j *job.Job, seen string) any {
			document := j.Document()
			document.Listed, document.Seen = seen, seen
			return document
		},
		Fields: fieldsOf(reflect.TypeFor[job.Document]()), Extra: map[string]func(*job.Job) string{"word": func(j *job.Job) string { return j.Detail.Word() }},
	}
}

// A Status is the queried state of a job.
type Status struct {
	job.Job
	Document StatusDocument
}

// A StatusDocument is a status in JSON. The names are a contract with scripts.
type StatusDocument struct {
	job.Document
	NotUnderstood int `json:"notUnderstood,omitempty"` // in answers of the target's scheduler
}

// StatusOfJobs is the listing of job states, with the times of their observation.
func StatusOfJobs() Kind[*Status] {
	kind := Kind[*Status]{
		ID:       func(s *Status, withTarget bool) string { return nameOf(&s.Job, withTarget) },
		Document: func(s *Status, _ string) any { return s.Document },
		Fields:   fieldsOf(reflect.TypeFor[StatusDocument]()), Extra: map[string]func(*Status) string{"word": func(s *Status) string { return s.Detail.Word() }},
	}
	for _, c := range jobColumns("JOB", "TARGET", "STATE", "DETAIL", "QUEUE", "SEEN", "NOTE") {
		column := Column[*Status]{Title: c.Title, IsWide: c.IsWide, Cell: func(s *Status) string { return c.Cell(&s.Job) }}
		if c.Key != nil {
			column.Key = func(s *Status) string { return c.Key(&s.Job) }
		}
		kind.Columns = append(kind.Columns, column)
	}
	return kind
}

// JobsOfEveryone is how the jobs that a scheduler lists are printed.
func JobsOfEveryone() Kind[job.Document] {
	text := func(title string, of func(*job.Document) string) Column[job.Document] {
		return Column[job.Document]{Title: title, Cell: func(d job.Document) string { return terminal.OrDash(of(&d)) }}
	}
	wide := func(c Column[job.Document]) Column[job.Document] {
		c.IsWide = true
		return c
	}
	return Kind[job.Document]{
		Columns: []Column[job.Document]{
			text("JOB", func(d *job.Document) string { return d.ID }),
			wide(text("TARGET", func(d *job.Document) string { return d.Target })),
			text("USER", func(d *job.Document) string { return d.Owner }),
			text("STATE", wordOf),
			wide(text("DETAIL", func(d *job.Document) string { return d.Detail })),
			wide(text("NATIVE", func(d *job.Document) string { return d.Native })),
			text("QUEUE", func(d *job.Document) string { return d.Queue }),
			text("NAME", func(d *job.Document) string { return d.Name }),
			text("SUBMITTED", func(d *job.Document) string { return d.Submitted }),
			wide(text("STARTED", func(d *job.Document) string { return d.Started })),
			wide(text("ENDED", func(d *job.Document) string { return d.Ended })),
			text("NODES", func(d *job.Document) string { return d.Nodes }),
			text("REASON", func(d *job.Document) string { return d.Reason }),
		},
		ID: func(d job.Document, withTarget bool) string {
			return nameOf(&job.Job{ID: d.ID, Target: d.Target}, withTarget)
		},
		Document: func(d job.Document, seen string) any {
			d.Listed, d.Seen = seen, seen
			return d
		},
		Fields: fieldsOf(reflect.TypeFor[job.Document]()), Extra: map[string]func(job.Document) string{"word": func(d job.Document) string { return wordOf(&d) }},
	}
}

// wordOf returns the word for a state that a scheduler lists, or an empty text.
func wordOf(d *job.Document) string {
	if d.Detail == "" {
		return ""
	}
	return job.Detail(d.Detail).Word()
}
