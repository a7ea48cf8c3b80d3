// Package debugtest plays gdb with control over a program, in tests.
package debugtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// name is how the file names of fake debuggers begin.
const name = "fakegdb-debug"

// Debugger makes a fake gdb of the running test: a link in a folder. It plays a program of main.c: its
// function main begins in line 10 and step in line 15, and it exits with 0 after line 20. The mode is empty, or
// one of these:
//
//   - different: each rank stops in another line, and has another value of x
//   - endless: the program runs until it is stopped instead of exiting
//   - crash, hang or garbage, a hyphen, and the place where that happens: start, attach, breakpoints, continue, stopped, threads, frames,
//     evaluate, detach or exit
//
// The fake attaches to nothing. It reports a stop and continues the real process when that is stopped, and an end when that has ended.
// When its program exits, it kills the real process.
func Debugger(folder, mode string) (string, error) {
	path := filepath.Join(folder, strings.TrimSuffix(name+"-"+mode, "-"))
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return path, os.Symlink(self, path)
}

// Main plays a debugger if the test was started as one, and ends the process. Call it first
// in TestMain, before stackstest.Main.
func Main() {
	base := filepath.Base(os.Args[0])
	if base != name && !strings.HasPrefix(base, name+"-") {
		return
	}
	mode, place, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(base, name), "-"), "-")
	fake := &debugger{mode: mode, place: place, breakpoints: map[int]breakpoint{}}
	for _, argument := range os.Args[1:] {
		if number, isRank := strings.CutPrefix(argument, "set $rank = "); isRank {
			fake.rank, _ = strconv.Atoi(number)
		}
	}
	fake.serve()
	os.Exit(0)
}

const (
	lineMain = 10
	lineStep = 15
	lineLast = 20
	// observeEvery is the time between looks at the real process.
	observeEvery = 20 * time.Millisecond
)

type breakpoint struct {
	line        int
	isTemporary bool
}

// A debugger is the state of the fake and its program.
type debugger struct {
	mode, place string
	rank        int
	output      sync.Mutex // for all below, and one record at a time
	pid         int
	line        int // 0 before main
	isRunning   bool
	hasEnded    bool
	last        int
	breakpoints map[int]breakpoint
}

// reach misbehaves at its place.
func (d *debugger) reach(place string) {
	if place != d.place {
		return
	}
	switch d.mode {
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
	d.reach("start")
	fmt.Println("(gdb) ")
	scanner := bufio.NewScanner(os.Stdin)
	for scanner.Scan() {
		line := scanner.Text()
		command := strings.TrimLeft(line, "0123456789")
		d.output.Lock()
		d.answer(line[:len(line)-len(command)], strings.Fields(command))
		d.output.Unlock()
	}
	d.reach("exit")
}

// answer answers a command of MI.
func (d *debugger) answer(token string, words []string) {
	if len(words) == 0 {
		return
	}
	if strings.HasPrefix(words[0], "-exec-") {
		d.run(token, words[0])
		return
	}
	answer, after := "^done", ""
	switch words[0] {
	case "-target-attach":
		d.reach("attach")
		d.pid, _ = strconv.Atoi(words[len(words)-1])
		after = `*stopped,frame={addr="0x1000",func="_start",args=[],from="/lib/ld-fake.so"},thread-id="1",stopped-threads="all"` + "\n"
	case "-break-insert":
		d.reach("breakpoints")
		answer = d.insert(words[1:])
	case "-break-delete":
		for _, word := range words[1:] {
			number, _ := strconv.Atoi(word)
			delete(d.breakpoints, number)
		}
	case "-target-detach":
		d.reach("detach")
		d.hasEnded = true
		after = `=thread-group-exited,id="i1"` + "\n"
	default:
		answer = d.read(words)
	}
	fmt.Printf("%s%s\n%s(gdb) \n", token, answer, after)
}

// read answers a command that changes nothing.
func (d *debugger) read(words []string) string {
	switch words[0] {
	case "-thread-info":
		d.reach("threads")
		return fmt.Sprintf(`^done,threads=[{id="1",target-id="LWP %d",name="solver",%s,state="stopped"}],current-thread-id="1"`, d.pid, d.frame())
	case "-stack-list-frames":
		d.reach("frames")
		return fmt.Sprintf(`^done,stack=[%s]`, d.frame())
	case "-stack-info-depth":
		return `^done,depth="1"`
	case "-stack-list-locals":
		return fmt.Sprintf(`^done,locals=[{name="x",type="int",value="%d"}]`, d.value())
	case "-stack-list-arguments":
		return `^done,stack-args=[frame={level="0",args=[{name="argc",type="int",value="1"}]}]`
	case "-data-evaluate-expression":
		d.reach("evaluate")
		return fmt.Sprintf(`^done,value="%d"`, d.value())
	case "-interpreter-exec":
		if strings.Contains(words[len(words)-1], "MAIN__") { // of Fortran
			return `^error,msg="No symbol \"MAIN__\" in current context."`
		}
		fmt.Println(`~"type = int\n"`)
	}
	return "^done"
}

// value is the value of each expression.
func (d *debugger) value() int {
	if d.mode == "different" {
		return d.line + d.rank
	}
	return d.line
}

func (d *debugger) frame() string {
	if d.line == 0 {
		return `frame={level="0",addr="0x1000",func="_start",args=[],from="/lib/ld-fake.so"}`
	}
	line, function := d.line, "main"
	if line >= lineStep {
		function = "step"
	}
	if d.mode == "different" {
		line += 100 * d.rank
	}
	return fmt.Sprintf(`frame={level="0",addr="0x2000",func="%s",args=[],file="main.c",fullname="/fake/main.c",line="%d"}`, function, line)
}

// insert inserts a breakpoint in a line or function. Names that the program does not have stay pending.
func (d *debugger) insert(words []string) string {
	d.last++
	var found breakpoint
	for i, word := range words {
		next := strings.Trim(strings.Join(words[min(i+1, len(words)):], " "), `"`)
		switch word {
		case "-t":
			found.isTemporary = true
		case "--line":
			found.line, _ = strconv.Atoi(next)
		case "--function":
			found.line = map[string]int{"main": lineMain, "step": lineStep}[next]
		}
	}
	if found.line == 0 {
		return fmt.Sprintf(`^done,bkpt={number="%d",type="breakpoint",disp="keep",enabled="y",addr="<PENDING>",pending="?",times="0"}`, d.last)
	}
	d.breakpoints[d.last] = found
	return fmt.Sprintf(`^done,bkpt={number="%d",type="breakpoint",disp="keep",enabled="y",addr="0x2000",func="main",file="main.c",fullname="/fake/main.c",line="%d",times="0"}`, d.last, found.line)
}
