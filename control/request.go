package control

import (
	"fmt"

	"github.com/rmctl/rmctl/internal/document"

	"github.com/rmctl/rmctl/job"
)

// requestTarget is the key of the target in the recorded request of a job. The others
// are those of a submission, so that the request can be read as a launch configuration.
const requestTarget = "target"

// requestOf returns a submission as TOML, to be kept with the job. It is empty if TOML
// cannot hold it.
func (c *session) requestOf(s job.Submission) string {
	settings := []document.Setting{{Key: requestTarget, Value: c.target}}
	text, err := document.EncodeTOML(append(settings, document.Settings(s.Over(job.Submission{}), nil)...))
	if err == nil {
		_, err = parseRequest(text)
	}
	if err != nil {
		c.log.Debug("cannot record the request of a submission", "error", err)
		return ""
	}
	return string(text)
}

// requestFor returns the submission that was made for a job. The job must be complete,
// as Store.ByTag returns it.
func requestFor(j job.Job) (job.Submission, error) {
	if j.Request == "" {
		return job.Submission{}, fmt.Errorf("what was asked for when job %q was submitted is not recorded", j.ID)
	}
	s, err := parseRequest([]byte(j.Request))
	if err != nil {
		return s, fmt.Errorf("reading what was asked for when job %q was submitted: %w", j.ID, err)
	}
	return s, nil
}

func parseRequest(text []byte) (job.Submission, error) {
	table, err := document.ParseTOML(text)
	if err != nil {
		return job.Submission{}, err
	}
	table.Text(requestTarget)
	s := table.Submission()
	return s, table.Err()
}
