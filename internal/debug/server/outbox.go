package server

import (
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rmctl/rmctl/debug"
)

const (
	// mostOutput bounds output that was not sent yet, in bytes. What comes beyond that is left out and counted.
	mostOutput = 1 << 20
	// mostUnsent bounds all other lines that were not sent yet. Beyond that, the client counts as gone.
	mostUnsent = 16 << 20
	// mostChunk bounds the text of one notice of output.
	mostChunk = 64 << 10
	// mostWrite bounds one write to the connection.
	mostWrite = 256 << 10
)

// An outbox holds lines until they are written. Adding one never waits.
type outbox struct {
	conn     io.WriteCloser
	patience time.Duration // for one write; then the client counts as gone
	news     chan struct{} // holds something when there are lines
	done     chan struct{} // closed when nothing is written any more

	mutex   sync.Mutex
	queue   []queued
	unsent  int // bytes of lines that are not output
	printed int // bytes of output
	omitted int // bytes of output that were left out, and not reported
	isEnded bool
}

type queued struct {
	line     []byte
	isOutput bool
}

func newOutbox(conn io.WriteCloser, patience time.Duration) *outbox {
	return &outbox{conn: conn, patience: patience, news: make(chan struct{}, 1), done: make(chan struct{})}
}

// send adds a notice.
func (o *outbox) send(notice debug.Notice) { o.add(encodeLine(0, notice)) }

// answer adds an answer.
func (o *outbox) answer(number int, answer debug.Answer) { o.add(encodeLine(number, answer)) }

func (o *outbox) add(line []byte) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.isEnded {
		return
	}
	if o.unsent += len(line); o.unsent > mostUnsent {
		o.isEnded = true
		_ = o.conn.Close() // ends the reader, too
	}
	o.push(queued{line, false})
}

// print adds output, in several notices if it is long.
func (o *outbox) print(stream, text string) {
	for text != "" {
		part := text
		if len(part) > mostChunk {
			end := mostChunk
			for end > mostChunk-utf8.UTFMax && !utf8.RuneStart(part[end]) {
				end--
			}
			part = part[:end]
		}
		text = text[len(part):]
		o.printPart(stream, part)
	}
}

func (o *outbox) printPart(stream, text string) {
	line := encodeLine(0, debug.Notice{Report: debug.ReportOutput, Stream: stream, Text: text})
	o.mutex.Lock()
	defer o.mutex.Unlock()
	switch {
	case o.isEnded:
	case o.printed+len(line) > mostOutput:
		o.omitted += len(text)
	default:
		o.reportOmitted()
		o.printed += len(line)
		o.push(queued{line, true})
	}
}

// reportOmitted reports how much output was omitted since the last report.
func (o *outbox) reportOmitted() {
	if o.omitted > 0 {
		o.push(queued{encodeLine(0, debug.Notice{Report: debug.ReportOmitted, Omitted: o.omitted}), false})
		o.omitted = 0
	}
}

func (o *outbox) push(entry queued) {
	o.queue = append(o.queue, entry)
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// take returns lines to write, and whether more may come.
func (o *outbox) take() (entries []queued, isOpen bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.queue) == 0 {
		o.reportOmitted()
	}
	count := 0
	for size := 0; count < len(o.queue) && (count == 0 || size+len(o.queue[count].line) <= mostWrite); count++ {
		size += len(o.queue[count].line)
	}
	entries = o.queue[:count:count]
	if o.queue = o.queue[count:]; len(o.queue) == 0 {
		o.queue = nil
	}
	return entries, !o.isEnded
}

// written forgets lines that the client has.
func (o *outbox) written(entries []queued) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, entry := range entries {
		if entry.isOutput {
			o.printed -= len(entry.line)
		} else {
			o.unsent = max(0, o.unsent-len(entry.line))
		}
	}
}

// write writes lines until end was called, or the client does not take them.
func (o *outbox) write() {
	defer close(o.done)
	defer o.forget()
	for {
		entries, isOpen := o.take()
		switch {
		case len(entries) > 0:
			if !o.writeAll(entries) {
				return
			}
			o.written(entries)
		case !isOpen:
			return
		default:
			<-o.news
		}
	}
}

// forget drops output that nobody will read.
func (o *outbox) forget() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.isEnded, o.queue = true, nil
}

func (o *outbox) writeAll(entries []queued) bool {
	var batch []byte
	for _, entry := range entries {
		batch = append(batch, entry.line...)
	}
	late := time.AfterFunc(o.patience, func() { _ = o.conn.Close() })
	defer late.Stop()
	if _, err := o.conn.Write(batch); err != nil {
		_ = o.conn.Close() // ends the reader, too
		return false
	}
	return true
}

// end writes the rest, as long as the limit permits, and closes the connection.
func (o *outbox) end(limit time.Duration) {
	o.mutex.Lock()
	o.isEnded = true
	o.mutex.Unlock()
	select {
	case o.news <- struct{}{}:
	default:
	}
	late := time.AfterFunc(limit, func() { _ = o.conn.Close() })
	defer late.Stop()
	<-o.done
	_ = o.conn.Close() // everything was written, or nobody takes it
}
