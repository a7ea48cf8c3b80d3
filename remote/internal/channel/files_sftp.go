package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/pkg/sftp"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/remote"
)

// writesAtOnce is how many blocks of a file are under way at a time: with 32 KiB
// each, enough for 100 MB/s over a round trip of 20 ms.
const writesAtOnce = 64

// sftpFiles works on files over the SFTP subsystem.
type sftpFiles struct {
	pool    *pool
	channel Channel
	client  *sftp.Client
	over    chan struct{} // closed when the service has ended
	broken  atomic.Bool   // its channel fails
	closing sync.Once
}

// lastWords is how long a channel whose service did not begin may take to end.
const lastWords = 2 * time.Second

// openSFTP opens the service. ErrNoSubsystem reports that the host does not offer it,
// errNoRoom that it would leave too few channels for commands. Until the number of
// channels is known, openSFTP opens shells at the same time to find out.
func openSFTP(ctx context.Context, p *pool) (*sftpFiles, error) {
	opened, spare := make(chan struct{}), make(chan error, 1)
	p.crew.run(func() { spare <- p.spare(ctx, opened) })
	service, err := beginSFTP(ctx, p)
	close(opened)
	room := <-spare
	if err != nil {
		return nil, err
	}
	if room != nil {
		service.leave()
		return nil, room
	}
	return service, nil
}

// shellsBesides is how many shells a host has to serve besides SFTP.
const shellsBesides = 2

// spare holds shells until the service has been opened. It returns errNoRoom if the host
// opens too few channels for both.
func (p *pool) spare(ctx context.Context, opened <-chan struct{}) error {
	enough := func() bool {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		return p.oneShot || p.proven > shellsBesides
	}
	for count := 0; count < shellsBesides && !enough(); count++ {
		s, err := p.shell(ctx, forSignals)
		if err != nil {
			return err
		}
		defer p.release(s, true)
	}
	<-opened
	if !enough() {
		return errNoRoom
	}
	return nil
}

// beginSFTP opens the subsystem.
func beginSFTP(ctx context.Context, p *pool) (*sftpFiles, error) {
	if idle, err := p.acquire(ctx, forFiles); err != nil {
		return nil, err
	} else if idle != nil {
		p.release(idle, true)
		return nil, errNoRoom
	}
	opened, err := p.connect(ctx, forFiles, func() (Channel, error) { return p.dialer.Open(ctx, "sftp", Options{Subsystem: true}) })
	if err != nil {
		return nil, err
	}
	p.mutex.Lock()
	p.settle(true)
	p.mutex.Unlock()
	f := &sftpFiles{pool: p, channel: opened, over: make(chan struct{})}
	// Its error stream has to be read, or it would block.
	p.crew.run(func() { _, _ = io.Copy(io.Discard, opened.Stderr()) })
	patience, cancel := context.WithTimeout(ctx, p.settings.Patience)
	defer cancel()
	stop := context.AfterFunc(patience, func() { _ = opened.Close() })
	pipe := watched{opened.Stdout(), opened.Stdin(), &f.broken}
	client, err := sftp.NewClientPipe(pipe, pipe, sftp.UseConcurrentWrites(true), sftp.MaxConcurrentRequestsPerFile(writesAtOnce))
	givenUp := !stop()
	if err != nil {
		failure := f.explain(ctx, err, givenUp)
		close(f.over)
		f.leave()
		return nil, failure
	}
	f.client = client
	p.crew.run(func() {
		// What ended it is what its operations return.
		_ = client.Wait()
		close(f.over)
		f.leave()
	})
	return f, nil
}

// explain returns why the service did not begin. A server whose SFTP program is missing
// accepts the request and ends the channel.
func (f *sftpFiles) explain(ctx context.Context, err error, givenUp bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// If writing failed, the channel may not have ended yet, and its end shows the reason.
	impatient := time.AfterFunc(lastWords, func() { _ = f.channel.Close() })
	_, _ = io.Copy(io.Discard, f.channel.Stdout())
	givenUp = !impatient.Stop() || givenUp
	_ = f.channel.Close()
	_, ending := f.pool.ending(f.channel, givenUp)
	if connect, isLost := errors.AsType[*remote.ConnectError](ending); isLost {
		return connect
	}
	return fmt.Errorf("%w: %w", ErrNoSubsystem, err)
}

// leave ends the channel and frees its room in the pool.
func (f *sftpFiles) leave() {
	f.closing.Do(func() {
		_ = f.channel.Close()
		f.pool.vacate(forFiles, 1)
	})
}

func (f *sftpFiles) usable() bool { return !execution.IsClosed(f.over) }

