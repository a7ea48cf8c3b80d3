package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Claims know which submission has a job on record, and read the record once for many
// submissions.
type Claims struct {
	Store                          *jobstore.Store
	Target, Definition, Connection string // of the scheduler of the jobs

	known map[string][]job.Job
}

// of returns the tag of another submission that has the job with an id on record, or an empty
// text. A job that had ended before the submission was made had the same id earlier.
func (c *Claims) of(ctx context.Context, id string, j job.Job) (tag string, err error) {
	known, isRead := c.known[id]
	if !isRead {
		if known, err = c.Store.Find(ctx, id, ""); err != nil && !errors.Is(err, jobstore.ErrNotFound) {
			return "", err
		}
		if c.known == nil {
			c.known = map[string][]job.Job{}
		}
		c.known[id] = known
	}
	for _, other := range known {
		isSameScheduler := (other.Connection == "" || other.Connection == c.Connection) &&
			(other.Target == c.Target || other.Definition == c.Definition)
		isEarlier := other.Detail.Ended() && other.Observed.Before(j.Created)
		if other.Tag != j.Tag && isSameScheduler && !isEarlier {
			return other.Tag, nil
		}
	}
	return "", nil
}

// Without removes ids whose jobs are on record for other submissions.
func (c *Claims) Without(ctx context.Context, ids []string, j job.Job) ([]string, error) {
	var left []string
	for _, id := range ids {
		claimed, err := c.of(ctx, id, j)
		if err != nil {
			return nil, err
		}
		if claimed == "" && !slices.Contains(left, id) {
			left = append(left, id)
		}
	}
	return left, nil
}

// clockSlack is how much the clock of a scheduler may differ.
const clockSlack = 10 * time.Minute

// Contradiction returns why a job that its scheduler knows cannot be that of a submission of a
// user; nil if nothing is known to speak against it.
func (c *Claims) Contradiction(ctx context.Context, j, found job.Job, user string) error {
	claimed, err := c.of(ctx, found.ID, j)
	if err == nil && claimed == "" && found.ShortID != found.ID {
		claimed, err = c.of(ctx, found.ShortID, j)
	}
	owner, _, _ := strings.Cut(found.Owner, "@")
	submitted, isDated := timezone.ParseTime(found.Submitted, time.Local)
	isTagged := uuid.Validate(found.Identity) == nil
	switch {
	case err != nil:
		return err
	case claimed != "":
		return fmt.Errorf("job %s is on record for submission %s", found.ID, claimed)
	case isTagged && found.Identity != j.Tag:
		return fmt.Errorf("job %s belongs to submission %s, according to its scheduler", found.ID, found.Identity)
	case owner != "" && user != "" && owner != user:
		return fmt.Errorf("job %s belongs to user %s, not to %s", found.ID, owner, user)
	case isDated && submitted.Before(j.Created.Add(-clockSlack)):
		return fmt.Errorf("job %s was submitted at %s, before submission %s at %s", found.ID,
			submitted.Format(time.DateTime), j.Tag, j.Created.Format(time.DateTime))
	}
	return nil
}
