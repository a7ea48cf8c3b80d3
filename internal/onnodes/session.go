package onnodes

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/rank"
	"github.com/rmctl/rmctl/internal/tree"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// mostSecret bounds what is read of a file with a secret.
const mostSecret = 4 << 10

// mostHostName bounds what is read of the name of a host.
const mostHostName = 4 << 10

// Attributes that only x:on-nodes has.
const (
	attributeNodeName    = "node.name"
	attributeNodeCommand = "node.command"
	attributeNodeIndex   = "node.index"
	attributeJobPart     = "job.id.job"
	attributeTaskPart    = "job.id.task"
)

// A session is a tree of relays on the nodes of a job.
type session struct {
	job       *Reachable
	scope     config.Scope
	id        string
	program   string
	host      string // name of the target
	directory string // of the job, on the target
	client    *tree.Client
	commands  []*config.Command // x:on-nodes that are for the job
	streams   bool              // the relays take byte streams, and look for no processes
	debugs    bool              // the relays take byte streams of debuggers, too
	topServes bool              // whether the top finds processes of the job on the target itself
	problems  map[string]string // by node: why it has no relay
}

// A purpose is what relays are started for.
type purpose int

const (
	forQuestions purpose = iota
	forFiles             // the top only reads files, and looks for no processes
	forDebuggers         // which are started by a question, and then connect through streams
)

// openTop starts the top of the tree, and connects to it.
func openTop(ctx context.Context, j *Reachable, use purpose) (*session, error) {
	directory, err := j.Directory.Prepare(ctx, j.directoryName())
	if err != nil {
		return nil, err
	}
	program, err := j.Directory.Program(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := readSecret(ctx, j.Connection, directory)
	if err != nil {
		return nil, fmt.Errorf("reading the secret of job %s: %w", j.name(), err)
	}
	host, err := hostName(ctx, j.Connection)
	if err != nil {
		return nil, fmt.Errorf("finding the name of the target's host: %w", err)
	}
	scope, err := j.scope()
	if err != nil {
		return nil, err
	}
	commands, err := j.commands()
	if err != nil {
		return nil, err
	}
	s := &session{job: j, scope: scope, commands: commands, id: uuid.NewString(), program: program, host: host, directory: directory, debugs: use == forDebuggers, problems: map[string]string{}}
	match, err := s.match(s.firstCommand(), host)
	if err != nil {
		return nil, err
	}
	if len(match.Own) > 0 || use == forFiles {
		match = rank.Selection{None: use == forFiles} // this process is not in the job
	}
	s.topServes = match.Word() != ""
	if s.client, err = startTop(ctx, j.Connection, append(s.relay(host, match), "--top"), j.RelayAddress, secret); err != nil {
		return nil, err
	}
	return s, nil
}

// close ends all relays.
func (s *session) close() error { return s.client.Close() }

// hostName returns the name of the host of a connection, as its processes see it.
func hostName(ctx context.Context, connection remote.Connection) (string, error) {
	s, err := startStream(ctx, connection, []string{"uname", "-n"})
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(s, mostHostName))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1]), errors.Join(err, s.Close()) // login shells may print lines before
}

func readSecret(ctx context.Context, connection remote.Connection, directory string) ([]byte, error) {
	file, err := connection.Open(ctx, path.Join(directory, "secret"))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, mostSecret))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return hex.DecodeString(strings.TrimSpace(string(text)))
}

// relay returns the words that start the relay of a node.
func (s *session) relay(node string, match rank.Selection) []string {
	words := []string{s.program, "relay", "--job", s.directory, "--node", node}
	if s.streams || s.debugs {
		words = append(words, "--streams")
	}
	if s.streams {
		return words
	}
	words = append(words, "--session", s.id)
	if word := match.Word(); word != "" {
		words = append(words, "--match", word)
	}
	return words
}

// firstCommand returns the first x:on-nodes with processes, or nil.
func (s *session) firstCommand() *config.Command {
	for _, each := range s.commands {
		if each.Processes != "" {
			return each
		}
	}
	return nil
}

// match returns how the relay of a node finds the processes of the job, as one word: by their
// variables, otherwise by the process ids on record.
func (s *session) match(c *config.Command, node string) (rank.Selection, error) {
	match := rank.Selection{Variables: map[string]string{}}
	if c != nil {
		invocation, err := s.resolve(c, node, "")
		if err != nil {
			return match, err
		}
		for _, variable := range invocation.Processes {
			if name, value, hasValue := strings.Cut(variable, "="); hasValue {
				match.Variables[name] = value
			} else {
				match.Own = append(match.Own, name)
			}
		}
	}
	if len(match.Variables)+len(match.Own) == 0 {
		match.PIDs = s.job.pidsOn(node)
	}
	return match, nil
}

