package onnodes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/hostlist"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

const (
	mostNodes = 1 << 14
	mostTasks = 1 << 20
	// mostPIDs bounds the process ids of one node that its relay gets: an argument has at most 128 KiB.
	mostPIDs = 4096
)

// A Reachable is a job with what is needed to reach its processes.
type Reachable struct {
	job.Job
	Processes    []job.Process // on record
	Definition   *config.Definition
	Environment  *attribute.Environment // of a session of the definition
	Connection   remote.Connection
	Directory    *nodes.Directory // on the target
	RelayAddress string           // setting of the target; empty if nodes do not reach it

	indexes map[string]int // of the nodes in the scheduler's list; nil until it is read
}

// directoryName returns the name of the directory of a job on its target.
func (j *Reachable) directoryName() string {
	if j.Tag != "" {
		return j.Tag
	}
	hash := sha256.Sum256([]byte(j.Target + "\x00" + j.ID))
	return "job-" + hex.EncodeToString(hash[:16])
}

// commands returns the x:on-nodes for the job.
func (j *Reachable) commands() ([]*config.Command, error) {
	var commands []*config.Command
	for _, each := range j.Definition.CommandsOf(config.OnNodes) {
		isFor, err := inspect.IsForJob(each, j.ID)
		if err != nil {
			return nil, err
		}
		if isFor {
			commands = append(commands, each)
		}
	}
	return commands, nil
}

// scope returns the attributes for commands on the job. They include the values of its submission,
// because these may select the scheduler's commands.
func (j *Reachable) scope() (config.Scope, error) {
	ids, err := reader.NewIDs(j.Definition.IDs)
	if err != nil {
		return config.Scope{}, err
	}
	for name, value := range j.Attributes {
		if known := j.Environment.Variable(name); known != nil {
			known.SetValue(value)
		}
	}
	submission.JobAttribute(j.Environment, j.ID, j.ID, j.ShortID)
	j.Environment.SetVariable(submission.AttributeTag, j.Tag)
	jobPart, taskPart, _ := ids.Split(j.ID)
	j.Environment.SetVariable(attributeJobPart, jobPart)
	j.Environment.SetVariable(attributeTaskPart, taskPart)
	return config.Scope{Environment: j.Environment, Job: j.ID}, nil
}

// name returns what users call the job.
func (j *Reachable) name() string { return cmp.Or(j.ID, j.Tag) }

// CheckRunning returns an error if a job has no processes that run.
func (j *Reachable) CheckRunning() error {
	switch {
	case j.Detail.Ended():
		return fmt.Errorf("job %s has ended (%s): it has no processes any more", j.name(), j.Detail.Word())
	case j.ID == "":
		return fmt.Errorf("job %s has no id: rmctl does not know whether it was submitted", j.name())
	case j.Detail.Primary() == job.Submitted:
		return fmt.Errorf("job %s is %s: it has no processes yet", j.name(), j.Detail.Word())
	case len(j.Definition.CommandsOf(config.OnNodes)) == 0 && j.RelayAddress == "":
		return fmt.Errorf("definition %s has no x:on-nodes: rmctl cannot start a process on the nodes of job %s\nadd x:on-nodes to the definition; docs/use/stacks.md describes it", j.Definition.Name, j.name())
	}
	return nil
}

// nodeNames returns the sorted names of the nodes of the job: from the scheduler, else from
// recorded processes. It returns no names if both are unknown.
func (j *Reachable) nodeNames() ([]string, error) {
	found, position := map[string]bool{}, 0
	j.indexes = map[string]int{}
	isWhole := hostlist.Each(j.Nodes, func(name string) bool {
		if !found[name] {
			found[name], j.indexes[name] = true, position
		}
		position++
		return len(found) <= mostNodes
	})
	switch {
	case len(found) > mostNodes:
		return nil, fmt.Errorf("job %s has more than %d nodes", j.name(), mostNodes)
	case !isWhole:
		return nil, fmt.Errorf("cannot read the nodes of job %s: %.200q", j.name(), j.Nodes)
	}
	if len(found) == 0 {
		for _, process := range j.Processes {
			if process.Node != "" && len(found) < mostNodes {
				found[process.Node] = true
			}
		}
	}
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// indexOf returns the position of a node in the scheduler's list; empty if that is unknown.
func (j *Reachable) indexOf(node string) string {
	if index, isKnown := j.indexes[node]; isKnown {
		return strconv.Itoa(index)
	}
	return ""
}

// runsHere reports whether the definition runs jobs where the commands of the target run.
func (j *Reachable) runsHere() bool {
	return slices.ContainsFunc(j.Definition.CommandsOf(config.OnNodes), func(c *config.Command) bool { return !inspect.StartsProcess(c) })
}

// expected returns the ranks that the job should have; nil if that is unknown.
func (j *Reachable) expected() ranges.Set {
	var set ranges.Set
	for _, process := range j.Processes {
		set = append(set, ranges.Range{First: process.Rank, Last: process.Rank})
	}
	if len(set) > 0 {
		return set.Merged()
	}
	if tasks := j.tasks(); tasks > 0 && tasks <= mostTasks {
		return ranges.Set{{First: 0, Last: tasks - 1}}
	}
	return nil
}

// tasks returns how many tasks the submission requested with the attribute of the portable
// name tasks; 0 if that is unknown.
func (j *Reachable) tasks() int {
	links := j.Definition.PortableLinks("tasks")
	if len(links) != 1 {
		return 0
	}
	switch value := j.Attributes[links[0].Attribute].(type) {
	case int:
		return value
	case string:
		if tasks, err := strconv.Atoi(value); err == nil {
			return tasks
		}
	}
	return 0
}

// ended returns the recorded processes that have ended, as reasons by rank.
func (j *Reachable) ended() map[int]string {
	reasons := map[int]string{}
	for _, process := range j.Processes {
		switch {
		case process.Signal != nil:
			reasons[process.Rank] = fmt.Sprintf("the process has ended by signal %d", *process.Signal)
		case process.ExitCode != nil:
			reasons[process.Rank] = fmt.Sprintf("the process has ended with exit code %d", *process.ExitCode)
		}
	}
	return reasons
}

// pidsOn returns the recorded process ids on a node of processes that have not ended, by rank.
func (j *Reachable) pidsOn(node string) map[int]int {
	pids := map[int]int{}
	for _, process := range j.Processes {
		isOver := process.Signal != nil || process.ExitCode != nil
		if process.PID > 0 && !isOver && isSameHost(process.Node, node) && len(pids) < mostPIDs {
			pids[process.Rank] = process.PID
		}
	}
	return pids
}

// isSameHost reports whether two names are names of one host, with or without its domain.
func isSameHost(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	shortA, _, isLongA := strings.Cut(a, ".")
	shortB, _, isLongB := strings.Cut(b, ".")
	return isLongA != isLongB && strings.EqualFold(shortA, shortB)
}
