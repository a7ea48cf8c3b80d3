package onnodes

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/tree"
	"github.com/rmctl/rmctl/remote"
)

// A Top is a relay on a target that connects processes to rmctl, whatever their jobs are. They find
// it by a directory. Its methods may be called concurrently.
type Top struct {
	Directory string // on the target; processes pass it to [tree.DialStream]

	client        *tree.Client
	program, host string
}

// OpenTop stages the program, makes the directory, and starts the relay, which ends with the
// context or with Close. RelayAddress is the setting of the target; empty if nodes do not reach it.
func OpenTop(ctx context.Context, connection remote.Connection, directory *nodes.Directory, name, relayAddress string) (*Top, error) {
	path, err := directory.Prepare(ctx, name)
	if err != nil {
		return nil, err
	}
	program, err := directory.Program(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := readSecret(ctx, connection, path)
	if err != nil {
		return nil, fmt.Errorf("reading the secret of %s: %w", name, err)
	}
	host, err := hostName(ctx, connection)
	if err != nil {
		return nil, fmt.Errorf("finding the name of the target's host: %w", err)
	}
	words := []string{program, "relay", "--job", path, "--node", host, "--top", "--streams"}
	client, err := startTop(ctx, connection, words, relayAddress, secret)
	if err != nil {
		return nil, err
	}
	return &Top{Directory: path, client: client, program: program, host: host}, nil
}

// startTop starts a relay on the target, and connects to it.
func startTop(ctx context.Context, connection remote.Connection, words []string, relayAddress string, secret []byte) (*tree.Client, error) {
	if relayAddress != "" {
		words = append(words, "--listen", relayAddress)
	}
	stream, err := startStream(ctx, connection, words)
	if err != nil {
		return nil, err
	}
	client, err := tree.Connect(ctx, stream, secret)
	if err == nil {
		return client, nil
	}
	_ = stream.Close() // the error says more
	err = fmt.Errorf("connecting to %s on the target: %w", programName, err)
	if relayAddress != "" && ctx.Err() == nil {
		err = fmt.Errorf("%w\ncheck relay_address of the target, which is %s: rmctl doctor --callback finds addresses that nodes reach", err, relayAddress)
	}
	return nil, err
}

// AcceptStream returns the next stream of a process. The caller closes it. An error means that
// the relay has ended, or the context.
func (t *Top) AcceptStream(ctx context.Context) (net.Conn, error) { return t.client.AcceptStream(ctx) }

// LaunchFor starts relays on the nodes of a running job, for processes that reach no other one.
// It returns why nodes have none, by name.
func (t *Top) LaunchFor(ctx context.Context, j *Reachable) (problems map[string]string, err error) {
	if err := j.CheckRunning(); err != nil {
		return nil, err
	}
	s := &session{job: j, program: t.program, host: t.host, directory: t.Directory, client: t.client, streams: true, topServes: true, problems: map[string]string{}}
	if s.scope, err = j.scope(); err != nil {
		return nil, err
	}
	if s.commands, err = j.commands(); err != nil {
		return nil, err
	}
	names, err := s.nodesWithout(ctx)
	if err == nil {
		err = s.launch(ctx, names, mostLaunchTime)
	}
	return s.problems, err
}

// Nodes returns the names of the nodes that have a relay, the target included.
func (t *Top) Nodes(ctx context.Context) ([]string, error) {
	members, err := t.client.Members(ctx)
	found := map[string]bool{}
	for _, member := range members {
		if member.Problem == "" {
			found[member.Node] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), err
}

// Close ends all relays, after what was written to streams before.
func (t *Top) Close() error { return t.client.Close() }

// isServed reports whether a relay of the tree serves a node already.
func (s *session) isServed(member tree.Member, node string) bool {
	return (member.Tracked && !s.debugs || s.streams) && member.Problem == "" && isSameHost(member.Node, node)
}

// isTarget reports whether the name of a node is that of the target itself.
func (s *session) isTarget(node string) bool {
	return strings.EqualFold(node, "localhost") || isSameHost(node, s.host)
}
