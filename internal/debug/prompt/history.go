package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/internal/files"
)

const (
	mostHistory  = 1000      // lines
	longestEntry = 4 << 10   // bytes
	mostOfFile   = 256 << 10 // bytes; a longer file loses its beginning
)

// A history is the lines that were entered, in a file that several prompts may add to.
type history struct {
	entries  []string // the latest one last
	isPaused bool
	file     string // empty for none
	err      error
}

// openHistory reads the history in a file. A file that cannot be used is reported at the end.
func openHistory(file string) *history {
	h := &history{file: file}
	if file == "" {
		return h
	}
	text, err := readEnd(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		h.file, h.err = "", fmt.Errorf("reading the history of the prompt: %w", err)
	default:
		for line := range strings.Lines(string(text)) {
			h.insert(strings.TrimSuffix(line, "\n"))
		}
	}
	return h
}

// readEnd reads the end of a private file.
func readEnd(name string) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err == nil {
		err = files.RefuseSharedKey(name)
	}
	if err != nil {
		return nil, err
	}
	start := max(info.Size()-mostOfFile, 0)
	text, err := io.ReadAll(io.NewSectionReader(file, start, mostOfFile))
	if start > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
		err = errors.Join(err, rewrite(name, text))
	}
	return text, err
}

// rewrite replaces a private file.
func rewrite(name string, text []byte) error {
	partial := files.PartialName(name, fmt.Sprint(os.Getpid()))
	err := os.WriteFile(partial, text, 0o600)
	if err == nil {
		err = os.Rename(partial, name)
	}
	return err
}

// Add adds a line, except one that begins with a blank or repeats the last one.
func (h *history) Add(entry string) {
	if h.isPaused || strings.HasPrefix(entry, " ") || !h.insert(entry) || h.file == "" {
		return
	}
	file, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err == nil {
		_, err = file.WriteString(entry + "\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		h.file, h.err = "", fmt.Errorf("writing the history of the prompt: %w", err)
	}
}

func (h *history) insert(entry string) bool {
	if strings.TrimSpace(entry) == "" || len(entry) > longestEntry || strings.ContainsAny(entry, "\n\r\x1b") {
		return false
	}
	if len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	h.entries = append(h.entries, entry)
	h.entries = h.entries[max(len(h.entries)-mostHistory, 0):]
	return true
}

// Len returns how many lines there are.
func (h *history) Len() int { return len(h.entries) }

// At returns a line, the latest one for 0.
func (h *history) At(at int) string { return h.entries[len(h.entries)-1-at] }

// close returns why the history could not be kept.
func (h *history) close() error { return h.err }
