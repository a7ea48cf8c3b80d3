// Package stackstest plays debuggers in tests.
package stackstest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// name is how the file names of fake debuggers begin.
const name = "fakegdb"

// Debugger makes a fake debugger of the running test: a link in a folder. The mode is empty, or
// crash, hang or garbage, a hyphen, and the place where that happens: start, attach, attached, threads, frames,
// detach, detached or exit.
func Debugger(folder, mode string) (string, error) {
	path := filepath.Join(folder, strings.TrimSuffix(name+"-"+mode, "-"))
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return path, os.Symlink(self, path)
}

// Main plays a debugger if the test was started as one, and ends the process. Call it first
// in TestMain.
func Main() {
	base := filepath.Base(os.Args[0])
	if base != name && !strings.HasPrefix(base, name+"-") {
		return
	}
	parts := strings.SplitN(base, "-", 3)
	fake := debugger{}
	if len(parts) == 3 {
		fake.how, fake.place = parts[1], parts[2]
	}
	fake.serve()
	os.Exit(0)
}

// A debugger attaches really, and answers with the same stack for all processes.
type debugger struct {
	how, place string
	attached   int
}

// reach misbehaves at its place.
func (d *debugger) reach(place string) {
	if place != d.place {
		return
	}
	switch d.how {
	case "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	case "garbage":
		fmt.Println("~\"\x1b[2J" + strings.Repeat("[{", 10000))
	}
}

func (d *debugger) serve() {
	runtime.LockOSThread() // the kernel knows the thread as the debugger
	d.reach("start")
	scanner := bufio.NewScanner(os.Stdin)
	for scanner.Scan() {
		line := scanner.Text()
		command := strings.TrimLeft(line, "0123456789")
		token := line[:len(line)-len(command)]
		answer := d.answer(command)
		fmt.Printf("%s%s\n(gdb) \n", token, answer)
	}
	d.reach("exit")
	d.detach()
}

func (d *debugger) answer(command string) string {
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "-target-attach":
		d.reach("attach")
		pid, _ := strconv.Atoi(rest)
		if err := syscall.PtraceAttach(pid); err != nil {
			return fmt.Sprintf("^error,msg=\"ptrace: %s.\"", err)
		}
		d.attached = pid
		d.reach("attached")
		_, _ = syscall.Wait4(pid, nil, syscall.WALL, nil)
		return "^done"
	case "-thread-info":
		d.reach("threads")
		return fmt.Sprintf(`^done,threads=[{id="1",target-id="LWP %d",name="solver"}],current-thread-id="1"`, d.attached)
	case "-stack-list-frames":
		d.reach("frames")
		return `^done,stack=[frame={level="0",func="f",file="a.c",line="2"},frame={level="1",func="main",file="a.c",line="1"}]`
	case "-target-detach":
		d.reach("detach")
		d.detach()
		d.reach("detached")
		return "^done"
	}
	return `^error,msg="Undefined MI command"`
}

func (d *debugger) detach() {
	if d.attached > 0 {
		_ = syscall.PtraceDetach(d.attached)
		d.attached = 0
	}
}
