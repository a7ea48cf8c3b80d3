package channel

import "github.com/rmctl/rmctl/remote"

// Noise returns the beginning of what the login printed that is not the output
// of a command: banners, complaints of profiles.
func Noise(c remote.Connection) string {
	p := c.(*connection).pool
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for s := range p.sessions {
		return s.stdout.noise.text.String()
	}
	return ""
}

// OneShot reports whether no shell can be kept on the host, so that every command
// costs a login.
func OneShot(c remote.Connection) bool { return c.(*connection).pool.oneShot }

// Overcount makes a connection believe that so many channels were open at once.
func Overcount(c remote.Connection, count int) {
	p := c.(*connection).pool
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.counted = count
}
