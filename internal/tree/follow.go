package tree

import (
	"context"
	"errors"
	"net"
	"time"
)

// Times of a relay that looks for the top.
const (
	shortestFollow = time.Second
	longestFollow  = 5 * time.Second
	mostHops       = 8 // redirects
)

// follow connects to the top relay whenever the directory of the job has an address. The newest address counts.
func (r *Relay) follow() {
	wait := shortestFollow
	for r.ctx.Err() == nil {
		address := readAddress(r.options.Job)
		if address == "" {
			pause(r.ctx, wait)
			wait = min(wait*3/2, longestFollow)
			continue
		}
		if r.followOne(address) {
			wait = shortestFollow
		} else {
			wait = min(wait*3/2, longestFollow)
		}
		pause(r.ctx, wait)
	}
}

// followOne serves the top at an address, or where it sends this relay, until the
// connection ends or another top writes its address. It reports whether it was connected.
func (r *Relay) followOne(address string) (wasConnected bool) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for ctx.Err() == nil {
			pause(ctx, longestFollow)
			if now := readAddress(r.options.Job); now != "" && now != address {
				cancel()
			}
		}
	}()
	next := []string{address}
	for hop := 0; hop < mostHops && len(next) > 0; hop++ {
		redirected, connected := r.serveFirst(ctx, next, false)
		wasConnected = wasConnected || connected
		if !connected && hop > 0 {
			_, connected = r.serveFirst(ctx, []string{address}, true)
			wasConnected = wasConnected || connected
		}
		next = redirected
	}
	cancel()
	<-moved
	return wasConnected
}

// serveFirst serves the first address that answers. It returns the addresses that it redirects
// this relay to.
func (r *Relay) serveFirst(ctx context.Context, addresses []string, insist bool) (redirected []string, wasConnected bool) {
	for _, address := range addresses {
		u, err := r.connect(ctx, address, insist)
		if err != nil {
			continue
		}
		reason := u.serve(ctx)
		if errors.Is(reason, errRedirected) {
			u.mutex.Lock()
			defer u.mutex.Unlock()
			return u.redirected[:min(len(u.redirected), mostRedirects)], true
		}
		return nil, true
	}
	return nil, false
}

// connect connects to a relay over TCP as its child.
func (r *Relay) connect(ctx context.Context, address string, insist bool) (*upper, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := newLink(conn)
	if err := l.dial(ctx, r.options.Secret, message{Role: roleChild, Insist: insist}, false); err != nil {
		l.end(err)
		return nil, err
	}
	return r.newUpper(l, false), nil
}
