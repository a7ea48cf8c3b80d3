package channel_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rmctl/rmctl/internal/remotetest"
)

func TestMain(m *testing.M) {
	// What a server of SSH starts does not ignore SIGHUP, even where the tests do, as under
	// nohup: the children of a process that handles a signal have its default.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	remotetest.Main(m)
}
