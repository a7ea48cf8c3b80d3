package agenttrace

import (
	"errors"
	"os"
	"sync"

	"github.com/rmctl/rmctl/proxy"
)

// maxKept bounds the messages that a Recorder keeps, in bytes.
const maxKept = 1 << 20

// A Recorder keeps the newest messages of sessions and writes new ones to followed files. The zero value
// is ready to use.
type Recorder struct {
	mutex sync.Mutex
	lines []proxy.Line
	size  int // of lines
	files map[string]*followed
}

// followed is a file that receives the messages.
type followed struct {
	file   *os.File
	write  func(proxy.Line) error
	users  int
	failed chan struct{} // closed after err is set
	err    error
}

// Write stores a message and writes it to followed files. If that fails, followers of the file get the
// error.
func (r *Recorder) Write(line proxy.Line) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.lines, r.size = append(r.lines, line), r.size+weight(line)
	first := 0
	for ; r.size > maxKept && first < len(r.lines)-1; first++ {
		r.size -= weight(r.lines[first])
		r.lines[first] = proxy.Line{}
	}
	r.lines = r.lines[first:]
	for _, each := range r.files {
		each.put(line)
	}
}

func weight(line proxy.Line) int {
	weight := 100
	for _, argument := range line.Frame.Arguments {
		weight += len(argument) + 20
	}
	return weight
}

func (f *followed) put(line proxy.Line) {
	if f.err != nil {
		return
	}
	if f.err = f.write(line); f.err != nil {
		close(f.failed)
	}
}

// Follow appends the kept and all new messages to a file, until end is called or a write fails, which
// closes failed. A file with several followers gets each message once.
func (r *Recorder) Follow(path string) (failed <-chan struct{}, end func() error, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	f := r.files[path]
	if f == nil {
		if f, err = r.add(path); err != nil {
			return nil, nil, err
		}
	}
	f.users++
	return f.failed, func() error { return r.leave(path, f) }, nil
}

func (r *Recorder) add(path string) (*followed, error) {
	file, err := Append(path)
	if err != nil {
		return nil, err
	}
	f := &followed{file: file, write: To(file), failed: make(chan struct{})}
	for _, line := range r.lines {
		f.put(line)
	}
	if r.files == nil {
		r.files = map[string]*followed{}
	}
	r.files[path] = f
	return f, nil
}

// leave returns why messages are missing from the file.
func (r *Recorder) leave(path string, f *followed) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if f.users--; f.users > 0 {
		return f.err
	}
	delete(r.files, path)
	return errors.Join(f.err, f.file.Close())
}
