package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/remote"
)

// errNotRecorded is the error of a command that was not run for real.
var errNotRecorded = errors.New("no unused recording of this command")

// maxPlayedBytes bounds a file that a flow writes.
const maxPlayedBytes = 16 << 20

// A playback is a connection that answers each command with the first recording
// of it that has not been used. Its files are below a folder of this machine, and nothing else of
// this machine can be seen.
type playback struct {
	place      remote.Info
	lock       sync.Mutex
	recordings []*Case
	used       []bool
	last       string     // folder of the recording that was used last
	refused    [][]string // commands that nothing was recorded for
	files      *os.Root
	giveUp     context.CancelFunc // called when a command is refused: the rest of the step would only repeat it
}

// newPlayback returns a playback with files in a folder that it makes; its user closes files.
func newPlayback(f *Flow, folder string) (*playback, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	files, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	p := &playback{place: f.Place.Info(), recordings: f.Commands, used: make([]bool, len(f.Commands)), files: files}
	if err := files.MkdirAll(p.inside(p.place.Home), 0o700); err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return p, nil
}

// Start answers.
func (p *playback) Start(ctx context.Context, start remote.Command) (remote.Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, &remote.StartError{Program: start.Arguments[0], Directory: start.Directory, Err: err}
	}
	found := p.findRecording(start.Arguments)
	if found == nil {
		return nil, &remote.StartError{Program: start.Arguments[0], Directory: start.Directory, Err: errNotRecorded}
	}
	return answerWith(found, start)
}

func (p *playback) findRecording(arguments []string) *Case {
	p.lock.Lock()
	defer p.lock.Unlock()
	for i, recorded := range p.recordings {
		if !p.used[i] && MatchArguments(recorded.Arguments, withMark(arguments, markIn(recorded.Arguments))) {
			p.used[i], p.last = true, recorded.Folder
			return recorded.marked(markIn(arguments))
		}
	}
	p.refused = append(p.refused, arguments)
	if p.giveUp != nil {
		p.giveUp()
	}
	return nil
}

// answering returns the folder of the recording that was used last.
func (p *playback) answering() string {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.last
}

// collectRefused returns the commands that nothing was recorded for since it was
// called last, and the first recording that waits for its command.
func (p *playback) collectRefused() (refused [][]string, next *Case) {
	p.lock.Lock()
	defer p.lock.Unlock()
	refused, p.refused = p.refused, nil
	for i, recorded := range p.recordings {
		if !p.used[i] {
			return refused, recorded
		}
	}
	return refused, nil
}

// unused returns the recordings whose commands were not run.
func (p *playback) unused() []*Case {
	p.lock.Lock()
	defer p.lock.Unlock()
	var left []*Case
	for i, recorded := range p.recordings {
		if !p.used[i] {
			left = append(left, recorded)
		}
	}
	return left
}

// inside returns where a file of the place is below the folder of its files.
func (p *playback) inside(name string) string {
	if !path.IsAbs(name) {
		name = path.Join(p.place.Home, name)
	}
	return cmp.Or(strings.TrimPrefix(path.Clean(name), "/"), ".")
}

// Stat describes a file that the flow has written.
func (p *playback) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	return p.files.Stat(p.inside(name))
}

// Open opens a file that the flow has written.
func (p *playback) Open(_ context.Context, name string) (remote.File, error) {
	file, err := p.files.Open(p.inside(name))
	if err != nil {
		return nil, err
	}
	return file, nil
}

// WriteFile writes a file, and makes the folders above it.
func (p *playback) WriteFile(ctx context.Context, name string, content io.Reader, mode fs.FileMode) error {
	text, err := readAllBounded(content, maxPlayedBytes)
	if err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	}
	if err := p.files.MkdirAll(path.Dir(p.inside(name)), 0o700); err != nil {
		return err
	}
	if err := p.files.WriteFile(p.inside(name), text, 0o600); err != nil {
		return err
	}
	return p.Chmod(ctx, name, mode)
}

// Chmod changes the permissions of a file.
func (p *playback) Chmod(_ context.Context, name string, mode fs.FileMode) error {
	return p.files.Chmod(p.inside(name), mode.Perm())
}

// MkdirAll makes a folder and those above it.
func (p *playback) MkdirAll(_ context.Context, name string, mode fs.FileMode) error {
	return p.files.MkdirAll(p.inside(name), mode.Perm())
}

// Remove removes a file.
func (p *playback) Remove(_ context.Context, name string) error {
	return p.files.Remove(p.inside(name))
}

// Info describes the place of the flow.
func (p *playback) Info() remote.Info { return p.place }

// Listen refuses: recordings contain no connections.
func (p *playback) Listen(context.Context) (net.Listener, error) {
	return nil, &remote.ListenError{Host: p.place.Host, Err: errors.New("recordings contain no connections")}
}

// Close does nothing.
func (p *playback) Close() error { return nil }
