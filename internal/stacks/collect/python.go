package collect

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/debug/mi"
	"github.com/rmctl/rmctl/internal/stacks"
)

const (
	pythonWithin = 10 * time.Second
	mostPython   = 8 << 20 // bytes that py-spy prints
)

// python knows which ways to read Python frames work in a session.
type python struct{ lacksExtension, lacksSpy bool }

// isEvaluator reports whether a C function runs Python functions.
func isEvaluator(function string) bool {
	return strings.HasPrefix(function, "_PyEval_EvalFrame") || strings.HasPrefix(function, "PyEval_EvalFrame")
}

// read returns the Python calls of each thread, outermost first; nil for threads without. The
// debugger has stopped the process.
func (p *python) read(ctx context.Context, session *mi.Session, pid int, threads []mi.Thread) [][]stacks.Frame {
	calls := make([][]stacks.Frame, len(threads))
	isPython := func(thread mi.Thread) bool {
		return slices.ContainsFunc(thread.Frames, func(frame mi.Frame) bool { return isEvaluator(frame.Function) })
	}
	if !slices.ContainsFunc(threads, isPython) {
		return calls
	}
	if !p.lacksSpy && pid > 0 {
		byThread, err := spy(ctx, pid)
		p.lacksSpy = errors.Is(err, exec.ErrNotFound)
		if err == nil && p.assign(byThread, threads, calls) {
			return calls
		}
	}
	for i, thread := range threads {
		if p.lacksExtension || session.Err() != nil {
			break
		}
		if !isPython(thread) {
			continue
		}
		printed, isKnown := session.Console(ctx, thread, "py-bt")
		p.lacksExtension = !isKnown && i == 0
		calls[i] = parseTraceback(printed)
	}
	return calls
}

// assign assigns the calls that py-spy found to threads, and reports whether there are any.
func (p *python) assign(found []spyThread, threads []mi.Thread, calls [][]stacks.Frame) bool {
	isAny := false
	for i, thread := range threads {
		for j, each := range found {
			if each.SystemID == thread.SystemID && each.SystemID != 0 || each.SystemID == 0 && i == 0 && (each.Name == "MainThread" || len(found) == 1) {
				calls[i] = found[j].calls()
				isAny = isAny || len(calls[i]) > 0
				break
			}
		}
	}
	return isAny
}

// A spyThread is a thread as py-spy prints it, with the innermost call first.
type spyThread struct {
	SystemID int    `json:"os_thread_id"`
	Name     string `json:"thread_name"`
	Frames   []struct {
		Name     string `json:"name"`
		Filename string `json:"filename"`
		Line     int    `json:"line"`
	} `json:"frames"`
}

func (s spyThread) calls() []stacks.Frame {
	frames := make([]stacks.Frame, 0, len(s.Frames))
	for _, each := range s.Frames {
		frames = append(frames, stacks.Frame{Function: each.Name, File: each.Filename, Line: max(0, each.Line), Python: true})
	}
	slices.Reverse(frames)
	return frames
}

// spy runs py-spy. It must not stop the process, which the debugger did already.
func spy(ctx context.Context, pid int) ([]spyThread, error) {
	path, err := exec.LookPath("py-spy")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pythonWithin)
	defer cancel()
	command := exec.CommandContext(ctx, path, "dump", "--nonblocking", "--json", "--pid", strconv.Itoa(pid))
	command.Dir, command.WaitDelay = "/", time.Second
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	printed, readErr := io.ReadAll(io.LimitReader(output, mostPython+1))
	if len(printed) > mostPython {
		_ = command.Cancel()
	}
	if err := errors.Join(readErr, command.Wait()); err != nil {
		return nil, err
	}
	return parseSpy(printed)
}

func parseSpy(printed []byte) ([]spyThread, error) {
	var threads []spyThread
	if err := json.Unmarshal(printed, &threads); err != nil {
		return nil, err
	}
	return threads, nil
}

// parseTraceback parses the output of py-bt, from Python's extension for gdb: lines such as
// `File "/a.py", line 3, in f`, innermost first.
func parseTraceback(printed string) []stacks.Frame {
	var calls []stacks.Frame
	for line := range strings.Lines(printed) {
		rest, isCall := strings.CutPrefix(strings.TrimSpace(line), `File "`)
		if !isCall {
			continue
		}
		at := strings.LastIndex(rest, `", line `)
		if at < 0 {
			continue
		}
		number, function, _ := strings.Cut(rest[at+len(`", line `):], ", in ")
		lineNumber, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
		if err != nil {
			continue
		}
		calls = append(calls, stacks.Frame{Function: strings.TrimSpace(function), File: rest[:at], Line: int(lineNumber), Python: true})
	}
	slices.Reverse(calls)
	return calls
}

// join returns the Python calls, followed by the C calls inside the innermost one.
func join(calls, frames []stacks.Frame) []stacks.Frame {
	if len(calls) == 0 {
		return frames
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if isEvaluator(frames[i].Function) {
			return append(calls, frames[i+1:]...)
		}
	}
	return append(calls, frames...)
}
