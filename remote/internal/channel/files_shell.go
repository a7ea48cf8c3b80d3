package channel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/internal/files"
	"github.com/rmctl/rmctl/remote"
)

// shellFiles works on files through commands, where SFTP is not offered.
type shellFiles struct{ connection *connection }

// do runs the operation, whose commands observe ctx themselves.
func (s shellFiles) do(_ context.Context, work func() error) error { return work() }

// chunkSize is how much of a file one command reads.
const chunkSize = 1 << 20

// Exit codes of the scripts below, besides those of the commands in them.
const (
	codeAbsent    = 70
	codeDirectory = 71
	codeOther     = 72
	codeReplaced  = 73
	codeNoParent  = 74
)

// run runs a script with sh, and turns its end into an error of package fs.
func (s shellFiles) run(ctx context.Context, operation, name, script string, input io.Reader, arguments ...string) (string, error) {
	command := remote.Command{
		Arguments:   append([]string{"/bin/sh", "-c", script, "sh", name}, arguments...),
		Environment: map[string]string{"LC_ALL": "C"},
		Stdin:       input,
	}
	answer, err := s.connection.run(ctx, command)
	if err != nil {
		return "", err
	}
	failed := func(err error) (string, error) {
		return "", &fs.PathError{Op: operation, Path: name, Err: err}
	}
	switch answer.code {
	case 0:
		return answer.stdout, nil
	case codeAbsent:
		return failed(syscall.ENOENT)
	case codeDirectory:
		return failed(syscall.EISDIR)
	case codeOther:
		return failed(errPipe)
	case codeReplaced:
		return failed(errReplaced)
	case codeNoParent:
		return failed(syscall.ENOTDIR)
	}
	if strings.Contains(answer.stderr, "Permission denied") {
		return failed(syscall.EACCES)
	}
	return failed(fmt.Errorf("code %d: %q", answer.code, strings.TrimSpace(answer.stderr)))
}

var errReplaced = errors.New("it was replaced while it was read")

// statScript prints what GNU and busybox, or BSD, say about a file: permissions and
// type, size, time.
const statScript = `[ -e "$1" ] || { ls -d -- "$1" >/dev/null && exit 70; [ -e "${1%/*}/." ] || exit 70; ls -L -- "$1" 2>&1 >/dev/null | grep -q 'Permission denied' && { echo 'Permission denied' >&2; exit 1; }; exit 70; }
stat -L -c '%f %s %Y' -- "$1" 2>/dev/null || stat -L -f '%Xp %z %m' -- "$1"`

func (s shellFiles) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	printed, err := s.run(ctx, "stat", name, statScript, nil)
	if err != nil {
		return nil, err
	}
	return parseStat(name, printed)
}

// parseStat reads what statScript printed.
func parseStat(name, printed string) (fs.FileInfo, error) {
	words := strings.Fields(printed)
	if len(words) == 3 {
		mode, modeErr := strconv.ParseUint(words[0], 16, 32)
		size, sizeErr := strconv.ParseInt(words[1], 10, 64)
		seconds, timeErr := strconv.ParseInt(words[2], 10, 64)
		if modeErr == nil && sizeErr == nil && timeErr == nil {
			return files.Info{FileName: []byte(path.Base(name)), FileSize: size, FileMode: fileMode(uint32(mode)), Modified: time.Unix(seconds, 0)}, nil
		}
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fmt.Errorf("the program stat printed %q", printed)}
}

// fileMode turns st_mode, whose values are the same everywhere.
func fileMode(mode uint32) fs.FileMode {
	result := fs.FileMode(mode & 0o777)
	types := map[uint32]fs.FileMode{
		0o040000: fs.ModeDir, 0o120000: fs.ModeSymlink, 0o010000: fs.ModeNamedPipe, 0o140000: fs.ModeSocket,
		0o020000: fs.ModeDevice | fs.ModeCharDevice, 0o060000: fs.ModeDevice,
	}
	result |= types[mode&0o170000]
	for bit, meaning := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			result |= meaning
		}
	}
	return result
}

// openScript prints the number that the file system knows the file by, and its
// first piece.
const openScript = `[ -e "$1" ] || exit 70
[ -f "$1" ] || [ -d "$1" ] || [ -c "$1" ] || exit 72
[ -d "$1" ] && exec ls -Ldi -- "$1"
for try in 1 2 3 4 5 6 7 8 9; do
	before=$(ls -Ldi -- "$1" | { read -r number rest; echo "$number"; })
	exec 3<"$1" || exit 1
	after=$(ls -Ldi -- "$1" | { read -r number rest; echo "$number"; })
	[ "$before" = "$after" ] && break
done
echo "$before"
head -c "$2" <&3`

