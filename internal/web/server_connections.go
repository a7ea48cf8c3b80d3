package web

import (
	"net"
	"net/http"
	"sync"
)

// unusedConnections are those without a request yet, as browsers open them in advance. [http.Server.Shutdown] would wait for the first request of each.
type unusedConnections struct {
	mutex sync.Mutex
	all   map[net.Conn]struct{}
	isEnd bool
}

// follow is for [http.Server.ConnState].
func (u *unusedConnections) follow(connection net.Conn, state http.ConnState) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.all, connection)
	case u.isEnd:
		_ = connection.Close() // there is no request on it
	default:
		u.all[connection] = struct{}{}
	}
}

// close closes all of them, and those that are still to come.
func (u *unusedConnections) close() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.isEnd = true
	for connection := range u.all {
		_ = connection.Close() // as above
	}
}
