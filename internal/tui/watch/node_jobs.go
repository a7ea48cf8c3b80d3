package watch

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// mostJobsOnNode is how many jobs are shown of a node.
const mostJobsOnNode = 1000

// A nodeJobsMsg is which jobs have a node.
type nodeJobsMsg struct {
	of      *detail
	manager *model.Manager // the picture that they were found in
	jobs    []row
}

// findJobs has the jobs found that have the node which is shown, unless they were in
// this picture, or are being found. Among many that takes a while.
func (d *display) findJobs() {
	s := d.detail
	if s.kind != model.Node || s.gone || s.finding || s.found == s.last.manager {
		return
	}
	s.finding = true
	m := nodeJobsMsg{of: s, manager: s.last.manager}
	d.background(func() tea.Msg {
		for job := range monitor.JobsOn(m.manager, s.of.id) {
			if m.jobs = append(m.jobs, row{m.manager, job}); len(m.jobs) == mostJobsOnNode {
				break
			}
		}
		return m
	})
}

func (m nodeJobsMsg) take() {
	m.of.jobs, m.of.found, m.of.finding = m.jobs, m.manager, false
}

// jobLine describes a job on one line.
func jobLine(job row) string {
	var parts []string
	for _, part := range []string{jobDetail(job, time.Time{}), job.text(vocabulary.AttributeJobUser), job.text(vocabulary.AttributeName), jobQueue(job, time.Time{}), job.text(vocabulary.AttributeJobNodes)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}
