package tree

import (
	"context"
	"path/filepath"
	"slices"
	"time"
)

// Times of a relay that looks for one of tracked processes on its host.
const (
	attachLimit    = 2 * time.Second // for its members
	shortestAttach = 200 * time.Millisecond
	longestAttach  = 5 * time.Second
)

// attach maintains a connection to the relay of the tracked processes on this host, whichever process that is.
// It closes tried after the first attempt.
func (r *Relay) attach(tried chan<- struct{}) {
	socket, _ := hostFiles(r.options.Attach, r.options.Job)
	wait := shortestAttach
	for r.ctx.Err() == nil {
		if c := r.attachOnce(socket); c != nil {
			wait = shortestAttach
			served := make(chan struct{})
			go func() {
				defer close(served)
				_ = r.serveChild(c) // the next attempt follows
			}()
			if tried != nil {
				awaitReady(r.ctx, c)
				close(tried)
				tried = nil
			}
			<-served
		}
		if tried != nil {
			close(tried)
			tried = nil
		}
		pause(r.ctx, wait)
		wait = min(wait*3/2, longestAttach)
	}
}

// awaitReady waits for a while until the members of a child are known.
func awaitReady(ctx context.Context, c *child) {
	ctx, cancel := context.WithTimeout(ctx, attachLimit)
	defer cancel()
	select {
	case <-c.ready:
	case <-c.ended:
	case <-ctx.Done():
	}
}

// attachOnce returns the relay of the tracked processes on this host, or nil.
func (r *Relay) attachOnce(socket string) *child {
	conn, err := dialHost(r.ctx, socket)
	if err != nil {
		return nil
	}
	c := newChild(newLink(conn), r.options.Node)
	c.attached = true
	ctx, cancel := context.WithTimeout(r.ctx, handshakeLimit)
	defer cancel()
	err = c.dial(ctx, r.options.Secret, message{Role: roleParent}, false)
	if err == nil && !r.adopt(c) {
		err = errClosed
	}
	if err != nil {
		c.end(err)
		return nil
	}
	return c
}

// attachedChild returns the relay of tracked processes on this host, if there is one, and
// whether one of these knows its rank.
func (r *Relay) attachedChild() (attached *child, hasRanks bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for c := range r.children {
		if c.attached && c.isReady() {
			members, _ := c.snapshot()
			return c, slices.ContainsFunc(members, func(member Member) bool { return hasRanked(member.Groups) })
		}
	}
	return nil, false
}

// hasRanked reports whether a variable names some of the ranks. A tracked process without
// one counts as rank 0 only if there are no others.
func hasRanked(groups []Group) bool {
	return slices.ContainsFunc(groups, func(group Group) bool { return group.Variable != "" })
}

func (c *child) isReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

// hostFiles returns the socket and the lock of the relay of a job's tracked processes.
func hostFiles(private, job string) (socket, lock string) {
	base := filepath.Join(private, shortName(filepath.Base(job)))
	return base + ".sock", base + ".lock"
}
