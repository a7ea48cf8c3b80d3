package debugtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// run answers a command that runs the program to the next line, or to the next breakpoint.
func (d *debugger) run(token, command string) {
	d.reach("continue")
	if d.hasEnded {
		fmt.Printf("%s^error,msg=\"The program is not being run.\"\n(gdb) \n", token)
		return
	}
	fmt.Printf("%s^running\n*running,thread-id=\"all\"\n(gdb) \n", token)
	next, number := d.next()
	switch {
	case command != "-exec-continue" && d.line > 0 && d.line < lineLast:
		d.line++
		d.reach("stopped")
		fmt.Printf("*stopped,reason=\"end-stepping-range\",%s,thread-id=\"1\",stopped-threads=\"all\"\n", d.frame())
	case number > 0:
		d.line = next
		if d.breakpoints[number].isTemporary {
			delete(d.breakpoints, number)
		}
		d.reach("stopped")
		fmt.Printf("*stopped,reason=\"breakpoint-hit\",bkptno=\"%d\",%s,thread-id=\"1\",stopped-threads=\"all\"\n", number, d.frame())
	case d.mode == "endless" && d.pid > 0:
		d.isRunning, d.line = true, max(d.line, lineMain)
		go d.observe()
	default:
		d.exit(`reason="exited-normally"`)
	}
}

// next returns the next line with a breakpoint, and the lowest number of those there.
func (d *debugger) next() (line, number int) {
	for candidate, breakpoint := range d.breakpoints {
		isSooner := number == 0 || breakpoint.line < line || breakpoint.line == line && candidate < number
		if breakpoint.line > d.line && isSooner {
			line, number = breakpoint.line, candidate
		}
	}
	return line, number
}

// exit lets the program exit.
func (d *debugger) exit(reason string) {
	d.hasEnded, d.isRunning = true, false
	d.reach("stopped")
	if d.pid > 1 {
		_ = syscall.Kill(d.pid, syscall.SIGKILL)
	}
	fmt.Printf("=thread-group-exited,id=\"i1\"\n*stopped,%s\n", reason)
}

// observe looks at the real process until it is stopped or ends.
func (d *debugger) observe() {
	for isRunning := true; isRunning; {
		time.Sleep(observeEvery)
		d.output.Lock()
		switch state := stateOf(d.pid); {
		case state == 'T':
			d.isRunning = false
			_ = syscall.Kill(d.pid, syscall.SIGCONT)
			fmt.Printf("*stopped,reason=\"signal-received\",signal-name=\"SIGSTOP\",signal-meaning=\"Stopped (signal)\",%s,thread-id=\"1\",stopped-threads=\"all\"\n", d.frame())
		case state == 0 || state == 'Z' || state == 'X':
			d.exit(`reason="exited-signalled",signal-name="SIGKILL",signal-meaning="Killed"`)
		}
		isRunning = d.isRunning
		d.output.Unlock()
	}
}

// stateOf returns the letter of the state of a process, 0 if there is no such process.
func stateOf(pid int) byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	end := bytes.LastIndexByte(text, ')')
	if err != nil || end < 0 || end+2 >= len(text) {
		return 0
	}
	return text[end+2]
}
