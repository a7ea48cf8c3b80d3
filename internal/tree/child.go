package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/ranges"
)

// A child is a relay that gets questions.
type child struct {
	*link
	number   int
	node     string
	owner    *upper   // the end that launched it; nil if it connected
	process  *process // nil if it connected
	attached bool     // it serves the tracked processes of this host

	ready     chan struct{} // closed once the members are known
	readyOnce sync.Once

	mutex   sync.Mutex
	members []Member
	height  int
	replies map[string]*reply
	address string // where it listens; final once listening is closed
	asked   bool   // to listen
	left    bool   // it ended as planned

	listened  sync.Once
	listening chan struct{}
}

// A reply is what a child has sent for a question or a launch.
type reply struct {
	parts    []Part
	bytes    int
	problems map[string]string
	members  []Member
	excess   bool // more than the bounds allow
	done     chan struct{}
}

func newChild(l *link, node string) *child {
	return &child{link: l, node: node, ready: make(chan struct{}), listening: make(chan struct{}), replies: map[string]*reply{}}
}

// adopt adds a child behind the handshake. It reports false if there is no room.
func (r *Relay) adopt(c *child) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.children) >= mostChildren || r.ctx.Err() != nil {
		return false
	}
	r.redirects++
	c.number = r.redirects
	c.carrier, c.isBelow = r.carrier, true
	r.children[c] = struct{}{}
	return true
}

// serveChild receives from a child until it ends, and returns the reason.
func (r *Relay) serveChild(c *child) error {
	defer context.AfterFunc(r.ctx, func() { c.end(errClosed) })()
	c.start()
	for {
		m, err := c.receive()
		if err != nil {
			break
		}
		if c.handle(m) {
			r.changed()
			if r.isBelow(c) {
				c.end(errors.New("the relay is its own parent"))
			}
		}
	}
	c.wait()
	return r.release(c)
}

// release removes a child that has ended, and remembers which members it lost.
func (r *Relay) release(c *child) error {
	reason := c.reason
	if c.process != nil {
		reason = c.process.explain(reason)
	}
	c.mutex.Lock()
	members, left := c.members, c.left
	c.mutex.Unlock()
	r.mutex.Lock()
	delete(r.children, c)
	if !left && !c.attached && r.ctx.Err() == nil && (c.owner == nil || c.owner.isOpen()) {
		for _, member := range members {
			if len(r.lost) < mostLost {
				if member.Problem == "" {
					member.Problem = lossOf(c.node, reason)
				}
				r.lost = append(r.lost, member)
			}
		}
	}
	r.mutex.Unlock()
	r.changed()
	return reason
}

// isOpen reports whether the link is open.
func (l *link) isOpen() bool {
	select {
	case <-l.ended:
		return false
	default:
		return true
	}
}

// lossOf returns why the relays at and below a child have no answer.
func lossOf(node string, reason error) string {
	return OneLine(fmt.Sprintf("relay on %s lost: %v", node, reason))
}

// handle applies a message of a child, and reports whether its members changed. It does
// not wait.
func (c *child) handle(m message) (changed bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	answered := c.replies[m.ID]
	switch {
	case m.Kind == kindMembers && m.ID == "":
		c.members, c.height = m.Members, m.Height
		if c.node == "" && len(m.Members) > 0 {
			c.node = m.Members[0].Node
		}
		c.readyOnce.Do(func() { close(c.ready) })
		return true
	case m.Kind == kindListening:
		c.listened.Do(func() {
			if len(m.Addresses) > 0 {
				c.address = m.Addresses[0]
			}
			close(c.listening)
		})
	case m.Kind == kindBye:
		c.left = true
	case answered == nil: // its request has ended
	case m.Kind == kindPart:
		answered.add(m)
	case m.Kind == kindDone || m.Kind == kindLaunched || m.Kind == kindMembers:
		answered.problems, answered.members = m.Problems, m.Members
		close(answered.done)
		delete(c.replies, m.ID)
	}
	return false
}

// isBelow reports whether a child leads back to this relay.
func (r *Relay) isBelow(c *child) bool {
	members, _ := c.snapshot()
	return slices.ContainsFunc(members, func(member Member) bool { return member.ID == r.id && member.Problem == "" })
}

// add keeps a part, within the bounds.
func (a *reply) add(m message) {
	a.bytes += len(m.Body) + len(m.Problem) + 64
	if a.excess = a.excess || len(a.parts) >= mostParts || a.bytes > mostAnswerBytes; a.excess {
		return
	}
	set, _ := m.ranks()
	a.parts = append(a.parts, Part{Namespace: m.Namespace, Ranks: set, Nodes: m.Nodes, Body: m.Body, Problem: m.Problem})
}

// expect registers a reply before the request is sent.
func (c *child) expect(id string) *reply {
	expected := &reply{done: make(chan struct{})}
	c.mutex.Lock()
	c.replies[id] = expected
	c.mutex.Unlock()
	return expected
}

// await waits for a reply. If the context ends first, the child no longer needs to answer.
func (c *child) await(ctx context.Context, id string, expected *reply) error {
	select {
	case <-expected.done:
		return nil
	default:
	}
	select {
	case <-expected.done:
		return nil
	case <-c.ended:
		select {
		case <-expected.done: // it answered before it ended
			return nil
		default:
		}
		if c.process != nil {
			return c.process.explain(c.reason)
		}
		return c.reason
	case <-ctx.Done():
	}
	c.mutex.Lock()
	delete(c.replies, id)
	c.mutex.Unlock()
	select {
	case c.queue <- cancelLine(id): // a child that does not read never gets it
	default:
	}
	return context.Cause(ctx)
}

func cancelLine(id string) []byte {
	line, _ := encode(message{Kind: kindCancel, ID: id})
	return line
}

// endChildrenOf ends what an asker launched.
func (r *Relay) endChildrenOf(u *upper) {
	var ending sync.WaitGroup
	for _, c := range r.visible(u) {
		if c.owner == u {
			ending.Go(func() {
				c.finish() // what was written to streams still arrives
				c.process.stop()
			})
		}
	}
	ending.Wait()
}

var errTimeout = errors.New("no answer in time")

// snapshot returns the known state of a child.
func (c *child) snapshot() (members []Member, height int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.members, c.height
}

// ranksOf returns the ranks of members by namespace.
func ranksOf(members []Member) map[string]ranges.Set {
	found := map[string]ranges.Set{}
	for _, member := range members {
		for _, group := range member.Groups {
			found[group.Namespace] = append(found[group.Namespace], group.Ranks...)
		}
	}
	for namespace, set := range found {
		found[namespace] = set.Merged()
	}
	return found
}

func sortChildren(children []*child) {
	slices.SortFunc(children, func(a, b *child) int { return a.number - b.number })
}
