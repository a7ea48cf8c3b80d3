package server

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/rmctl/rmctl/debug"
)

const (
	mostSources    = 1 << 16 // files that a process may name
	mostSourcePath = 4 << 10
	// mostSource bounds a source file, in bytes. Longer ones are no sources that somebody wrote.
	mostSource = 4 << 20
)

// sources are the files that frames and breakpoints of the process have named. Others are never
// read: a client that may debug a process need not get all files of its user.
type sources struct {
	mutex sync.Mutex
	named map[string]bool
}

func (s *sources) add(path string) {
	if !filepath.IsAbs(path) || len(path) > mostSourcePath {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.named == nil {
		s.named = map[string]bool{}
	}
	if len(s.named) < mostSources {
		s.named[path] = true
	}
}

func (s *sources) addAnswer(answer debug.Answer) {
	for _, frame := range answer.Frames {
		s.add(frame.File)
	}
	for _, thread := range answer.Threads {
		if thread.Frame != nil {
			s.add(thread.Frame.File)
		}
	}
	s.addPlacements(answer.Breakpoints)
}

func (s *sources) addPlacements(placements []debug.Placement) {
	for _, placement := range placements {
		s.add(placement.File)
	}
}

// answer returns the text of a file from the byte First on: Count bytes, or as many as fit in a line. Total is the
// size of the file.
func (s *sources) answer(request debug.Request) debug.Answer {
	s.mutex.Lock()
	isNamed := s.named[request.Text]
	s.mutex.Unlock()
	if !isNamed {
		return failed(fmt.Errorf("no frame or breakpoint of this process names %.200q", request.Text))
	}
	text, err := readSource(request.Text)
	if err != nil {
		return failed(err)
	}
	total := len(text)
	text = text[min(max(request.First, 0), total):]
	if request.Count > 0 {
		text = text[:min(request.Count, len(text))]
	}
	return debug.Answer{Text: string(cutToLine(text)), Total: total}
}

// cutToLine cuts a text so that it fits in a line of the protocol.
func cutToLine(text []byte) []byte {
	room := mostBody - len(`{"text":"","total":1234567890}`)
	for i, c := range text {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			room -= len(`\n`)
		case c < ' ' || c == 0xe2: // the line separators begin with 0xe2
			room -= len(`\u0000`)
		default:
			room--
		}
		if room < 0 {
			for i > 0 && !utf8.RuneStart(text[i]) {
				i--
			}
			return text[:i]
		}
	}
	return text
}

func readSource(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading a source file: %w", err)
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a source file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading a source file: %s is not a file", path)
	case info.Size() > mostSource:
		return nil, fmt.Errorf("reading a source file: %s has more than %d bytes", path, mostSource)
	}
	text, err := io.ReadAll(io.LimitReader(file, mostSource))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading a source file: %w", err)
	case bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text):
		return nil, fmt.Errorf("reading a source file: %s is not a text", path)
	}
	return text, nil
}
