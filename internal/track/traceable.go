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

// traceable returns the command to start a program so that a debugger of the same user can attach to it.
// If the kernel restricts debuggers to descendants, the process itself must permit it: rmctl-node does so
// and then executes the program.
func traceable(scopeFile, path string, words []string) (startPath string, startWords []string) {
	scope, err := os.ReadFile(scopeFile)
	self, selfErr := os.Executable()
	if err != nil || selfErr != nil || !bytes.Equal(bytes.TrimSpace(scope), []byte("1")) {
		return path, words
	}
	return self, append([]string{self, "traceable", path}, words...)
}

// RunTraceable permits debuggers to attach to this process and executes a program. The words are its path
// and its arguments, which begin with its name. It returns an exit code only if that fails.
func RunTraceable(words []string) int {
	// The permission belongs to the first thread, so that thread must execute the program.
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // PR_SET_PTRACER_ANY
	}
	err := syscall.Exec(words[0], words[1:], os.Environ())
	fmt.Fprintf(os.Stderr, "rmctl-node: starting %q: %v\n", words[0], err)
	return ExitCodeOf(err)
}
