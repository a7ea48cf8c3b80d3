package track

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// scopeFile has the kernel's restriction of debuggers to descendants, root or no process.
const scopeFile = "/proc/sys/kernel/yama/ptrace_scope"

// traceable returns how to start a program so that a debugger of the same user can attach to
// it. Where the kernel restricts debuggers to descendants, the program itself has to
// permit it: rmctl-node does so, and becomes the program.
func traceable(scopeFile, path string, words []string) (startPath string, startWords []string) {
	scope, err := os.ReadFile(scopeFile)
	self, selfErr := os.Executable()
	if err != nil || selfErr != nil || !bytes.Equal(bytes.TrimSpace(scope), []byte("1")) {
		return path, words
	}
	return self, append([]string{self, "traceable", path}, words...)
}

// RunTraceable permits debuggers to attach to this process, and becomes a program. The words are its
// path and its arguments, that with its name first. It returns an exit code only if that fails.
func RunTraceable(words []string) int {
	// The kernel keeps the permission with the first thread, so that one has to become
	// the program.
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // PR_SET_PTRACER_ANY
	}
	err := syscall.Exec(words[0], words[1:], os.Environ())
	fmt.Fprintf(os.Stderr, "rmctl-node: starting %q: %v\n", words[0], err)
	return ExitCodeOf(err)
}
