// Package agenttest plays agents in tests: the agent's side of recorded sessions, in a goroutine
// or as a program.
package agenttest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rmctl/rmctl/proxy"
)

// Capture returns the path of a session recorded with another project's agent. It skips the test if there
// are no recordings.
func Capture(t testing.TB, name string) string {
	t.Helper()
	folder, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "captures", "proxy", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the recorded sessions are not here (%v); RMCTL_SHARED names the folder that holds them", err)
	}
	return path
}

// shared returns the folder with recordings: RMCTL_SHARED, or the one next to the repository.
func shared() (string, error) {
	if named := os.Getenv("RMCTL_SHARED"); named != "" {
		return named, nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
	}
	return filepath.Join(filepath.Dir(folder), "shared"), nil
}

// A Script is a recorded session.
type Script struct{ lines []proxy.Line }

// Read reads a script from a file.
func Read(path string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script := &Script{}
	for number, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parsed, err := proxy.ParseLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
		}
		script.lines = append(script.lines, parsed)
	}
	return script, nil
}

// Play plays the agent's side until the script or the input ends. It waits for each command of the client
// and continues after the next command of that kind in the script, otherwise after the first. Commands
// that are not in the script get no answer. Transactions and submission ids are replaced by those of the
// client.
func (s *Script) Play(input io.Reader, output io.Writer) error {
	p := player{script: s, output: output, transactions: map[uint32]uint32{}, submissions: map[string]string{}}
	commands := proxy.NewReader(input)
	for at := 0; ; {
		ended, err := p.send(at)
		if ended || err != nil {
			return err
		}
		for at = -1; at < 0; {
			frame, err := commands.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			at = p.follow(proxy.ParseCommand(frame))
		}
	}
}

// A player plays a script.
type player struct {
	script       *Script
	output       io.Writer
	next         int               // line to play next
	transactions map[uint32]uint32 // of the client, by those of the script
	submissions  map[string]string // likewise
}

// send sends the agent's frames from a line on and reports whether the agent disconnects.
func (p *player) send(from int) (ended bool, err error) {
	var bytes bytes.Buffer
	writer := bufio.NewWriter(&bytes)
	for p.next = from; p.next < len(p.script.lines); p.next++ {
		line := p.script.lines[p.next]
		if !line.FromAgent && !line.Closed {
			break
		}
		if line.Closed {
			ended = true
			break
		}
		if _, err := writer.Write(p.adapt(line.Frame).Append(nil)); err != nil {
			return false, err
		}
	}
	if err := writer.Flush(); err != nil {
		return false, err
	}
	_, err = p.output.Write(bytes.Bytes())
	return ended, err
}

// adapt gives a frame the transaction and the ids of the client.
func (p *player) adapt(frame proxy.Frame) proxy.Frame {
	isBroken := frame.ID == 0 && len(frame.Arguments) > 0 // its transaction is always 1
	if actual, known := p.transactions[frame.Transaction]; known && !isBroken {
		frame.Transaction = actual
	}
	arguments := make([]string, len(frame.Arguments))
	for i, argument := range frame.Arguments {
		id, isSubmission := strings.CutPrefix(argument, "jobSubId=")
		if isSubmission {
			argument = "jobSubId=" + cmp.Or(p.submissions[id], id)
		}
		arguments[i] = argument
	}
	frame.Arguments = arguments
	return frame
}

// follow finds the answer to a command in the script, and returns its line, or -1.
func (p *player) follow(command proxy.Command) int {
	count := len(p.script.lines)
	for i := range count {
		at := (p.next + i) % count
		line := p.script.lines[at]
		if line.FromAgent || line.Closed {
			continue
		}
		scripted := proxy.ParseCommand(line.Frame)
		if scripted.ID != command.ID {
			continue
		}
		p.transactions[scripted.Transaction] = command.Transaction
		if id, given := scripted.Attributes.Value("jobSubId"); given {
			p.submissions[id], _ = command.Attributes.Value("jobSubId")
		}
		return at + 1
	}
	return -1
}
