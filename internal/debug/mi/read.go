package mi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
)

// A Frame is a call in a stack.
type Frame struct {
	Function string // empty if unknown
	File     string
	Line     int
	Module   string // file of the shared library
}

// A Thread is a thread of a process that the debugger is attached to.
type Thread struct {
	ID       int
	SystemID int // of the kernel, 0 if unknown
	Name     string
	Frames   []Frame // innermost first; from [Session.Frames]
	Gap      int     // so many frames between the innermost and the outermost ones are left out
	Inside   int     // how many frames come before the gap
}

// Limits bound how many frames of a longer stack are read.
type Limits struct{ Inside, Outside int }

// mostDepth bounds how many frames are counted.
const mostDepth = 1_000_000

// Attach attaches to a process, which stops it, and lists its threads, the first one first.
func (s *Session) Attach(ctx context.Context, pid int) ([]Thread, error) {
	return s.open(ctx, "-target-attach "+strconv.Itoa(pid))
}

// OpenCore opens a core file of an executable instead of a process.
func (s *Session) OpenCore(ctx context.Context, executable, core string) ([]Thread, error) {
	if _, errs := s.call(ctx, "-file-exec-and-symbols "+quoted(executable)); errs[0] != nil {
		return nil, errs[0]
	}
	// Versions of gdb differ in how they read quotes here.
	path, remove, err := withPlainPath(core)
	if err != nil {
		return nil, err
	}
	defer remove()
	return s.open(ctx, "-target-select core "+path)
}

// withPlainPath returns a path to a file with no character that gdb takes for something
// else: the path itself, or that of a link.
func withPlainPath(path string) (plain string, remove func(), err error) {
	if isPlain(path) {
		return path, func() {}, nil
	}
	folder, err := os.MkdirTemp("", "rmctl-core-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) }
	path, err = filepath.Abs(path)
	plain = filepath.Join(folder, "core")
	if err == nil {
		err = os.Symlink(path, plain)
	}
	if err == nil && !isPlain(plain) {
		err = errors.New("TMPDIR has unusual characters")
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return plain, remove, nil
}

// isPlain reports whether a path is absolute, of letters, digits and few other characters.
func isPlain(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !isLetter && !strings.ContainsRune("/._-+,=@%:", r)
	})
}

// quoted returns a text as one argument of a command of MI.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(text) + `"`
}

func (s *Session) open(ctx context.Context, command string) ([]Thread, error) {
	values, errs := s.call(ctx, command, "-thread-info")
	if err := cmp.Or(errs[0], errs[1]); err != nil {
		return nil, err
	}
	var threads []Thread
	for _, item := range values[1].Get("threads").Items {
		threads = append(threads, Thread{ID: item.Get("id").number(), SystemID: systemID(item.Get("target-id").Text), Name: item.Get("name").Text})
	}
	if len(threads) == 0 {
		return nil, errors.New("the process has no threads")
	}
	// Old versions list the newest thread first.
	sorting.Stable(threads, func(a, b Thread) int { return cmp.Compare(a.ID, b.ID) })
	return threads, nil
}

// systemID returns the number of a thread in texts such as "Thread 0x7f… (LWP 20412)" and "process 7".
func systemID(text string) int {
	for _, before := range []string{"LWP ", "process "} {
		if _, number, isThere := strings.Cut(text, before); isThere {
			return Value{Text: strings.TrimRight(number, ")")}.number()
		}
	}
	return 0
}

// Frames reads the frames of threads.
func (s *Session) Frames(ctx context.Context, threads []Thread, limits Limits) error {
	most := limits.Inside + limits.Outside
	commands := make([]string, len(threads))
	for i, thread := range threads {
		commands[i] = fmt.Sprintf("-stack-list-frames --thread %d 0 %d", thread.ID, most)
	}
	values, errs := s.call(ctx, commands...)
	for i := range threads {
		if s.ended != nil {
			return s.ended
		}
		threads[i].Frames = frames(values[i])
		if errs[i] != nil && len(threads[i].Frames) == 0 {
			threads[i].Frames = []Frame{{Function: "?? (unreadable stack)"}} // the message has addresses
		}
		if len(threads[i].Frames) > most {
			if err := s.cut(ctx, &threads[i], limits); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut reads the outermost frames of a thread with too many.
func (s *Session) cut(ctx context.Context, thread *Thread, limits Limits) error {
	thread.Frames = thread.Frames[:limits.Inside:limits.Inside]
	thread.Inside, thread.Gap = limits.Inside, limits.Outside+1
	values, errs := s.call(ctx, fmt.Sprintf("-stack-info-depth --thread %d %d", thread.ID, mostDepth))
	depth := values[0].Get("depth").number()
	if errs[0] != nil || depth <= limits.Inside+limits.Outside {
		return s.ended // what the debugger could read is there
	}
	values, errs = s.call(ctx, fmt.Sprintf("-stack-list-frames --thread %d %d %d", thread.ID, depth-limits.Outside, depth-1))
	if errs[0] != nil {
		return s.ended
	}
	outside := frames(values[0])
	outside = outside[max(0, len(outside)-limits.Outside):]
	thread.Frames = append(thread.Frames, outside...)
	thread.Gap = depth - len(thread.Frames)
	return nil
}

func frames(value Value) []Frame {
	items := value.Get("stack").Items
	list := make([]Frame, 0, len(items))
	for _, item := range items {
		frame := Frame{Function: functionOf(item), File: item.Get("file").Text, Line: item.Get("line").number(), Module: moduleOf(item)}
		list = append(list, frame)
	}
	return list
}

// functionOf returns the function of a frame, empty if unknown.
func functionOf(item Value) string {
	if function := item.Get("func").Text; function != "??" {
		return function
	}
	return ""
}

// moduleOf returns the name of the shared library of a frame without source.
func moduleOf(item Value) string {
	if item.Get("file").Text != "" || item.Get("from").Text == "" {
		return ""
	}
	return path.Base(item.Get("from").Text)
}

// Detach lets the process run on.
func (s *Session) Detach(ctx context.Context) error {
	_, errs := s.call(ctx, "-target-detach")
	return errs[0]
}

// Console runs a command of the console in a thread, and returns what it prints, or false if the debugger
// does not know the command.
func (s *Session) Console(ctx context.Context, thread Thread, command string) (string, bool) {
	_, errs := s.call(ctx, fmt.Sprintf("-interpreter-exec --thread %d console %s", thread.ID, quoted(command)))
	return s.printed.String(), errs[0] == nil
}