// do runs one operation. The library does not know contexts: when ctx is done
// and the operation does not end soon, the service is ended under it.
func (f *sftpFiles) do(ctx context.Context, work func() error) error {
	done := make(chan struct{})
	giveUp := context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(f.pool.settings.Linger):
			f.leave()
		}
	})
	err := work()
	close(done)
	giveUp()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, isAnswer := errors.AsType[*sftp.StatusError](err); !isAnswer && !f.lives(err) {
		return f.lost(err)
	}
	return err
}

// lives reports whether an error is about a file, not about the service. A
// channel that is a pipe may refuse a request before its end is seen.
func (f *sftpFiles) lives(err error) bool {
	return f.usable() && !f.broken.Load() && !errors.Is(err, sftp.ErrSSHFxConnectionLost) && !errors.Is(err, sftp.ErrSSHFxNoConnection)
}

// watched notes that a channel fails, which errors of the library do not always show.
type watched struct {
	io.Reader
	io.WriteCloser
	broken *atomic.Bool
}

func (w watched) Read(buffer []byte) (int, error) {
	count, err := w.Reader.Read(buffer)
	if err != nil {
		w.broken.Store(true)
	}
	return count, err
}

func (w watched) Write(data []byte) (int, error) {
	count, err := w.WriteCloser.Write(data)
	if err != nil {
		w.broken.Store(true)
	}
	return count, err
}

func (f *sftpFiles) lost(err error) error {
	f.leave()
	<-f.over
	_, ending := f.pool.ending(f.channel, true)
	if connect, isLost := errors.AsType[*remote.ConnectError](ending); isLost {
		return connect
	}
	return &remote.ConnectError{Host: f.pool.settings.Host, Reason: remote.Disconnected, Err: fmt.Errorf("its SFTP service ended: %w", err)}
}

func (f *sftpFiles) stat(_ context.Context, name string) (fs.FileInfo, error) {
	return f.client.Stat(name)
}

// temporaryName returns the name of a temporary file next to a file.
func temporaryName(name string) string {
	return path.Join(path.Dir(name), files.PartialName(name, uuid.NewString()))
}

func (f *sftpFiles) write(_ context.Context, name string, content io.Reader, mode fs.FileMode) error {
	temporary := temporaryName(name)
	file, err := f.client.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if err = f.writeContent(file, content, mode); err == nil {
		err = f.rename(temporary, name)
	}
	if err == nil {
		return nil
	}
	removal := f.client.Remove(temporary)
	if !f.lives(removal) || errors.Is(removal, fs.ErrNotExist) {
		return err // which says the same, or there is nothing to remove
	}
	return errors.Join(err, removal)
}

// fill writes content into an empty file, durably where the service can, and
// closes it.
func (f *sftpFiles) writeContent(file *sftp.File, content io.Reader, mode fs.FileMode) error {
	// Nobody else may read it before it is complete.
	err := file.Chmod(mode & 0o600)
	if err == nil {
		_, err = file.ReadFromWithConcurrency(content, writesAtOnce)
	}
	if err == nil {
		err = file.Chmod(mode)
	}
	if _, offered := f.client.HasExtension("fsync@openssh.com"); err == nil && offered {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// rename replaces a file. Without the extension of OpenSSH there is a moment without
// either file.
func (f *sftpFiles) rename(from, to string) error {
	if _, offered := f.client.HasExtension("posix-rename@openssh.com"); offered {
		return f.client.PosixRename(from, to)
	}
	if info, err := f.client.Lstat(to); err == nil {
		if info.IsDir() {
			return &fs.PathError{Op: "rename", Path: to, Err: syscall.EISDIR}
		}
		if err := f.client.Remove(to); err != nil {
			return err
		}
	}
	return f.client.Rename(from, to)
}

func (f *sftpFiles) makeDirectories(ctx context.Context, name string, mode fs.FileMode) error {
	info, err := f.client.Stat(name)
	if err == nil {
		if info.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	if parent := path.Dir(name); parent != name {
		if err := f.makeDirectories(ctx, parent, mode); err != nil {
			return err
		}
	}
	if err := f.client.Mkdir(name); err != nil {
		// Another process may have made it meanwhile.
		if info, again := f.client.Stat(name); again == nil && info.IsDir() {
			return nil
		}
		return err
	}
	// The service cannot be given the mode, only what remains of it.
	info, err = f.client.Stat(name)
	if err != nil {
		return err
	}
	if permissions := info.Mode().Perm(); permissions&^mode != 0 {
		return f.client.Chmod(name, permissions&mode)
	}
	return nil
}

func (f *sftpFiles) chmod(_ context.Context, name string, mode fs.FileMode) error {
	return f.client.Chmod(name, mode)
}

func (f *sftpFiles) remove(_ context.Context, name string) error { return f.client.Remove(name) }
