package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/remote"
)

// errNotRecorded tells that a definition runs what was not run for real.
var errNotRecorded = errors.New("no such command was recorded, or no further one")

// maxPlayedBytes bounds a file that a flow writes.
const maxPlayedBytes = 16 << 20

// A playback is a connection that answers each command with the first recording
// of it that has not been used. Files are kept in memory.
type playback struct {
	place      remote.Info
	lock       sync.Mutex
	recordings []*Case
	used       []bool
	last       string     // folder of the recording that was used last
	refused    [][]string // commands that nothing was recorded for
	files      map[string]playedFile
	giveUp     context.CancelFunc // called when a command is refused: the rest of the step would only repeat it
}

func newPlayback(f *Flow) *playback {
	info := f.Place.Info()
	return &playback{
		place: info, recordings: f.Commands, used: make([]bool, len(f.Commands)),
		files: map[string]playedFile{info.Home: {name: path.Base(info.Home), mode: fs.ModeDir | 0o700}},
	}
}

// Start answers.
func (p *playback) Start(ctx context.Context, start remote.Command) (remote.Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, &remote.StartError{Program: start.Arguments[0], Directory: start.Directory, Err: err}
	}
	found := p.take(start.Arguments)
	if found == nil {
		return nil, &remote.StartError{Program: start.Arguments[0], Directory: start.Directory, Err: errNotRecorded}
	}
	return answerWith(found, start)
}

func (p *playback) take(arguments []string) *Case {
	p.lock.Lock()
	defer p.lock.Unlock()
	for i, recorded := range p.recordings {
		if !p.used[i] && MatchArguments(recorded.Arguments, arguments) {
			p.used[i], p.last = true, recorded.Folder
			return recorded
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

// takeRefused returns the commands that nothing was recorded for since it was
// called last, and the first recording that waits for its command.
func (p *playback) takeRefused() (refused [][]string, next *Case) {
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

func (p *playback) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.place.Home, name)
}

func (p *playback) find(operation, name string) (playedFile, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	file, found := p.files[p.absolute(name)]
	if !found {
		return file, &fs.PathError{Op: operation, Path: name, Err: fs.ErrNotExist}
	}
	return file, nil
}

// Stat describes a file that the flow has written.
func (p *playback) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	file, err := p.find("stat", name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Open opens a file that the flow has written.
func (p *playback) Open(_ context.Context, name string) (remote.File, error) {
	file, err := p.find("open", name)
	if err != nil {
		return nil, err
	}
	return openedFile{strings.NewReader(file.content), file}, nil
}

// WriteFile keeps a file in memory.
func (p *playback) WriteFile(_ context.Context, name string, content io.Reader, mode fs.FileMode) error {
	var kept bytes.Buffer
	if n, err := io.Copy(&kept, io.LimitReader(content, maxPlayedBytes+1)); err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	} else if n > maxPlayedBytes {
		return fmt.Errorf("writing %q: it has more than %d bytes", name, maxPlayedBytes)
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.files[p.absolute(name)] = playedFile{name: path.Base(name), mode: mode.Perm(), content: kept.String()}
	return nil
}

// Chmod changes the permissions of a file.
func (p *playback) Chmod(_ context.Context, name string, mode fs.FileMode) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	file, there := p.files[p.absolute(name)]
	if !there {
		return &fs.PathError{Op: "chmod", Path: name, Err: fs.ErrNotExist}
	}
	file.mode = file.mode.Type() | mode.Perm()
	p.files[p.absolute(name)] = file
	return nil
}

// MkdirAll makes a folder and those above it.
func (p *playback) MkdirAll(_ context.Context, name string, mode fs.FileMode) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	for folder := p.absolute(name); folder != "/"; folder = path.Dir(folder) {
		if _, there := p.files[folder]; !there {
			p.files[folder] = playedFile{name: path.Base(folder), mode: fs.ModeDir | mode.Perm()}
		}
	}
	return nil
}

// Remove forgets a file.
func (p *playback) Remove(_ context.Context, name string) error {
	if _, err := p.find("remove", name); err != nil {
		return err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.files, p.absolute(name))
	return nil
}

// Info describes the place of the flow.
func (p *playback) Info() remote.Info { return p.place }

// Close does nothing.
func (p *playback) Close() error { return nil }

// A playedFile is a file in memory, and its own description.
type playedFile struct {
	name, content string
	mode          fs.FileMode
}

// Name returns the last part of the path.
func (f playedFile) Name() string { return f.name }

// Size returns the length in bytes.
func (f playedFile) Size() int64 { return int64(len(f.content)) }

// Mode returns the permissions, and whether it is a folder.
func (f playedFile) Mode() fs.FileMode { return f.mode }

// ModTime returns the zero time: nothing that is played depends on it.
func (f playedFile) ModTime() time.Time { return time.Time{} }

// IsDir reports whether it is a folder.
func (f playedFile) IsDir() bool { return f.mode.IsDir() }

// Sys returns nil.
func (f playedFile) Sys() any { return nil }

type openedFile struct {
	*strings.Reader
	file playedFile
}

// Stat describes the file.
func (f openedFile) Stat() (fs.FileInfo, error) { return f.file, nil }

// Close does nothing.
func (f openedFile) Close() error { return nil }
