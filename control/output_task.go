package control

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/taskfile"
	"github.com/rmctl/rmctl/job"
)

// outputOfTask returns the output file of a task of an array, where name is the file of the
// whole job. A job that is not an array has no tasks.
func (c *attendant) outputOfTask(ctx context.Context, j job.Job, stream Stream, name string) (string, error) {
	task := stream.Task
	if task == "" {
		if task = c.firstTask(ctx, j); task == "" {
			return name, nil
		}
	} else if strings.Trim(task, "0123456789") != "" {
		return "", &OutputError{ID: j.ID, Err: fmt.Errorf("invalid task %q: enter a number", task)}
	}
	ids, err := c.ids()
	if err != nil {
		return "", err
	}
	number, _, isID := ids.Split(j.ID)
	isKnown := isID && c.definition.IDs != nil && len(c.definition.IDs.Outputs) > 0
	switch {
	case !isKnown && stream.Task == "":
		return name, nil
	case !isKnown:
		return "", &OutputError{ID: j.ID, Err: fmt.Errorf("definition %q does not say where the tasks of an array write", c.definition.Name)}
	}
	name = taskfile.Path(c.definition.IDs.Outputs, name, number, task)
	if stream.Chosen != nil {
		stream.Chosen(task, name)
	}
	return name, nil
}

// firstTask returns the first task of an array that has begun, or its first one; empty if the
// job is no array.
func (c *attendant) firstTask(ctx context.Context, j job.Job) string {
	tasks := reader.ParseMemory(j.Tasks)
	if first, isArray := taskfile.First(tasks.Tasks); isArray {
		return strconv.Itoa(first)
	}
	if len(tasks.Tasks) > 0 || j.Tag == "" {
		return ""
	}
	recorded, err := c.store.ByTag(ctx, j.Tag)
	if err != nil {
		return ""
	}
	for _, link := range c.definition.PortableLinks("array") {
		if first, isArray := taskfile.FirstOf(attribute.Text(recorded.Attributes[link.Attribute])); isArray {
			return strconv.Itoa(first)
		}
	}
	return ""
}
