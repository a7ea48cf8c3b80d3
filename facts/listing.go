package facts

import (
	"strconv"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/state"
)

// A Queue is what a scheduler tells of a queue.
type Queue struct {
	Name      string `json:"name"`
	Target    string `json:"target"`
	State     string `json:"state,omitempty"`
	Native    string `json:"native,omitempty"`
	Default   bool   `json:"default,omitempty"`
	TimeLimit string `json:"timeLimit,omitempty"`
	Running   *int   `json:"running,omitempty"`
	Waiting   *int   `json:"waiting,omitempty"`
	Nodes     *int   `json:"nodes,omitempty"`
	Seen      string `json:"seen,omitempty"` // when it was listed, where listings follow one another; as of [Timestamp]
}

// OfQueue returns a queue of a target.
func OfQueue(target string, q control.Queue) Queue {
	return Queue{q.Name, target, q.State, q.Native, q.Default, q.TimeLimit, q.Running, q.Waiting, q.Nodes, ""}
}

// A Node is what a scheduler tells of a node.
type Node struct {
	Name     string   `json:"name"`
	Target   string   `json:"target"`
	State    string   `json:"state,omitempty"`
	Native   string   `json:"native,omitempty"`
	CPUs     *int     `json:"cpus,omitempty"`
	CPUsUsed *int     `json:"cpusUsed,omitempty"`
	Memory   *int     `json:"memory,omitempty"` // MiB
	Load     *float64 `json:"load,omitempty"`
	Queues   []string `json:"queues,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Seen     string   `json:"seen,omitempty"` // as of [Queue]
}

// OfNode returns a node of a target.
func OfNode(target string, n control.Node) Node {
	return Node{n.Name, target, n.State, n.Native, n.CPUs, n.CPUsUsed, n.Memory, n.Load, n.Queues, n.Reason, ""}
}

// A Target is a definition and a connection.
type Target struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	Transport  string `json:"transport"`
	Host       string `json:"host,omitempty"`
	Default    bool   `json:"default,omitempty"`
}

// OfTarget returns a target, and whether it is the default one of all.
func OfTarget(target control.Target, isDefault bool) Target {
	return Target{target.Name, target.Definition, target.Transport, target.Host, isDefault}
}

// A ListedJob is what a scheduler lists of anybody's job. Times are as the scheduler
// writes them, or with the zone where it is in another one; see [control.Controller.ListedTime].
type ListedJob struct {
	ID        string `json:"id"`
	Target    string `json:"target"`
	Owner     string `json:"owner,omitempty"`
	State     string `json:"state,omitempty"`
	Detail    string `json:"detail,omitempty"`
	Native    string `json:"native,omitempty"`
	Queue     string `json:"queue,omitempty"`
	Name      string `json:"name,omitempty"`
	ExitCode  *int   `json:"exitCode,omitempty"`
	Signal    *int   `json:"signal,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Nodes     string `json:"nodes,omitempty"`
	Submitted string `json:"submitted,omitempty"`
	Started   string `json:"started,omitempty"`
	Ended     string `json:"ended,omitempty"`
	Seen      string `json:"seen,omitempty"` // as of [Queue]
}

// ListedJobs returns what rows of x:list-jobs tell of jobs of a controller's target, in the order of
// the rows. A state that is no word of the control vocabulary is not told.
func ListedJobs(controller *control.Controller, rows []command.Row) []ListedJob {
	jobs := make([]ListedJob, len(rows))
	for i, row := range rows {
		jobs[i] = ListedJob{
			ID: row.ID, Target: controller.Target(), Owner: row.Fact("owner"), Native: row.Fact("native"), Queue: row.Fact("queue"), Name: row.Fact("name"), Reason: row.Fact("reason"),
			Nodes: row.Fact("nodes"), Submitted: controller.ListedTime(row.Fact("submitted")), Started: controller.ListedTime(row.Fact("started")), Ended: controller.ListedTime(row.Fact("ended")),
		}
		if detail, known := state.Parse(row.Fact("state")); known {
			jobs[i].State, jobs[i].Detail = string(detail.Primary()), string(detail)
		}
		if code, err := strconv.Atoi(row.Fact("exitCode")); err == nil {
			jobs[i].ExitCode = &code
		}
		if signal, err := strconv.Atoi(row.Fact("signal")); err == nil {
			jobs[i].Signal = &signal
		}
	}
	return jobs
}
