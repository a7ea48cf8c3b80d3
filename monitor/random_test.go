package monitor_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A chance generates the next actions of a scheduler and a user. It uses few ids, so that they
// repeat.
type chance struct {
	*rand.Rand
	recorded map[string]job.Job // by tag
	tags     int
}

func (c *chance) of(texts ...string) string { return texts[c.IntN(len(texts))] }

// rows generates the rows of a listing. Recorded jobs have their tag.
func (c *chance) rows() []row {
	var rows []row
	for id := range 12 {
		if c.IntN(3) == 0 {
			continue
		}
		facts := []string{"state=" + c.of("QUEUED_ACTIVE", "RUNNING", "SUSPENDED", "COMPLETED", "NAPPING", ""), "queue=" + c.of("", "a", "b", "a,b"), "nodes=" + c.of("", "n1", "n[1-2]"), "name=" + c.of("x", "y")}
		var tags []string
		for tag, job := range c.recorded {
			if job.ID == fmt.Sprint(id) {
				tags = append(tags, tag)
			}
		}
		slices.Sort(tags)
		if len(tags) > 0 && c.IntN(4) > 0 {
			facts = append(facts, "identity="+c.of(tags...))
		} else {
			facts = append(facts, "identity=of-somebody")
		}
		rows = append(rows, rowOf(fmt.Sprint(id), facts...))
	}
	return rows
}

// happens generates a change of the record.
func (c *chance) happens() {
	for range c.IntN(4) {
		c.tags++
		tag := fmt.Sprintf("tag-%d", c.tags)
		c.recorded[tag] = job.Job{Tag: tag, ID: c.of("", "1", "2", "3", "4"), Observation: job.Observation{Identity: tag, Detail: job.Detail(c.of("SUBMITTED", "RUNNING", "COMPLETED"))}}
	}
	for _, tag := range slices.Sorted(maps.Keys(c.recorded)) {
		j := c.recorded[tag]
		switch c.IntN(6) {
		case 0:
			delete(c.recorded, tag)
		case 1:
			j.Detail = job.Failed
			c.recorded[tag] = j
		}
	}
}

// elements returns the ids of the expected elements, with their tags.
func (c *chance) elements(rows []row) map[string]string {
	elements, shown := map[string]string{}, map[string]bool{}
	for _, r := range rows {
		tag := r.facts["identity"]
		if _, isOwn := c.recorded[tag]; !isOwn {
			tag = ""
		}
		elements[r.id], shown[tag] = tag, true
	}
	for tag, job := range c.recorded {
		if shown[tag] {
			continue
		}
		isNewest := true
		for other, job2 := range c.recorded {
			isNewest = isNewest && !(other != tag && job2.ID == job.ID && job2.Created.After(job.Created))
		}
		_, isTaken := elements[job.ID]
		if job.ID == "" || isTaken || !isNewest {
			elements[tag] = tag
		} else {
			elements[job.ID] = tag
		}
	}
	return elements
}

// After a complete listing the model has exactly the listed elements and the recorded jobs,
// whatever was listed before.
func TestACompleteListingRemovesMissingElements(t *testing.T) {
	for seed := range uint64(20) {
		watching(t, func(t *testing.T, w *watch) {
			c := &chance{Rand: rand.New(rand.NewPCG(seed, 1)), recorded: map[string]job.Job{}}
			w.source.set(model.Node, nil, rowOf("n1", "state=UP"), rowOf("n2", "state=UP"))
			w.begin()
			for range 20 {
				c.happens()
				var jobs []job.Job
				for _, job := range c.recorded {
					// No two submissions are recorded at one moment.
					var number int
					_, err := fmt.Sscanf(job.Tag, "tag-%d", &number)
					require.NoError(t, err)
					job.Created = time.Date(number, 1, 1, 0, 0, 0, 0, time.UTC)
					c.recorded[job.Tag] = job
					jobs = append(jobs, job)
				}
				w.record.set(jobs...)
				if c.IntN(2) == 0 {
					w.source.set(model.Job, errors.New("cut"), c.rows()...)
					w.again()
				}
				rows := c.rows()
				w.source.set(model.Job, nil, rows...)
				w.again()
				w.again() // a job on record whose id was listed before is distinguished from others by the next listing
				elements := map[string]string{}
				for job := range w.manager().All(model.Job) {
					tag, _ := job.Value(vocabulary.AttributeJobTag)
					elements[job.ID()] = tag.Text()
				}
				require.Equal(t, c.elements(rows), elements)
				for queue := range w.manager().All(model.Queue) {
					require.NotEmpty(t, slices.Collect(w.manager().Children(model.Job, queue.ID())), "queue %s is of no job", queue.ID())
				}
			}
		})
	}
}
