package jobstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rmctl/rmctl/job"
)

// keptPrefix begins the names of the files of outcomes, in the store's directory.
const keptPrefix = "unrecorded-"

// keptRoom is the size of such a file, in bytes. All of them are written when it is made,
// so that the disk has room for them.
const keptRoom = 64 << 10

// keptHeader is the size of the header of each outcome: its length and its checksum.
const keptHeader = 8

// A keptFile has outcomes of one process that could not be recorded. The process holds its
// lock; a process that gets the lock later records the outcomes. A nil keptFile keeps
// nothing.
type keptFile struct {
	file *os.File
	used int64 // bytes from the beginning
}

// newKeptFile takes over the file of a process that has ended and left no outcome, or makes
// one, which takes longer. It is nil if files cannot be locked.
func newKeptFile(directory string) (*keptFile, error) {
	if taken, err := takeKept(directory); taken != nil || err != nil {
		return taken, err
	}
	for {
		file, err := os.CreateTemp(directory, keptPrefix+"*") // with mode 0600
		if err != nil {
			return nil, fullOr(err)
		}
		isOurs, err := lockKept(file)
		if err == nil && !isOurs {
			if err := file.Close(); err != nil {
				return nil, err
			}
			continue // another process removes it as abandoned
		}
		if err == nil {
			_, err = file.WriteAt(make([]byte, keptRoom), 0)
		}
		if err != nil {
			err = errors.Join(fullOr(err), os.Remove(file.Name()), file.Close())
			if errors.Is(err, errNoLock) {
				return nil, nil
			}
			return nil, err
		}
		return &keptFile{file: file}, nil
	}
}

// takeKept returns an abandoned file without outcomes, or nil, and removes any others.
func takeKept(directory string) (taken *keptFile, err error) {
	err = eachKept(directory, func(path string) error {
		return openKept(path, func(file *os.File) (stays bool, err error) {
			if isEmpty, err := isEmptyKept(file); err != nil || !isEmpty {
				return false, err
			}
			if taken != nil {
				return false, os.Remove(path)
			}
			taken = &keptFile{file: file}
			return true, nil
		})
	})
	return taken, err
}

// isEmptyKept reports whether a file has no outcome, and room for some.
func isEmptyKept(file *os.File) (bool, error) {
	var header [keptHeader]byte
	_, err := file.ReadAt(header[:], 0)
	if errors.Is(err, io.EOF) || header != [keptHeader]byte{} {
		return false, nil
	}
	info, statErr := file.Stat()
	return statErr == nil && info.Size() == keptRoom, errors.Join(err, statErr)
}

// eachKept calls a function with the path of each file for outcomes.
func eachKept(directory string, do func(path string) error) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), keptPrefix) || !entry.Type().IsRegular() {
			continue
		}
		if err := do(filepath.Join(directory, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// openKept calls a function with a file whose process has ended, locked. It closes the file
// unless the function says that it stays open.
func openKept(path string, do func(*os.File) (stays bool, err error)) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process was faster
	}
	if err != nil {
		return fullOr(err)
	}
	stays := false
	defer func() {
		if !stays {
			err = errors.Join(err, file.Close())
		}
	}()
	isOurs, err := lockKept(file)
	if errors.Is(err, errNoLock) {
		return nil // whether its process lives is unknown
	}
	if err == nil && isOurs {
		stays, err = do(file)
	}
	return err
}

// fullOr marks an error of writing as that of a full disk or of missing permission.
func fullOr(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("%w (%w)", errFull, err)
	}
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w (%w)", errReadOnly, err)
	}
	return err
}

// errNoLock is matched by errors for files that cannot be locked.
var errNoLock = errors.New("cannot lock the file")

// lockKept tries to lock a file, and reports whether it did and the file still exists.
func lockKept(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", errNoLock, err)
	}
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(file.Name())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}

// keptQuote bounds, in bytes, each text of an outcome that quotes output.
const keptQuote = 256

// add keeps an outcome.
func (k *keptFile) add(outcome Outcome) error {
	if k == nil {
		return errors.New("there is no file next to the record that could keep it")
	}
	written, err := encodeKept(outcome)
	if err == nil && k.used+int64(len(written)) > keptRoom {
		err = fmt.Errorf("%q has no room for more", k.file.Name())
	}
	if err == nil {
		_, err = k.file.WriteAt(written, k.used)
	}
	if err == nil {
		err = k.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("it cannot be kept next to the record either: %w", err)
	}
	k.used += int64(len(written))
	return nil
}

