// Package stacks holds the stacks of the processes of a job: how a node reports them, and the
// tree of frames that a user reads. It runs nothing; package collect asks the debuggers.
package stacks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/sorting"
)

// Kind is the kind of question that asks for stacks.
const Kind = "stacks"

const (
	// KeptInside and KeptOutside are how many frames of a longer stack stay: the innermost
	// and the outermost ones.
	KeptInside, KeptOutside = 200, 50
	// MostThreads bounds how many threads of a process are read.
	MostThreads  = 512
	mostFrames   = KeptInside + KeptOutside + 1 // with the one that counts the others
	mostText     = 512
	mostSamples  = 100
	mostCores    = 64
	longestEvery = time.Hour
)

// A Request says how nodes read stacks. It is the body of the question.
type Request struct {
	Debugger string        `json:"debugger,omitempty"` // path of gdb (default: gdb in PATH)
	Samples  int           `json:"samples,omitempty"`  // how often, at least once
	Every    time.Duration `json:"every,omitempty"`    // from the start of one sample to the next
	Cores    []string      `json:"cores,omitempty"`    // patterns of core files to read instead of the processes
}

// A CoreAnswer is the body of an answer about one core file.
type CoreAnswer struct {
	Rank    int             `json:"rank"`
	Stack   json.RawMessage `json:"stack,omitempty"` // as Encode writes it
	Problem string          `json:"problem,omitempty"`
}

// ParseRequest reads the body of a question and checks it.
func ParseRequest(body []byte) (Request, error) {
	var request Request
	if len(body) > 0 {
		if err := json.Unmarshal(body, &request); err != nil {
			return Request{}, fmt.Errorf("invalid request for stacks: %w", err)
		}
	}
	return request, request.Check()
}

// Check returns why a request is not valid.
func (r Request) Check() error {
	switch {
	case r.Samples < 0 || r.Samples > mostSamples:
		return fmt.Errorf("invalid number of samples %d: at most %d", r.Samples, mostSamples)
	case r.Every < 0 || r.Every > longestEvery:
		return fmt.Errorf("invalid time between samples %s: at most %s", r.Every, longestEvery)
	case len(r.Cores) > mostCores:
		return fmt.Errorf("too many patterns of core files: %d, at most %d", len(r.Cores), mostCores)
	case len(r.Cores) > 0 && r.Samples > 1:
		return errors.New("core files have only one sample")
	}
	return nil
}

// A Frame is one call. Equal frames are equal values: there are no addresses and no
// arguments in it.
type Frame struct {
	Function string `json:"function,omitempty"` // empty if unknown
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Module   string `json:"module,omitempty"` // name of the shared library, if the source is unknown
	Python   bool   `json:"python,omitempty"`
	Omitted  int    `json:"omitted,omitempty"` // not a call: so many frames are left out here
}

// A Thread is one thread of a process, or several with equal names and frames.
type Thread struct {
	Name   string  `json:"name,omitempty"`
	Count  int     `json:"count,omitempty"` // 0 is one
	Frames []Frame `json:"frames"`          // outermost first
}

// A Stack is the stack of a process: that of its first thread, and those of the others.
type Stack struct {
	Sample  int      `json:"sample,omitempty"` // from 0
	Threads []Thread `json:"threads"`
	Omitted int      `json:"omitted,omitempty"` // threads beyond [MostThreads]
}

// Encode writes a stack so that equal stacks are equal bytes: the threads behind the
// first are sorted, equal ones are one, and texts are valid UTF-8.
func (s Stack) Encode() json.RawMessage {
	canonical := Stack{Sample: s.Sample, Threads: make([]Thread, 0, len(s.Threads)), Omitted: s.Omitted}
	canonical.Omitted += max(0, len(s.Threads)-MostThreads)
	for _, thread := range s.Threads[:min(len(s.Threads), MostThreads)] {
		canonical.Threads = append(canonical.Threads, thread.canonical())
	}
	if len(canonical.Threads) > 1 {
		canonical.Threads = append(canonical.Threads[:1:1], mergeThreads(canonical.Threads[1:])...)
	}
	return encode(canonical)
}

func encode(value any) []byte {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only strings, numbers and slices of them
	}
	return bytes.TrimSuffix(encoded.Bytes(), []byte("\n"))
}

// canonical returns a thread with bounded texts in valid UTF-8.
func (t Thread) canonical() Thread {
	t.Name = bounded(t.Name)
	frames := make([]Frame, len(t.Frames))
	for i, frame := range t.Frames {
		frame.Function, frame.File, frame.Module = bounded(frame.Function), bounded(frame.File), bounded(path.Base("/"+frame.Module))
		if frame.Module == "/" {
			frame.Module = ""
		}
		frames[i] = frame
	}
	t.Frames = cut(frames)
	return t
}

// bounded cuts a text in the middle, because names of files differ at their ends.
func bounded(text string) string {
	if len(text) > mostText {
		text = text[:mostText/2] + "…" + text[len(text)-mostText/2:]
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// withoutNames returns a stack without its sample and the names of threads, which may be numbered, so
// that only differences for users remain.
func (s Stack) withoutNames() Stack {
	named := s.Threads
	s.Sample, s.Threads = 0, make([]Thread, len(named))
	for i, thread := range named {
		thread.Name = ""
		s.Threads[i] = thread
	}
	return s
}

// mergeThreads sorts threads and merges equal ones.
func mergeThreads(threads []Thread) []Thread {
	counts := map[string]int{}
	kinds := map[string]Thread{}
	for _, thread := range threads {
		count := max(thread.Count, 1)
		thread.Count = 0
		key := string(encode(thread))
		counts[key] += count
		kinds[key] = thread
	}
	keys := make([]string, 0, len(kinds))
	for key := range kinds {
		keys = append(keys, key)
	}
	sorting.Stable(keys, strings.Compare)
	merged := make([]Thread, len(keys))
	for i, key := range keys {
		merged[i] = kinds[key]
		if counts[key] > 1 {
			merged[i].Count = counts[key]
		}
	}
	return merged
}

// cut returns frames, outermost first, with only the outermost and the innermost ones if
// there are too many. A frame between them counts those that are left out.
func cut(frames []Frame) []Frame {
	if len(frames) <= mostFrames {
		return frames
	}
	omitted := 0
	for _, frame := range frames[KeptOutside : len(frames)-KeptInside] {
		omitted += max(1, frame.Omitted)
	}
	kept := append([]Frame{}, frames[:KeptOutside]...)
	kept = append(kept, Frame{Omitted: omitted})
	return append(kept, frames[len(frames)-KeptInside:]...)
}

// Decode parses the output of Encode. It refuses anything else.
func Decode(body []byte) (Stack, error) {
	var stack Stack
	if err := json.Unmarshal(body, &stack); err != nil {
		return Stack{}, fmt.Errorf("invalid stack: %w", err)
	}
	if stack.Sample < 0 || stack.Sample >= mostSamples || len(stack.Threads) > MostThreads || stack.Omitted < 0 {
		return Stack{}, errors.New("invalid stack: too many threads or samples")
	}
	for _, thread := range stack.Threads {
		if len(thread.Frames) > mostFrames || thread.Count < 0 || thread.Count > 1<<20 {
			return Stack{}, errors.New("invalid stack: too many frames")
		}
		for _, frame := range thread.Frames {
			if frame.Line < 0 || frame.Omitted < 0 {
				return Stack{}, errors.New("invalid stack: negative number")
			}
		}
	}
	return stack, nil
}
