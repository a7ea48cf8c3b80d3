package remotetest

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// Faults are what a line does to the bytes that pass it. Without any they pass
// as they are.
type Faults struct {
	Delay  time.Duration // how much later bytes arrive, in each direction
	Jitter time.Duration // how much later still at most, at random; their order stays
	// ChunkSize is how many bytes arrive at once at most; how many exactly is
	// random.
	ChunkSize int
	// CutAfterBytes have passed, in both directions together, when the line is
	// cut; StallAfterBytes when it stays up but lets nothing pass any more.
	// Zero is never.
	CutAfterBytes   int64
	StallAfterBytes int64
	Seed            uint64 // of what is random
}

// How many bytes are taken from an end at once, and how often before they have
// to arrive at the other one: what a line holds must not grow.
const (
	lineBuffer = 32 << 10
	lineQueue  = 64
)

// line passes bytes between two ends.
type line struct {
	faults Faults
	ends   [2]io.ReadWriteCloser

	lock    sync.Mutex
	passed  int64
	resumed chan struct{} // not nil while nothing passes; closed when it does again

	broken    chan struct{} // closed when the line is cut
	breakOnce sync.Once
	serving   sync.WaitGroup
}

// startLine connects two ends, and closes them when it is cut or both have
// nothing more to say.
func startLine(near, far io.ReadWriteCloser, faults Faults) *line {
	l := &line{faults: faults, ends: [2]io.ReadWriteCloser{near, far}, broken: make(chan struct{})}
	var directions sync.WaitGroup
	for i, from := range l.ends {
		queue := make(chan delayed, lineQueue)
		random := rand.New(rand.NewPCG(faults.Seed, uint64(i)))
		directions.Go(func() {
			defer close(queue)
			l.take(from, queue)
		})
		directions.Go(func() { l.deliver(queue, l.ends[1-i], random) })
	}
	l.serving.Go(func() {
		directions.Wait()
		l.closeEnds(false)
	})
	return l
}

// delayed are bytes, or the failure of the end they are from, and when it was
// taken.
type delayed struct {
	data   []byte
	failed bool
	taken  time.Time
}

// take reads from an end until that has nothing more to say.
func (l *line) take(from io.Reader, queue chan<- delayed) {
	for {
		data := make([]byte, lineBuffer)
		count, err := from.Read(data)
		if count == 0 && err == io.EOF {
			return
		}
		select {
		case queue <- delayed{data: data[:count], failed: err != nil && err != io.EOF, taken: time.Now()}:
		case <-l.broken:
			return
		}
		if err != nil {
			return
		}
	}
}

// deliver writes to an end what was taken from the other one. An end that takes
// nothing any more may still have something on its way to the other one, which
// is delivered.
func (l *line) deliver(queue <-chan delayed, to io.WriteCloser, random *rand.Rand) {
	refused := false
	for piece := range queue {
		late := l.faults.Delay
		if l.faults.Jitter > 0 {
			late += time.Duration(random.Int64N(int64(l.faults.Jitter)))
		}
		if !l.pause(time.Until(piece.taken.Add(late))) {
			return
		}
		if !refused {
			refused = l.write(to, piece.data, random) != nil
		}
		if piece.failed {
			l.cut()
		}
	}
	// The end hears that no more comes, but may go on talking if it can.
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it may be gone
	} else {
		l.closeEnds(false)
	}
}

// pause waits, and reports whether the line still stands.
func (l *line) pause(duration time.Duration) bool {
	if duration <= 0 {
		return true
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.broken:
		return false
	}
}

// write writes in chunks. It cuts the line when it is time to.
func (l *line) write(to io.Writer, data []byte, random *rand.Rand) error {
	for len(data) > 0 {
		size := len(data)
		if l.faults.ChunkSize > 0 {
			size = min(size, 1+random.IntN(l.faults.ChunkSize))
		}
		size, stands := l.allow(size)
		if size > 0 {
			if _, err := to.Write(data[:size]); err != nil {
				return err
			}
		}
		if !stands {
			l.cut()
			return io.ErrClosedPipe
		}
		data = data[size:]
	}
	return nil
}

