package tree

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/ranges"
)

// A Client asks the relays of a job. Its methods may be called concurrently.
type Client struct {
	top     *child
	streams inbox
}

// Connect connects to the top of a tree over the stdin and stdout of its process. Lines
// that others print there first are skipped. Close closes the stream, which must end its
// reads and writes.
func Connect(ctx context.Context, stream io.ReadWriteCloser, secret []byte) (*Client, error) {
	c := &Client{top: newChild(newLink(stream), "the target")}
	c.streams.waiting = make(chan struct{}, 1)
	c.top.carrier, c.top.isBelow = &carrier{isOpen: true, arrived: c.streams.add}, true
	if err := c.top.dial(ctx, secret, message{Role: roleClient}, true); err != nil {
		c.top.end(err)
		return nil, err
	}
	c.top.start()
	c.top.tasks.Go(func() {
		for {
			m, err := c.top.receive()
			if err != nil {
				return
			}
			c.top.handle(m)
		}
	})
	return c, nil
}

// Launch starts relays on nodes. It returns the problems by node.
func (c *Client) Launch(ctx context.Context, launches []Launch, how Launching) (problems map[string]string, err error) {
	answer, err := c.request(ctx, message{Kind: kindLaunch, Launches: launches, FromNodes: how.FromNodes, Timeout: min(how.Timeout, mostTimeout).Milliseconds()})
	if err != nil {
		return nil, err
	}
	for node, problem := range answer.problems {
		answer.problems[node] = OneLine(problem)
	}
	return answer.problems, nil
}

// Members returns all relays of the tree, including lost ones, after each has looked for its processes.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	if _, err := c.request(ctx, message{Kind: kindAsk}); err != nil {
		return nil, err
	}
	answer, err := c.request(ctx, message{Kind: kindList})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(answer.members, func(a, b Member) int { return strings.Compare(a.Node, b.Node) })
	return answer.members, nil
}

// Ask returns the answers to a question, equal ones merged. Ranks in the question that no node has become a part
// with a problem.
func (c *Client) Ask(ctx context.Context, question Question) ([]Part, error) {
	timeout := min(cmp.Or(question.Timeout, usualTimeout), mostTimeout)
	m := message{Kind: kindAsk, Topic: question.Kind, Body: question.Body, Timeout: timeout.Milliseconds()}
	if question.Ranks != nil {
		text := question.Ranks.String()
		m.Ranks = &text
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadlineOf(timeout, mostHeight), errTimeout)
	defer cancel()
	answer, err := c.request(ctx, m)
	if err != nil {
		return nil, err
	}
	var found ranges.Set
	for _, part := range answer.parts {
		found = append(found, part.Ranks...)
	}
	if missing := question.Ranks.Without(found.Merged()); len(missing) > 0 {
		answer.parts = append(answer.parts, Part{Ranks: missing, Problem: "no process of the job has this rank"})
	}
	if answer.excess {
		answer.parts = append(answer.parts, Part{Problem: "further answers are too long"})
	}
	return answer.parts, nil
}

// request sends a request and waits for its reply.
func (c *Client) request(ctx context.Context, m message) (*reply, error) {
	m.ID = newNonce()[:32]
	expected := c.top.expect(m.ID)
	err := c.top.send(ctx, m)
	if err == nil {
		err = c.top.await(ctx, m.ID, expected)
	}
	return expected, err
}

// Close leaves the tree, after what was written to streams before. The top ends with all that it
// launched.
func (c *Client) Close() error {
	c.top.finish()
	c.top.wait()
	return nil
}
