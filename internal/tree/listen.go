package tree

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// mostStrangers is how many connections are in their handshake at a time.
const mostStrangers = 64

// acceptPause follows an accept that failed because something ran out.
const acceptPause = 100 * time.Millisecond

// Listen accepts relays of tracked processes at HOST:PORT or HOST until the relay is closed.
// The file "address" in the directory of the job holds the address meanwhile.
func (r *Relay) Listen(ctx context.Context, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "0")
	}
	if host, _, err := net.SplitHostPort(address); err != nil || host == "" {
		return fmt.Errorf("listening on %s: not HOST or HOST:PORT", address)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	// Others get the name from the user, which may belong to another network than ours.
	host, _, _ := net.SplitHostPort(address)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	public := net.JoinHostPort(host, port)
	if err := writeAddress(r.options.Job, public); err != nil {
		return errors.Join(err, listener.Close())
	}
	r.tasks.Go(func() {
		r.accept(listener, r.greetOverNetwork)
		removeAddress(r.options.Job, public)
	})
	return nil
}

// accept serves connections until the relay is closed. Greet calls known once the other
// end has proved the secret or failed to. Connections beyond the bound are closed.
func (r *Relay) accept(listener net.Listener, greet func(conn net.Conn, known func())) {
	r.acceptAs(false, listener, greet)
}

// acceptAs accepts. If it is patient, connections beyond the bound wait.
func (r *Relay) acceptAs(isPatient bool, listener net.Listener, greet func(conn net.Conn, known func())) {
	defer context.AfterFunc(r.ctx, func() { _ = listener.Close() })()
	strangers := make(chan struct{}, mostStrangers)
	var accepted sync.WaitGroup
	defer accepted.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if r.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			pause(r.ctx, acceptPause)
			continue
		}
		if !enters(r.ctx, strangers, isPatient) {
			_ = conn.Close() // it may come again
			continue
		}
		accepted.Go(func() { greet(conn, func() { <-strangers }) })
	}
}

// enters takes a slot for a connection, if there is one or it may wait.
func enters(ctx context.Context, slots chan<- struct{}, isPatient bool) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	if !isPatient {
		return false
	}
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// greet serves a relay that connected.
func (r *Relay) greet(conn net.Conn, known func()) { r.greetAs(conn, known, roleChild) }

// greetOverNetwork serves a relay, or a process with a stream if the relay takes these.
func (r *Relay) greetOverNetwork(conn net.Conn, known func()) {
	if r.options.Streams == "" {
		r.greet(conn, known)
		return
	}
	r.greetAs(conn, known, roleChild, roleStream)
}

// greetAs serves the other end of a connection, if it proves the secret for one of some roles.
func (r *Relay) greetAs(conn net.Conn, known func(), roles ...string) {
	l := newLink(conn)
	ctx, cancel := context.WithTimeout(r.ctx, strangerLimit)
	hello, err := l.accept(ctx, r.options.Secret, roles...)
	cancel()
	known()
	switch {
	case err != nil:
		l.end(err)
	case hello.Role == roleStream:
		r.passStream(l)
	default:
		r.take(newChild(l, ""), hello.Insist)
	}
}

// take serves a relay that connected, or sends it to a child.
func (r *Relay) take(c *child, insists bool) {
	if !insists {
		if addresses := r.elsewhere(); len(addresses) > 0 {
			c.start()
			_ = c.send(r.ctx, message{Kind: kindRedirect, Addresses: addresses}) // it comes again
			c.finish()
			c.wait()
			return
		}
	}
	if !r.adopt(c) {
		c.end(errClosed)
		return
	}
	_ = r.serveChild(c) // release notes the reason
}

// mostRedirects is how many addresses a redirected relay gets.
const mostRedirects = 3

// elsewhere returns addresses of children if this relay has enough children.
func (r *Relay) elsewhere() []string {
	r.mutex.Lock()
	var connected []*child
	for c := range r.children {
		if c.process == nil && !c.attached {
			connected = append(connected, c)
		}
	}
	r.redirects++
	turn := r.redirects
	r.mutex.Unlock()
	if len(connected) < r.options.FanOut {
		return nil
	}
	sortChildren(connected)
	ctx, cancel := context.WithTimeout(r.ctx, listenLimit)
	defer cancel()
	var addresses []string
	for i := range connected {
		if address := connected[(turn+i)%len(connected)].listen(ctx); address != "" {
			if addresses = append(addresses, address); len(addresses) == mostRedirects {
				break
			}
		}
	}
	return addresses
}

// listen lets a child accept relays, and returns its address, or "" if it cannot.
func (c *child) listen(ctx context.Context) string {
	select {
	case <-c.ready:
	case <-c.ended:
		return ""
	case <-ctx.Done():
		return ""
	}
	c.mutex.Lock()
	isNew := !c.asked
	c.asked = true
	c.mutex.Unlock()
	if isNew && c.send(ctx, message{Kind: kindListen, ID: newNonce()[:32]}) != nil {
		return ""
	}
	select {
	case <-c.listening:
		return c.address
	case <-c.ended:
	case <-ctx.Done():
	}
	return ""
}

// answerListen accepts relays at the address that this one uses towards the asker.
func (r *Relay) answerListen(ctx context.Context, u *upper, m message) {
	answer := message{Kind: kindListening, ID: m.ID}
	if conn, isConn := u.stream.(net.Conn); isConn {
		if address, err := r.listenBeside(ctx, conn); err == nil {
			answer.Addresses = []string{address}
		}
	}
	_ = u.send(ctx, answer) // an error ends the link
}

func (r *Relay) listenBeside(ctx context.Context, conn net.Conn) (string, error) {
	r.listening.Lock()
	defer r.listening.Unlock()
	if r.beside != "" {
		return r.beside, nil
	}
	local, isTCP := conn.LocalAddr().(*net.TCPAddr)
	if !isTCP {
		return "", errors.New("not connected over TCP")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(local.IP.String(), "0"))
	if err != nil {
		return "", err
	}
	r.beside = listener.Addr().String()
	r.tasks.Go(func() { r.accept(listener, r.greet) })
	return r.beside, nil
}

// addressFile is where the top of a tree writes where it listens.
const addressFile = "address"

// writeAddress replaces the address of the job.
func writeAddress(job, address string) error {
	file, err := os.CreateTemp(job, ".address-*") // 0600
	if err != nil {
		return fmt.Errorf("writing the address: %w", err)
	}
	_, err = file.WriteString(address + "\n")
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(job, addressFile))
	}
	if err != nil {
		return fmt.Errorf("writing the address: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// removeAddress removes the address of the job, unless another top wrote it.
func removeAddress(job, address string) {
	if readAddress(job) == address {
		_ = os.Remove(filepath.Join(job, addressFile)) // relays that find it get no connection
	}
}

// readAddress returns the address of the top, or "".
func readAddress(job string) string {
	file, err := os.Open(filepath.Join(job, addressFile))
	if err != nil {
		return ""
	}
	defer file.Close()
	var text [512]byte
	n, _ := file.Read(text[:]) // an empty text is no address
	address := strings.TrimSpace(string(text[:n]))
	if _, _, err := net.SplitHostPort(address); err != nil {
		return ""
	}
	return address
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
