package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// gated returns the port of a way to a port of this machine that opens when the
// function is called.
func gated(t *testing.T, port string) (way string, open func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	isOpen := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			defer near.Close()
			context.AfterFunc(ctx, func() { near.Close() })
			work.Go(func() {
				select {
				case <-isOpen:
				case <-ctx.Done():
					return
				}
				far, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err != nil {
					near.Close()
					return
				}
				context.AfterFunc(ctx, func() { far.Close() })
				work.Go(func() { _, _ = io.Copy(far, near); far.Close() })
				_, _ = io.Copy(near, far)
				near.Close()
			})
		}
	})
	t.Cleanup(func() { end(); listener.Close(); work.Wait() })
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), sync.OnceFunc(func() { close(isOpen) })
}

func TestAnSSHPromptAppearsDuringAForm(t *testing.T) {
	d := desk(t)
	config, err := os.ReadFile(startSSHServer(t))
	require.NoError(t, err)
	ports := regexp.MustCompile(`Port (\d+)`).FindAllStringSubmatch(string(config), -1)
	way, open := gated(t, ports[len(ports)-1][1])
	file := filepath.Join(d.Home, "ssh_config")
	require.NoError(t, os.WriteFile(file, append([]byte("Host stranger\n    BatchMode no\n    ConnectTimeout 120\n    Port "+way+"\n"), config...), 0o600))
	d.Reaches("far", "local", "ssh", "stranger", file)
	s := d.Sits("watch")
	s.Type("1")
	s.Shows(endOfJobs, "far", "STARTING", "local", "STARTED")
	s.Type("n")
	s.WaitFor("Ctrl-S submit")
	open()
	s.WaitFor("stranger has a question: Ctrl-G answers it")
	s.Type("\x07")
	s.WaitFor("\x1b[?1049l")
	s.WaitFor("stranger: ")
	s.WaitFor("fingerprint")
	s.Type("yes\r")
	s.WaitFor("\x1b[?1049h") // the form is back
	s.WaitFor("Ctrl-S submit")
	s.Type("\x1b")
	s.WaitFor("\x1b[?1049h") // the list is back
	s.Type("1")
	s.Shows(endOfJobs, "2/2", "far", "STARTED", "stranger", "local", "STARTED")
	s.Type("q")
	s.Ends(exitDone)
}
