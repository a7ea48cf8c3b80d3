package dap

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/debug"
)

// Bounds of answers.
const (
	mostThreads  = 1000
	mostFrames   = 1000
	longestValue = 4 << 10
)

// A numbering numbers threads from 1 in the order in which they appear, because the numbers that some debuggers
// use differ between ranks. A debugger whose numbers are good keeps them.
type numbering struct {
	numbers map[int]int
	ids     map[int]int
}

func (n *numbering) number(id int) int {
	if id == 0 {
		return 0
	}
	if number, isKnown := n.numbers[id]; isKnown {
		return number
	}
	if n.numbers == nil {
		n.numbers, n.ids = map[int]int{}, map[int]int{}
	}
	number := len(n.numbers) + 1
	n.numbers[id], n.ids[number] = number, id
	return number
}

// numbered returns the number of a thread in notices and answers.
func (e *Engine) numbered(id int) int {
	if !e.dialect.numbersThreads() {
		return max(id, 0)
	}
	return e.threads.number(id)
}

// threadOf returns the thread of a request as the debugger knows it.
func (e *Engine) threadOf(request debug.Request) (int, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if request.Thread == 0 {
		return e.thread, nil
	}
	if !e.dialect.numbersThreads() {
		return request.Thread, nil
	}
	id, isKnown := e.threads.ids[request.Thread]
	if !isKnown {
		return 0, refusal{"no such thread"}
	}
	return id, nil
}

// listThreads lists the threads of the process, and numbers new ones.
func (e *Engine) listThreads(ctx context.Context) ([]thread, error) {
	body, err := answerOf[threadsBody](ctx, e.debugger.client, "threads", nil)
	if err != nil {
		return nil, err
	}
	threads := e.dialect.threads(body.Threads)
	threads = threads[:min(len(threads), mostThreads)]
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for _, thread := range threads {
		e.numbered(thread.ID)
	}
	return threads, nil
}

func (e *Engine) answerThreads(ctx context.Context, _ debug.Request) (debug.Answer, error) {
	threads, err := e.listThreads(ctx)
	if err != nil {
		return debug.Answer{}, err
	}
	var answer debug.Answer
	for _, thread := range threads {
		e.mutex.Lock()
		number, isCurrent := e.numbered(thread.ID), thread.ID == e.thread
		e.mutex.Unlock()
		entry := debug.Thread{ID: number, Name: bounded(e.dialect.threadName(thread.Name)), Current: isCurrent}
		frames, _, err := e.listFrames(ctx, thread.ID, 0, 1)
		if err != nil && e.debugger.err() != nil {
			return debug.Answer{}, err
		}
		if len(frames) > 0 {
			entry.Frame = &frames[0].Frame
		}
		answer.Threads = append(answer.Threads, entry)
	}
	return answer, nil
}

// A frame is a call with the number that the debugger gives it until the process runs.
type frame struct {
	debug.Frame
	id int
}

// listFrames returns frames of a thread, and their total number.
func (e *Engine) listFrames(ctx context.Context, thread, first, count int) ([]frame, int, error) {
	arguments := map[string]any{"threadId": thread, "startFrame": max(first, 0), "levels": count}
	body, err := answerOf[stackBody](ctx, e.debugger.client, "stackTrace", arguments)
	if err != nil {
		return nil, 0, err
	}
	found := body.StackFrames
	found = found[:min(len(found), count)]
	var frames []frame
	isComplete := true
	for _, each := range found {
		converted := frame{id: each.ID, Frame: debug.Frame{Function: bounded(each.Name)}}
		if source := each.Source; source.SourceReference == 0 && source.Path != "" {
			converted.File, converted.Line = bounded(source.Path), max(each.Line, 0)
		} else {
			converted.Address = bounded(each.Address)
			isComplete = false
		}
		frames = append(frames, converted)
	}
	if !isComplete {
		frames = e.dialect.complete(ctx, e, first, frames)
	}
	return frames, max(body.TotalFrames, 0), nil
}

func (e *Engine) answerStack(ctx context.Context, request debug.Request) (debug.Answer, error) {
	thread, err := e.threadOf(request)
	if err != nil {
		return debug.Answer{}, err
	}
	count := request.Count
	if count <= 0 || count > mostFrames {
		count = mostFrames
	}
	frames, total, err := e.listFrames(ctx, thread, request.First, count)
	if err != nil {
		return debug.Answer{}, err
	}
	answer := debug.Answer{Total: total}
	for _, each := range frames {
		answer.Frames = append(answer.Frames, each.Frame)
	}
	return answer, nil
}

// frameOf returns the debugger's number of the frame of a request.
func (e *Engine) frameOf(ctx context.Context, request debug.Request) (int, error) {
	thread, err := e.threadOf(request)
	if err != nil {
		return 0, err
	}
	place := place{thread, max(request.Frame, 0)}
	e.mutex.Lock()
	id, isKnown := e.values.frames[place]
	e.mutex.Unlock()
	if isKnown {
		return id, nil
	}
	frames, _, err := e.listFrames(ctx, thread, place.frame, 1)
	if err != nil {
		return 0, err
	}
	if len(frames) == 0 {
		return 0, refusal{"no such frame"}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(e.values.frames) < mostFrames {
		e.values.frames[place] = frames[0].id
	}
	return frames[0].id, nil
}

// bounded cuts a text at longestValue.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= longestValue {
		return text
	}
	const ellipsis = "…"
	end := longestValue - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
