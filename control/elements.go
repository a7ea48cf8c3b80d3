package control

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// A Node is what a scheduler says about a machine. Unknown facts are empty or nil.
// The JSON is a contract with scripts.
type Node struct {
	Name     string   `json:"name"`
	Target   string   `json:"target"`
	State    string   `json:"state,omitempty"`  // UP, DOWN, ERROR or UNKNOWN
	Native   string   `json:"native,omitempty"` // the scheduler's word for the state
	CPUs     *int     `json:"cpus,omitempty"`
	CPUsUsed *int     `json:"cpusUsed,omitempty"`
	Memory   *int     `json:"memory,omitempty"` // MiB
	Load     *float64 `json:"load,omitempty"`
	Queues   []string `json:"queues,omitempty"`
	Reason   string   `json:"reason,omitempty"` // why it is in this state
	Seen     string   `json:"seen,omitempty"`   // when it was listed, where listings follow one another
}

// A Queue is what a scheduler says about a queue. Unknown facts are empty or nil. The
// JSON is a contract with scripts.
type Queue struct {
	Name      string `json:"name"`
	Target    string `json:"target"`
	State     string `json:"state,omitempty"`   // NORMAL, COLLECTING (starts no job), DRAINING (accepts no job) or STOPPED
	Native    string `json:"native,omitempty"`  // the scheduler's word for the state
	Default   bool   `json:"default,omitempty"` // gets the jobs that name no queue
	TimeLimit string `json:"timeLimit,omitempty"`
	Running   *int   `json:"running,omitempty"` // jobs
	Waiting   *int   `json:"waiting,omitempty"`
	Nodes     *int   `json:"nodes,omitempty"`
	Seen      string `json:"seen,omitempty"` // when it was listed, where listings follow one another
}

// ListNodes lists the nodes of the target with x:list-nodes, sorted by name. A
// definition without it gives an *UnsupportedError.
func (c *Controller) ListNodes(ctx context.Context) ([]Node, error) {
	var rows command.RowSet
	if _, err := c.Rows(ctx, config.ListNodes, "", rows.Add); err != nil {
		return nil, err
	}
	return c.NodesOf(rows.Rows()), nil
}

// NodesOf returns the nodes in rows of x:list-nodes, by name.
func (c *Controller) NodesOf(rows []command.Row) []Node {
	nodes := make([]Node, 0, len(rows))
	for _, row := range command.ByName(rows) {
		node := Node{
			Name: row.ID, Target: c.target, State: row.Fact("state"), Native: row.Fact("native"), Reason: row.Fact("reason"),
			CPUs: job.Number(row.Fact("cpus")), CPUsUsed: job.Number(row.Fact("cpusUsed")), Memory: job.Number(row.Fact("memory")),
		}
		if load, err := strconv.ParseFloat(row.Fact("load"), 64); err == nil && !math.IsNaN(load) && !math.IsInf(load, 0) {
			node.Load = &load
		}
		if queues := row.Fact("queues"); queues != "" {
			node.Queues = strings.Split(queues, ",")
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// ListQueues lists the queues of the target with x:list-queues, sorted by name. With a
// definition without it they are those of [Controller.Queues], and only their names are
// known.
func (c *Controller) ListQueues(ctx context.Context) ([]Queue, error) {
	if c.definition.Command(config.ListQueues) == nil {
		names, err := c.Queues(ctx)
		queues := make([]Queue, len(names))
		for i, name := range names {
			queues[i] = Queue{Name: name, Target: c.target}
		}
		return queues, err
	}
	var rows command.RowSet
	if _, err := c.Rows(ctx, config.ListQueues, "", rows.Add); err != nil {
		return nil, err
	}
	return c.QueuesOf(rows.Rows()), nil
}

// QueuesOf returns the queues in rows of x:list-queues, by name.
func (c *Controller) QueuesOf(rows []command.Row) []Queue {
	queues := make([]Queue, 0, len(rows))
	for _, row := range command.ByName(rows) {
		queues = append(queues, Queue{
			Name: row.ID, Target: c.target, State: row.Fact("state"), Native: row.Fact("native"), Default: row.Fact("default") == "true", TimeLimit: row.Fact("timeLimit"),
			Running: job.Number(row.Fact("running")), Waiting: job.Number(row.Fact("waiting")), Nodes: job.Number(row.Fact("nodes")),
		})
	}
	return queues
}

// JobsOf returns the jobs of anybody in rows of x:list-jobs, in the order of the rows.
// Times of another time zone than that of this machine have their zone, after RFC 3339.
func (c *Controller) JobsOf(rows []command.Row) []job.Document {
	zone := c.jobsZone()
	jobs := make([]job.Document, len(rows))
	for i, row := range rows {
		listed := job.Observe(row.Fact)
		if detail, known := job.ParseDetail(row.Fact("state")); known {
			listed.Detail = detail // UNDETERMINED is shown, too
		}
		listed.Submitted, listed.Started, listed.Ended = zone.tell(listed.Submitted), zone.tell(listed.Started), zone.tell(listed.Ended)
		jobs[i] = job.ListedDocument(row.ID, c.target, listed)
	}
	return jobs
}
