package channel

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/pkg/sftp"

	"github.com/rmctl/rmctl/remote"
)

func (f *sftpFiles) open(_ context.Context, name string) (remote.File, error) {
	info, err := f.client.Stat(name)
	if err != nil {
		return nil, err
	}
	// The service would block until a process writes into the pipe.
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errPipe}
	}
	file, err := f.client.Open(name)
	if err != nil {
		return nil, err
	}
	return &sftpFile{file: file, files: f}, nil
}

var errPipe = errors.New("it is a named pipe or socket")

// sftpFile reports a lost connection as the other operations do.
type sftpFile struct {
	file  *sftp.File
	files *sftpFiles
}

func (f *sftpFile) explain(err error) error {
	if err == nil || err == io.EOF || f.files.lives(err) {
		return err
	}
	return f.files.lost(err)
}

func (f *sftpFile) Read(buffer []byte) (int, error) {
	count, err := f.file.Read(buffer)
	return count, f.explain(err)
}

// WriteTo requests many blocks at a time, which Read cannot.
func (f *sftpFile) WriteTo(sink io.Writer) (int64, error) {
	count, err := f.file.WriteTo(sink)
	return count, f.explain(err)
}

func (f *sftpFile) Seek(offset int64, whence int) (int64, error) {
	position, err := f.file.Seek(offset, whence)
	return position, f.explain(err)
}

func (f *sftpFile) Stat() (fs.FileInfo, error) {
	info, err := f.file.Stat()
	return info, f.explain(err)
}

func (f *sftpFile) Close() error {
	err := f.file.Close()
	if err != nil && !f.files.lives(err) {
		return nil // it was closed with the service
	}
	return err
}
