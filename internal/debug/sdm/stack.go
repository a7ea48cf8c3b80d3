package sdm

import (
	"context"
	"strconv"

	"github.com/rmctl/rmctl/debug"
)

// mostFrames bounds the frames in one answer.
const mostFrames = 1000

// levels reads the lowest and the highest level of frames.
func levels(arguments []string) (first, count int, isValid bool) {
	low, lowErr := strconv.ParseInt(arguments[0], 10, 31)
	high, highErr := strconv.ParseInt(arguments[1], 10, 31)
	if lowErr != nil || highErr != nil || low < 0 {
		return 0, 0, false
	}
	if high < low { // all
		return int(low), mostFrames, true
	}
	return int(low), int(min(high-low+1, mostFrames)), true
}

func outOfRange(c *call) []result {
	return []result{{c.ranks, failure(codeOutOfRange, "Frame or thread out of range")}}
}

// listFrames lists the frames between two levels.
func (m *master) listFrames(ctx context.Context, c *call) []result {
	first, count, isValid := levels(c.arguments)
	if !isValid {
		return outOfRange(c)
	}
	return m.askThread(ctx, c.ranks, debug.Request{Verb: debug.Stack, First: first, Count: count}, func(part debug.Part) event {
		if part.Problem != "" {
			return failureOf(part.Answer, codeNoStack, "")
		}
		arguments := []string{strconv.Itoa(len(part.Frames))}
		for i, frame := range part.Frames {
			arguments = append(arguments, frameArguments(first+i, frame)...)
		}
		return event{eventFrames, arguments}
	})
}

// askThread asks about the selected threads, whatever frame is selected.
func (m *master) askThread(ctx context.Context, ranks debug.Ranks, request debug.Request, convert func(debug.Part) event) []result {
	questions := m.questions(ranks, request)
	for i := range questions {
		questions[i].Request.Frame = request.Frame
	}
	return resultsOf(m.query(ctx, questions...), convert)
}

func resultsOf(parts []debug.Part, convert func(debug.Part) event) []result {
	results := make([]result, len(parts))
	for i, part := range parts {
		results[i] = result{part.Ranks, convert(part)}
	}
	return results
}

// selectFrame selects the frame with a level for the requests that follow.
func (m *master) selectFrame(ctx context.Context, c *call) []result {
	level, err := strconv.ParseUint(c.arguments[0], 10, 16)
	if err != nil {
		return outOfRange(c)
	}
	request := debug.Request{Verb: debug.Stack, First: int(level), Count: 1}
	return m.askThread(ctx, c.ranks, request, func(part debug.Part) event {
		switch {
		case part.Problem != "":
			return failureOf(part.Answer, codeNoStack, "")
		case len(part.Frames) == 0:
			return failure(codeOutOfRange, "No frame at level "+c.arguments[0])
		}
		m.mutex.Lock()
		defer m.mutex.Unlock()
		each(part.Ranks, func(rank int) { m.processes[rank].frame = int(level) })
		return ok()
	})
}

// stackDepth returns the number of frames.
func (m *master) stackDepth(ctx context.Context, c *call) []result {
	return m.askThread(ctx, c.ranks, debug.Request{Verb: debug.Stack, Count: 1}, func(part debug.Part) event {
		if part.Problem != "" {
			return failureOf(part.Answer, codeNoStack, "")
		}
		return event{eventDepth, []string{strconv.Itoa(max(part.Total, len(part.Frames)))}}
	})
}

// listThreads lists the threads, and which one is selected.
func (m *master) listThreads(ctx context.Context, c *call) []result {
	return m.askThread(ctx, c.ranks, debug.Request{Verb: debug.Threads}, func(part debug.Part) event {
		if part.Problem != "" {
			return failureOf(part.Answer, codeNoStack, "")
		}
		current, numbers := 1, make([]string, len(part.Threads))
		for i, thread := range part.Threads {
			if numbers[i] = strconv.Itoa(thread.ID); thread.Current {
				current = thread.ID
			}
		}
		return event{eventThreads, append([]string{strconv.Itoa(current)}, list(numbers)...)}
	})
}

// selectThread selects a thread for the requests that follow.
func (m *master) selectThread(ctx context.Context, c *call) []result {
	thread, err := strconv.ParseUint(c.arguments[0], 10, 16)
	if err != nil || thread == 0 {
		return outOfRange(c)
	}
	question := debug.Question{Ranks: c.ranks, Request: debug.Request{Verb: debug.Stack, Thread: int(thread), Count: 1}}
	return resultsOf(m.query(ctx, question), func(part debug.Part) event {
		switch {
		case part.Problem != "":
			return failureOf(part.Answer, codeOutOfRange, "")
		case len(part.Frames) == 0:
			return failure(codeOutOfRange, "No thread "+c.arguments[0])
		}
		m.mutex.Lock()
		defer m.mutex.Unlock()
		each(part.Ranks, func(rank int) { m.processes[rank].thread, m.processes[rank].frame = int(thread), 0 })
		return event{eventThreadSelect, append([]string{c.arguments[0]}, frameArguments(0, part.Frames[0])...)}
	})
}

// listLocals lists the names of the variables of the selected frame.
func (m *master) listLocals(ctx context.Context, c *call) []result {
	return m.ask(ctx, c.ranks, debug.Request{Verb: debug.Variables, Text: "locals"}, namesEvent(eventVariables))
}

// listGlobals lists the names of the variables of the file of the selected frame.
func (m *master) listGlobals(ctx context.Context, c *call) []result {
	return m.ask(ctx, c.ranks, debug.Request{Verb: debug.Variables, Text: "globals"}, namesEvent(eventVariables))
}

// listArguments lists the names of the arguments of a frame. Clients ask for one level.
func (m *master) listArguments(ctx context.Context, c *call) []result {
	first, _, isValid := levels(c.arguments)
	if !isValid {
		return outOfRange(c)
	}
	return m.askThread(ctx, c.ranks, debug.Request{Verb: debug.Variables, Text: "arguments", Frame: first}, namesEvent(eventArguments))
}

func namesEvent(id uint16) func(debug.Part) event {
	return func(part debug.Part) event {
		if part.Problem != "" {
			return failureOf(part.Answer, codeNoStack, "")
		}
		return event{id, namesOf(part.Variables)}
	}
}

// listSignals lists the signals with a name, or all.
func (m *master) listSignals(_ context.Context, c *call) []result {
	count := 0
	var arguments []string
	for _, known := range signals {
		if name := c.arguments[0]; name == "" || name == known.name {
			count++
			arguments = append(arguments, known.arguments()...)
		}
	}
	return []result{{c.ranks, event{eventSignals, append([]string{strconv.Itoa(count)}, arguments...)}}}
}