// allow waits while nothing may pass, and returns how many of the bytes may,
// and whether the line stands after them.
func (l *line) allow(size int) (allowed int, stands bool) {
	for {
		l.lock.Lock()
		resumed := l.resumed
		if resumed == nil {
			break
		}
		l.lock.Unlock()
		select {
		case <-resumed:
		case <-l.broken:
			return 0, false
		}
	}
	defer l.lock.Unlock()
	if limit := l.faults.StallAfterBytes; limit > 0 && l.passed+int64(size) >= limit && l.passed < limit {
		size = int(limit - l.passed)
		l.resumed = make(chan struct{})
	}
	stands = true
	if limit := l.faults.CutAfterBytes; limit > 0 && l.passed+int64(size) >= limit {
		size, stands = int(max(limit-l.passed, 0)), false
	}
	l.passed += int64(size)
	return size, stands
}

// stall lets nothing pass until resume.
func (l *line) stall() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.resumed == nil {
		l.resumed = make(chan struct{})
	}
}

func (l *line) resume() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.resumed != nil {
		close(l.resumed)
		l.resumed = nil
	}
}

// cut closes both ends at once, whatever is on its way.
func (l *line) cut() { l.closeEnds(true) }

// closeEnds ends the line. TCP connections are reset if it is to be abrupt,
// otherwise what was written to them still arrives.
func (l *line) closeEnds(abrupt bool) {
	l.breakOnce.Do(func() {
		close(l.broken)
		for _, end := range l.ends {
			if connection, ok := end.(interface{ SetLinger(int) error }); ok && abrupt {
				_ = connection.SetLinger(0) // a connection that is gone already needs no reset
			}
			_ = end.Close() // it may be what was lost
		}
	})
}

// end cuts the line and waits for what serves it.
func (l *line) end() {
	l.cut()
	l.serving.Wait()
}

// A Faulty is a stream with faults. It is made of another one.
type Faulty struct {
	end  streamEnd
	line *line
}

// NewFaulty returns a stream that passes what is read from and written to the
// wrapped one, with faults. Reads and writes may be concurrent. What was
// written arrives later and errors of the wrapped stream are ends of the input
// or io.ErrClosedPipe, as over a network.
func NewFaulty(wrapped io.ReadWriteCloser, faults Faults) *Faulty {
	fromUser, user := io.Pipe()
	toUser, line := io.Pipe()
	return &Faulty{
		end:  streamEnd{toUser, user},
		line: startLine(streamEnd{fromUser, line}, wrapped, faults),
	}
}

func (f *Faulty) Read(buffer []byte) (int, error)  { return f.end.Read(buffer) }
func (f *Faulty) Write(buffer []byte) (int, error) { return f.end.Write(buffer) }

// CloseWrite closes the wrapped stream for writing once all has arrived, or closes it
// entirely if it has no end of its own for writing.
func (f *Faulty) CloseWrite() error { return f.end.CloseWrite() }

// Close closes the wrapped stream at once. What is on its way is lost.
func (f *Faulty) Close() error {
	err := f.end.Close()
	f.line.end()
	return err
}

// Cut closes the wrapped stream at once, as a network that fails would do.
func (f *Faulty) Cut() { f.line.end() }

// Stall lets nothing pass until Resume.
func (f *Faulty) Stall() { f.line.stall() }

// Resume lets everything pass again.
func (f *Faulty) Resume() { f.line.resume() }

// streamEnd is one end of two pipes.
type streamEnd struct {
	*io.PipeReader
	writer *io.PipeWriter
}

func (e streamEnd) Write(data []byte) (int, error) { return e.writer.Write(data) }
func (e streamEnd) CloseWrite() error              { return e.writer.Close() }
func (e streamEnd) Close() error                   { return errors.Join(e.PipeReader.Close(), e.writer.Close()) }
