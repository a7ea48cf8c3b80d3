package execution

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// A Duplex is a connection whose directions can be closed separately, such as *net.TCPConn.
type Duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Join copies between two connections until both directions have ended, and closes both.
// Once abandoned is closed nobody reads what far sends, and far is closed after all of near
// was written to it. Once lost is closed, both are closed at once.
func Join(near, far Duplex, abandoned, lost <-chan struct{}) {
	closeBoth := func() {
		// Errors are ignored: nothing can be done about them here.
		_ = far.Close()
		_ = near.Close()
	}
	joined, received := make(chan struct{}), make(chan struct{})
	var directions, watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-lost:
			closeBoth()
		case <-joined:
		}
	})
	directions.Go(func() {
		defer close(received)
		_, _ = io.Copy(near, far)
		_ = near.CloseWrite()
	})
	directions.Go(func() {
		_, _ = io.Copy(far, near)
		_ = far.CloseWrite()
		select {
		case <-abandoned:
			_ = far.Close()
		case <-received:
		}
	})
	directions.Wait()
	close(joined)
	closeBoth()
	watching.Wait()
}

// SocketPair returns the ends of a connection within this process. Unlike those of
// net.Pipe, its directions end one by one.
func SocketPair() (near, far *net.UnixConn, err error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	near, nearErr := socketOf(pair[0])
	far, farErr := socketOf(pair[1])
	if nearErr == nil && farErr == nil {
		return near, far, nil
	}
	for _, end := range []*net.UnixConn{near, far} {
		if end != nil {
			_ = end.Close() // the error above is better
		}
	}
	if nearErr == nil {
		nearErr = farErr
	}
	return nil, nil, nearErr
}

// socketOf makes a connection from a descriptor and closes the descriptor.
func socketOf(descriptor int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(descriptor), "socketpair")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}
