package mi

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/sorting"
)

// mostCounted bounds the frames that are counted: a count takes seconds for endless recursions.
const mostCounted = 10_000

// threadOf returns the thread of a request.
func (e *Engine) threadOf(request debug.Request) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return cmp.Or(request.Thread, e.last.Thread, 1)
}

// selection returns the options of a command for the thread and frame of a request.
func (e *Engine) selection(request debug.Request) string {
	return fmt.Sprintf(" --thread %d --frame %d", e.threadOf(request), request.Frame)
}

// threads lists the threads.
func (e *Engine) threads(ctx context.Context, _ debug.Request) debug.Answer {
	answer := e.call(ctx, "-thread-info")[0]
	if answer.err != nil {
		return problemOf(answer.err)
	}
	current := e.threadOf(debug.Request{})
	var threads []debug.Thread
	for _, item := range answer.values.Get("threads").Items {
		thread := debug.Thread{ID: item.Get("id").number(), Name: clip(item.Get("name").Text)}
		thread.Current = thread.ID == current
		if frame := item.Get("frame"); len(frame.Items) > 0 {
			thread.Frame = new(e.frameOf(frame))
		}
		threads = append(threads, thread)
	}
	// Old versions list the newest thread first.
	sorting.Stable(threads, func(a, b debug.Thread) int { return cmp.Compare(a.ID, b.ID) })
	return debug.Answer{Threads: threads[:min(len(threads), mostTogether)], Total: len(threads)}
}

// stack lists the frames of a thread.
func (e *Engine) stack(ctx context.Context, request debug.Request) debug.Answer {
	count := min(cmp.Or(request.Count, mostTogether), mostTogether)
	thread := e.threadOf(request)
	results := e.call(ctx,
		fmt.Sprintf("-stack-info-depth --thread %d %d", thread, mostCounted),
		fmt.Sprintf("-stack-list-frames --thread %d %d %d", thread, request.First, request.First+count-1))
	answer := debug.Answer{Total: results[0].values.Get("depth").number()}
	if answer.Total > 0 && request.First >= answer.Total && answer.Total < mostCounted {
		return answer
	}
	if results[1].err != nil {
		return problemOf(results[1].err)
	}
	for _, item := range results[1].values.Get("stack").Items {
		answer.Frames = append(answer.Frames, e.frameOf(item))
	}
	answer.Frames = answer.Frames[:min(len(answer.Frames), count)]
	return answer
}

// frameOf returns a frame as gdb describes it.
func (e *Engine) frameOf(item Value) debug.Frame {
	frame := debug.Frame{Function: clip(functionOf(item)), File: fileOf(item), Line: item.Get("line").number(), Module: clip(moduleOf(item))}
	if frame.File == "" {
		frame.Line, frame.Address = 0, clip(relative(e.pid, item.Get("addr").Text))
	}
	return frame
}

// fileOf returns the path of the source of a frame or breakpoint.
func fileOf(item Value) string {
	if full := item.Get("fullname").Text; filepath.IsAbs(full) {
		return clip(full)
	}
	return clip(item.Get("file").Text)
}

// clip bounds a text, and makes it valid.
func clip(text string) string {
	if len(text) > longestValue {
		end := longestValue - len("…")
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// parseAddress returns an address with 0x.
func parseAddress(text string) (uint64, bool) {
	digits, isHexadecimal := strings.CutPrefix(text, "0x")
	address, err := strconv.ParseUint(digits, 16, 64)
	return address, isHexadecimal && err == nil
}
