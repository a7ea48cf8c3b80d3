// Package elements turns rows of listings into nodes, queues and jobs.
package elements

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/further"
	"github.com/rmctl/rmctl/internal/timezone"
	"github.com/rmctl/rmctl/job"
)

// A Node is a machine in a scheduler's listing. Unknown facts are empty or nil. Scripts rely on its JSON.
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
	Listed   string   `json:"listed,omitempty"` // the time of the listing, if listings repeat
	Seen     string   `json:"seen,omitempty"`   // the old name of listed, for one release

	Attributes further.Text `json:"attributes,omitempty"` // other attributes: an object with texts and lists of texts
}

// A Queue is a queue in a scheduler's listing. Unknown facts are empty or nil. Scripts rely on its JSON.
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
	Listed    string `json:"listed,omitempty"` // the time of the listing, if listings repeat
	Seen      string `json:"seen,omitempty"`   // the old name of listed, for one release

	Attributes further.Text `json:"attributes,omitempty"` // other attributes: an object with texts and lists of texts
}

// NodesOf returns the nodes of a target in rows of x:list-nodes, by name.
func NodesOf(controller *control.Controller, rows []command.Row) []Node {
	nodes := make([]Node, 0, len(rows))
	for _, row := range byName(rows) {
		node := Node{
			Name: row.ID, Target: controller.Target, State: row.Fact("state"), Native: row.Fact("native"), Reason: row.Fact("reason"),
			CPUs: job.Number(row.Fact("cpus")), CPUsUsed: job.Number(row.Fact("cpusUsed")), Memory: job.Number(row.Fact("memory")),
			Attributes: further.Object(row.Fact("attributes")),
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

// QueuesOf returns the queues of a target in rows of x:list-queues, by name.
func QueuesOf(controller *control.Controller, rows []command.Row) []Queue {
	queues := make([]Queue, 0, len(rows))
	for _, row := range byName(rows) {
		queues = append(queues, Queue{
			Name: row.ID, Target: controller.Target, State: row.Fact("state"), Native: row.Fact("native"), Default: row.Fact("default") == "true", TimeLimit: row.Fact("timeLimit"),
			Running: job.Number(row.Fact("running")), Waiting: job.Number(row.Fact("waiting")), Nodes: job.Number(row.Fact("nodes")),
			Attributes: further.Object(row.Fact("attributes")),
		})
	}
	return queues
}

// JobsOf returns the jobs in rows of x:list-jobs, in order. Times from another time zone include their
// zone, as in RFC 3339.
func JobsOf(controller *control.Controller, rows []command.Row) []job.Document {
	location := controller.Location()
	jobs := make([]job.Document, len(rows))
	for i, row := range rows {
		listed := job.Observe(row.Fact)
		if detail, known := job.ParseDetail(row.Fact("state")); known {
			listed.Detail = detail // UNDETERMINED is shown, too
		}
		if location != time.Local {
			for _, moment := range []*string{&listed.Submitted, &listed.Started, &listed.Ended} {
				*moment = timezone.WithZone(*moment, location)
			}
		}
		jobs[i] = job.ListedDocument(row.ID, controller.Target, listed)
		if attributes := further.Object(row.Fact("attributes")); attributes != "" {
			jobs[i].Attributes = json.RawMessage(attributes)
		}
	}
	return jobs
}