func (s shellFiles) open(ctx context.Context, name string) (remote.File, error) {
	printed, err := s.run(ctx, "open", name, openScript, nil, strconv.Itoa(chunkSize))
	if err != nil {
		return nil, err
	}
	line, piece, _ := strings.Cut(printed, "\n")
	number, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	lifetime, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &shellFile{
		files: s, name: name, number: number, ctx: lifetime, cancel: cancel,
		ahead: []byte(piece), short: len(piece) < chunkSize,
	}, nil
}

// shellFile reads a file piece by piece. It fails if the file is replaced meanwhile.
type shellFile struct {
	files  shellFiles
	name   string
	number string
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mutex    sync.Mutex
	position int64
	ahead    []byte // what follows position
	short    bool   // the last piece ended with the file
}

// readScript prints a piece of the file, if it still is the same.
const readScript = `[ -d "$1" ] && exit 71
[ -e "$1" ] || exit 73
exec 3<"$1" || exit 1
[ "$(ls -Ldi -- "$1" | { read -r number rest; echo "$number"; })" = "$2" ] || exit 73
tail -c "+$3" <&3 | head -c "$4"`

func (f *shellFile) Read(buffer []byte) (int, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.ctx.Err() != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrClosed}
	}
	if len(buffer) == 0 {
		return 0, nil
	}
	if len(f.ahead) == 0 {
		piece, err := f.files.run(f.ctx, "read", f.name, readScript, nil, f.number, strconv.FormatInt(f.position+1, 10), strconv.Itoa(chunkSize))
		if errors.Is(err, errReplaced) && f.short {
			return 0, io.EOF // the one that we have is complete
		}
		if err != nil {
			return 0, err
		}
		f.short = len(piece) < chunkSize
		if piece == "" {
			return 0, io.EOF
		}
		f.ahead = []byte(piece)
	}
	count := copy(buffer, f.ahead)
	f.ahead = f.ahead[count:]
	f.position += int64(count)
	return count, nil
}

func (f *shellFile) Seek(offset int64, whence int) (int64, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.position
	case io.SeekEnd:
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		offset += info.Size()
	default:
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: syscall.EINVAL}
	}
	if offset < 0 {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: syscall.EINVAL}
	}
	f.position, f.ahead = offset, nil
	return offset, nil
}

func (f *shellFile) Stat() (fs.FileInfo, error) { return f.files.stat(f.ctx, f.name) }

func (f *shellFile) Close() error {
	f.cancel()
	return nil
}

// The content goes into a file next to the target. A second command replaces the target
// once the content is complete.
const (
	uploadScript = `umask 077; [ -d "${1%/*}/." ] || { [ -e "${1%/*}" ] && exit 74; exit 70; }; cat >"$1"`
	placeScript  = `if [ -d "$2" ] && [ ! -L "$2" ]; then exit 71; fi
chmod "$3" "$1" || exit
sync "$1" 2>/dev/null
if [ -L "$2" ] && [ -d "$2" ]; then mv -fT -- "$1" "$2"; else mv -f -- "$1" "$2"; fi`
	discardScript = `rm -f -- "$1"`
)

func (s shellFiles) write(ctx context.Context, name string, content io.Reader, mode fs.FileMode) error {
	temporary := temporaryName(name)
	_, err := s.run(ctx, "write", temporary, uploadScript, content)
	if err == nil {
		_, err = s.run(ctx, "rename", temporary, placeScript, nil, name, permissions(mode))
	}
	if err == nil || errors.Is(err, remote.ErrUnreachable) {
		return err
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	aftermath, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.connection.settings.Patience)
	defer cancel()
	_, removal := s.run(aftermath, "remove", temporary, discardScript, nil)
	return errors.Join(err, removal)
}

// permissions is what chmod understands.
func permissions(mode fs.FileMode) string { return fmt.Sprintf("%04o", mode.Perm()) }

// makeScript makes directories with a mode, reduced by the umask as the system call does.
const makeScript = `[ -d "$1" ] && exit 0
for above in "${1%/*}"; do
	while [ -n "$above" ] && [ ! -e "$above" ]; do above=${above%/*}; done
	[ -z "$above" ] || [ -d "$above" ] || exit 74
done
[ -e "$1" ] && exit 74
umask "$(printf '%04o' $(( $(umask) | 0777 & ~0$2 )))"
mkdir -p -- "$1"`

func (s shellFiles) makeDirectories(ctx context.Context, name string, mode fs.FileMode) error {
	_, err := s.run(ctx, "mkdir", name, makeScript, nil, permissions(mode))
	return err
}

func (s shellFiles) chmod(ctx context.Context, name string, mode fs.FileMode) error {
	_, err := s.run(ctx, "chmod", name, `[ -e "$1" ] || exit 70; chmod "$2" "$1"`, nil, permissions(mode))
	return err
}

func (s shellFiles) remove(ctx context.Context, name string) error {
	_, err := s.run(ctx, "remove", name, `[ -e "$1" ] || [ -L "$1" ] || exit 70
if [ -d "$1" ] && [ ! -L "$1" ]; then rmdir -- "$1"; else rm -f -- "$1"; fi`, nil)
	return err
}
