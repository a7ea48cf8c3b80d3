package agentclient

import (
	"fmt"
	"slices"
	"sync"
)

// A Stream is an output stream of a job.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

const (
	longestLog   = 1 << 20  // bytes of one stream of one job
	longestLogs  = 32 << 20 // bytes of all jobs of a session
	bytesPerJob  = 256      // counted for each job besides its output
	reservedNote = 100      // maximum bytes of the note about truncation
)

// outputs keeps the beginning of the output of jobs. Its methods may be called concurrently.
type outputs struct {
	mu      sync.Mutex
	jobs    map[string]*jobOutput
	removed []string // jobs that the agent removed, oldest first; they make room for others
	bytes   int
}

type jobOutput struct {
	text      [2][]byte
	cut       [2]bool
	isRemoved bool
}

// add appends to a stream of a job, and reports whether all of it was kept.
func (o *outputs) add(job string, stream Stream, text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	output, known := o.jobs[job]
	if known && output.cut[stream] {
		return false
	}
	if !known {
		if !o.reserve(bytesPerJob) {
			return false
		}
		if o.jobs == nil {
			o.jobs = map[string]*jobOutput{}
		}
		output = &jobOutput{}
		o.jobs[job] = output
		o.bytes += bytesPerJob
	}
	room := longestLog - reservedNote - len(output.text[stream])
	taken := text[:min(len(text), room)]
	if len(taken) == len(text) && o.reserve(len(text)) {
		output.text[stream] = append(output.text[stream], text...)
		o.bytes += len(text)
		return true
	}
	if !o.reserve(len(taken)) {
		taken = ""
	}
	note := fmt.Sprintf("\n[rmctl kept the first %d bytes of this stream]\n", len(output.text[stream])+len(taken))
	output.text[stream] = append(append(output.text[stream], taken...), note...)
	output.cut[stream] = true
	o.bytes += len(taken) + len(note)
	return false
}

// reserve makes room by dropping the output of removed jobs and reports whether that suffices.
func (o *outputs) reserve(bytes int) bool {
	for o.bytes+bytes > longestLogs && len(o.removed) > 0 {
		job := o.removed[0]
		o.removed = o.removed[1:]
		if output, known := o.jobs[job]; known {
			o.bytes -= bytesPerJob + len(output.text[Stdout]) + len(output.text[Stderr])
			delete(o.jobs, job)
		}
	}
	return o.bytes+bytes <= longestLogs
}

// remove marks a job as removed. Its output stays until the memory is needed.
func (o *outputs) remove(job string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if output, known := o.jobs[job]; known && !output.isRemoved {
		output.isRemoved = true
		o.removed = append(o.removed, job)
	}
}

// get returns the output of a stream so far.
func (o *outputs) get(job string, stream Stream) ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	output, known := o.jobs[job]
	if !known || stream > Stderr {
		return nil, false
	}
	return slices.Clip(output.text[stream]), true // kept bytes never change
}