// clear forgets all outcomes of the file.
func (k *keptFile) clear() error {
	if k == nil || k.used == 0 {
		return nil
	}
	if _, err := k.file.WriteAt(make([]byte, keptHeader), 0); err != nil {
		return fmt.Errorf("removing recorded outcomes: %w", err)
	}
	k.used = 0
	return nil
}

// close closes the file, and removes it if asked to.
func (k *keptFile) close(remove bool) error {
	if k == nil {
		return nil
	}
	var err error
	if remove {
		err = os.Remove(k.file.Name())
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil // another process has removed it, if locks do not work
	}
	return errors.Join(err, k.file.Close())
}

// encodeKept returns an outcome in the encoding of the file.
func encodeKept(outcome Outcome) ([]byte, error) {
	outcome.Refused, outcome.Doubted = quoted(outcome.Refused), quoted(outcome.Doubted)
	outcome.Accepted, outcome.Ended = quotedObservation(outcome.Accepted), quotedObservation(outcome.Ended)
	text := bytes.NewBuffer(make([]byte, keptHeader))
	if err := gob.NewEncoder(text).Encode(outcome); err != nil {
		return nil, err
	}
	written := text.Bytes()
	binary.BigEndian.PutUint32(written, uint32(len(written)-keptHeader))
	binary.BigEndian.PutUint32(written[4:], crc32.ChecksumIEEE(written[keptHeader:]))
	return written, nil
}

func quoted(text string) string { return text[:min(len(text), keptQuote)] }

func quotedObservation(observation *job.Observation) *job.Observation {
	if observation == nil {
		return nil
	}
	short := *observation
	short.Reason, short.Evidence, short.Origin.Text = quoted(short.Reason), quoted(short.Evidence), quoted(short.Origin.Text)
	return &short
}

// decodeKept returns the outcomes of a file, up to the first one that is incomplete because
// its process was killed.
func decodeKept(text []byte) []Outcome {
	var outcomes []Outcome
	for len(text) >= keptHeader {
		length, sum := int64(binary.BigEndian.Uint32(text)), binary.BigEndian.Uint32(text[4:])
		text = text[keptHeader:]
		if length == 0 || length > int64(len(text)) || crc32.ChecksumIEEE(text[:length]) != sum {
			break
		}
		outcome, err := decodeOutcome(text[:length])
		if err != nil {
			break
		}
		outcomes = append(outcomes, outcome)
		text = text[length:]
	}
	return outcomes
}

// decodeOutcome decodes an outcome in parts: in files of older versions Accepted and Ended
// had two types, with the ids in Accepted.
func decodeOutcome(text []byte) (Outcome, error) {
	var plain struct{ Tag, ID, ShortID, Refused, Doubted string }
	var accepted struct{ Accepted *job.Observation }
	var ended struct{ Ended *job.Observation }
	var before struct{ Accepted struct{ ID, ShortID string } }
	decode := func(part any) error { return gob.NewDecoder(bytes.NewReader(text)).Decode(part) }
	err := cmp.Or(decode(&plain), decode(&accepted), decode(&ended))
	if err == nil && accepted.Accepted != nil && plain.ID == "" {
		err = decode(&before)
	}
	if err != nil {
		return Outcome{}, err
	}
	if ended.Ended != nil && ended.Ended.ExitCode == nil {
		ended.Ended.ExitCode = new(int) // gob leaves out a code of 0
	}
	return Outcome{
		Tag: plain.Tag, ID: cmp.Or(plain.ID, before.Accepted.ID), ShortID: cmp.Or(plain.ShortID, before.Accepted.ShortID),
		Accepted: accepted.Accepted, Ended: ended.Ended, Refused: plain.Refused, Doubted: plain.Doubted,
	}, nil
}

// settleKept records the outcomes of processes that have ended.
func (s *Store) settleKept(ctx context.Context) error {
	return eachKept(s.directory(), func(path string) error { return s.settleFile(ctx, path) })
}

// settleFile records the outcomes of a file whose process has ended, and removes it. One
// without outcomes is left to the next submission.
func (s *Store) settleFile(ctx context.Context, path string) error {
	return openKept(path, func(file *os.File) (stays bool, err error) {
		if isEmpty, err := isEmptyKept(file); err != nil || isEmpty {
			return false, err
		}
		text, err := io.ReadAll(io.LimitReader(file, keptRoom))
		if err != nil {
			return false, err
		}
		for _, outcome := range decodeKept(text) {
			if _, err := s.settle(ctx, outcome); err != nil && !isDecided(err) {
				return false, err
			}
		}
		return false, os.Remove(path)
	})
}
