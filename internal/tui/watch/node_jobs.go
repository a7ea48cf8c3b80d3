package watch

import (
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// mostJobsOnNode is how many jobs are shown of a node.
const mostJobsOnNode = 1000

// findJobs finds the jobs on the shown node, once for each picture. It does so in the
// background: among many jobs that takes a while.
func (d *display) findJobs() {
	s := d.detail
	if s.kind != model.Node || s.gone || s.finding || s.found == s.last.manager {
		return
	}
	s.finding = true
	manager := s.last.manager
	d.background(func() tui.Apply {
		var jobs []row
		for job := range monitor.JobsOn(manager, s.ref.id) {
			if jobs = append(jobs, row{manager, job}); len(jobs) == mostJobsOnNode {
				break
			}
		}
		return func() { s.jobs, s.found, s.finding = jobs, manager, false }
	})
}

// jobLine describes a job on one line.
func jobLine(job row) string {
	var parts []string
	for _, part := range []string{jobState(job, time.Time{}), job.text(vocabulary.AttributeJobUser), job.text(vocabulary.AttributeName), jobQueue(job, time.Time{}), job.text(vocabulary.AttributeJobNodes)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}