// resolve resolves an x:on-nodes for a node.
func (s *session) resolve(c *config.Command, node, words string) (*command.Invocation, error) {
	s.scope.Environment.SetVariable(attributeNodeName, node)
	s.scope.Environment.SetVariable(attributeNodeCommand, words)
	s.scope.Environment.SetVariable(attributeNodeIndex, s.job.indexOf(node))
	if words == "" {
		return command.Preview(c, s.scope, job.Environment{})
	}
	return command.Resolve(c, s.scope, job.Environment{})
}

// launch starts a relay on each of some nodes, by the first x:on-nodes that works there.
func (s *session) launch(ctx context.Context, names []string, limit time.Duration) error {
	for _, each := range s.commands {
		if !inspect.StartsProcess(each) || len(names) == 0 {
			continue
		}
		var launches []tree.Launch
		for _, node := range names {
			launch, err := s.launchOf(each, node)
			if err != nil {
				s.problems[node] = tree.OneLine(err.Error())
				continue
			}
			launches = append(launches, launch)
		}
		if len(launches) == 0 {
			continue
		}
		own := limit
		if each.Timeout > 0 {
			own = min(each.Timeout, limit)
		}
		problems, err := s.client.Launch(ctx, launches, tree.Launching{FromNodes: each.FromNodes, Timeout: own})
		if err != nil {
			return fmt.Errorf("starting processes on nodes with %s: %w", each.Name, err)
		}
		for _, launched := range launches {
			s.note(launched.Node, each.Name, problems[launched.Node])
		}
		names = slices.Sorted(maps.Keys(s.problems))
	}
	for _, node := range names {
		s.problems[node] = cmp.Or(s.problems[node], "no x:on-nodes of definition "+s.job.Definition.Name+" starts a process there")
	}
	return nil
}

// note records whether an x:on-nodes worked on a node: it removes the problem of the node, or adds one.
func (s *session) note(node, way, problem string) {
	if problem == "" {
		delete(s.problems, node)
		return
	}
	problem = way + ": " + problem
	if earlier := s.problems[node]; earlier != "" {
		problem = earlier + "; " + problem
	}
	s.problems[node] = tree.OneLine(problem)
}

// nodesWithout returns the nodes of the job that have no relay.
func (s *session) nodesWithout(ctx context.Context) ([]string, error) {
	members, err := s.client.Members(ctx)
	if err != nil {
		return nil, err
	}
	names, err := s.job.nodeNames()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && !s.job.runsHere() {
		return nil, fmt.Errorf("the nodes of job %s are unknown: neither the scheduler nor a process names them", s.job.name())
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return s.topServes && s.isTarget(name) ||
			slices.ContainsFunc(members, func(member tree.Member) bool { return s.isServed(member, name) })
	}), nil
}

// launchOf returns how to start the relay of a node.
func (s *session) launchOf(c *config.Command, node string) (tree.Launch, error) {
	if !nodes.IsSafeWord(node) || strings.HasPrefix(node, "-") {
		return tree.Launch{}, fmt.Errorf("%.100q cannot be the name of a node", node)
	}
	match, err := s.match(c, node)
	if err != nil {
		return tree.Launch{}, err
	}
	relay := s.relay(node, match)
	invocation, err := s.resolve(c, node, strings.Join(relay, " "))
	if err != nil {
		return tree.Launch{}, err
	}
	words := invocation.Arguments
	if c.Over != "" {
		words = OverSSH(node, relay)
	}
	environment := map[string]string{rank.ObserverVariable: "1"}
	for _, variable := range invocation.Environment {
		environment[variable.Name] = variable.Value
	}
	return tree.Launch{Node: node, Words: words, Environment: environment, NoSignals: c.NoSignals}, nil
}

// OverSSH returns the command that runs words on a node. The shell there leaves safe words as
// they are. ssh must not prompt, and forwardings of the user's configuration would conflict
// between nodes.
func OverSSH(node string, words []string) []string {
	options := []string{"BatchMode=yes", "ConnectTimeout=10", "ClearAllForwardings=yes", "LogLevel=ERROR"}
	command := []string{"ssh", "-T", "-x", "-a"}
	for _, option := range options {
		command = append(command, "-o", option)
	}
	return append(append(command, "--", node), words...)
}
