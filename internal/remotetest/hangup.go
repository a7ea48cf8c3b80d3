package remotetest

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// HeedHangUps lets the programs that a test starts end when their terminal hangs up,
// also where the test itself was started by nohup: programs inherit that a signal is
// ignored, but not that it is caught.
var HeedHangUps = sync.OnceFunc(func() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
})
