package control

import (
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/job"
)

// requestOf returns a submission as text to store with the job. It is empty if the text cannot
// represent the submission.
func (c *session) requestOf(s job.Submission) string {
	text, err := requested.Encode(c.target, s)
	if err != nil {
		c.log.Debug("cannot record the request of a submission", "error", err)
	}
	return text
}
