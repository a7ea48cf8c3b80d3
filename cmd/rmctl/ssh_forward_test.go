package main

import (
	"io"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"
)

// forwardingUser is the user for whom the test server forwards ports.
const forwardingUser = "forwarder"

// A forwarder forwards the ports that a client of the test server asks for.
type forwarder struct {
	server *sshServer
	client *ssh.ServerConn

	mutex     sync.Mutex
	listeners map[forwardedPort]net.Listener
}

// forwardedPort is the payload of tcpip-forward and cancel-tcpip-forward.
type forwardedPort struct {
	Address string
	Port    uint32
}

// answer answers the requests of a connection until it ends.
func (f *forwarder) answer(requests <-chan *ssh.Request) {
	for request := range requests {
		granted, answer := false, []byte(nil)
		var asked forwardedPort
		if err := ssh.Unmarshal(request.Payload, &asked); err == nil && f.client.User() == forwardingUser {
			switch request.Type {
			case "tcpip-forward":
				granted, answer = f.listen(asked)
			case "cancel-tcpip-forward":
				granted = f.cancel(asked)
			}
		}
		if request.WantReply {
			_ = request.Reply(granted, answer)
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, listener := range f.listeners {
		listener.Close()
	}
}

func (f *forwarder) listen(asked forwardedPort) (granted bool, answer []byte) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false, nil
	}
	asked.Port = uint32(listener.Addr().(*net.TCPAddr).Port)
	f.mutex.Lock()
	f.listeners[asked] = listener
	f.mutex.Unlock()
	f.server.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.server.work.Go(func() { f.forward(asked, conn) })
		}
	})
	return true, ssh.Marshal(struct{ Port uint32 }{asked.Port})
}

func (f *forwarder) cancel(asked forwardedPort) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	listener, known := f.listeners[asked]
	delete(f.listeners, asked)
	return known && listener.Close() == nil
}

// forward forwards a connection until either end closes it.
func (f *forwarder) forward(asked forwardedPort, conn net.Conn) {
	origin := conn.RemoteAddr().(*net.TCPAddr)
	channel, requests, err := f.client.OpenChannel("forwarded-tcpip", ssh.Marshal(struct {
		Address    string
		Port       uint32
		Origin     string
		OriginPort uint32
	}{asked.Address, asked.Port, origin.IP.String(), uint32(origin.Port)}))
	if err != nil {
		conn.Close()
		return
	}
	f.server.work.Go(func() { ssh.DiscardRequests(requests) })
	f.server.work.Go(func() {
		_, _ = io.Copy(channel, conn)
		_ = channel.CloseWrite()
	})
	_, _ = io.Copy(conn, channel)
	conn.Close()
	channel.Close()
}
