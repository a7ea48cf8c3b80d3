package control

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

// Listings that several processes of a user want are kept in a folder beside the
// record, one file for each: who lists writes it, and the others read it.
const (
	sharedFolder = "listings"
	// A listing of more bytes is not kept: each process makes it in its turn.
	largestShared = 64 << 20
	// So long after somebody wanted a listing it is kept for others.
	sharedWanted = 15 * time.Minute
	// Files that nobody has written to for so long are of definitions or targets
	// that are gone, or of processes that were killed.
	sharedForgotten = 24 * time.Hour
)

// sharedForm tells the form of the file from others, of other versions.
var sharedForm = [8]byte{'r', 'o', 'w', 's', 0, 0, 0, 1}

// A sharedHeader is what a file begins with.
type sharedHeader struct {
	Form                       [8]byte
	Begun, Took                int64 // nanoseconds, since 1970 and in all
	Rows, Again, NotUnderstood int64
	Size                       int64  // bytes of the rows
	Sum                        uint32 // of these bytes
}

var sharedHeaderSize = int64(binary.Size(sharedHeader{}))

// made returns how the listing went.
func (h sharedHeader) made() MadeListing {
	listed := command.Listed{Rows: int(h.Rows), Again: int(h.Again), NotUnderstood: int(h.NotUnderstood)}
	return MadeListing{Listed: listed, Begun: time.Unix(0, h.Begun), Took: time.Duration(h.Took)}
}

// A sharedListing is the file of one listing.
type sharedListing struct{ path string }

// sharedListing returns the file of a listing. Controllers that list in turn, but for
// targets with other values, have files of their own: parsers may go by values.
func (c *Controller) sharedListing(kind config.CommandElement) sharedListing {
	values, _ := json.Marshal(c.defaults) // of texts only
	sum := sha256.Sum256([]byte(fmt.Sprint(c.turnKey(kind), " ", string(values))))
	return sharedListing{filepath.Join(c.store.Folder(), sharedFolder, hex.EncodeToString(sum[:16]))}
}

func (s sharedListing) wanted() string { return s.path + ".wanted" }

// want tells those who list that others want what they listed.
func (s sharedListing) want(now time.Time) error {
	info, err := os.Stat(s.wanted())
	if err == nil && now.Sub(info.ModTime()).Abs() < sharedWanted/4 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(s.wanted(), os.O_WRONLY|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Chtimes(s.wanted(), now, now))
}

// isWanted reports whether others want what is listed, which may be so seldom as
// every interval.
func (s sharedListing) isWanted(now time.Time, interval time.Duration) bool {
	info, err := os.Stat(s.wanted())
	return err == nil && now.Sub(info.ModTime()).Abs() < max(sharedWanted, 3*interval)
}

// open opens what was listed last, with how that went. The file is nil where there
// is none that can be used.
func (s sharedListing) open() (*os.File, sharedHeader) {
	var header sharedHeader
	file, err := os.OpenFile(s.path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // whatever lies there must not hold us up
	if err != nil {
		return nil, header
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = binary.Read(file, binary.BigEndian, &header)
	}
	if err != nil || header.Form != sharedForm || header.Size > largestShared || info.Size() != sharedHeaderSize+header.Size {
		_ = file.Close() // which was only read
		return nil, header
	}
	return file, header
}

// newest returns how the listing in the file went if it began no earlier than
// another, or a zero one.
func (s sharedListing) newest(least time.Time) MadeListing {
	file, header := s.open()
	if file == nil {
		return MadeListing{}
	}
	_ = file.Close() // which was only read
	if made := header.made(); !made.Begun.Before(least) {
		return made
	}
	return MadeListing{}
}

// read hands out the rows in the file if that listing began no earlier than another.
// It reports false, and hands out nothing, where there is no such listing as a whole.
// An error of each ends it, and is returned as it is.
func (s sharedListing) read(least time.Time, each func(command.Row) error) (made MadeListing, isRead bool, err error) {
	file, header := s.open()
	if file == nil {
		return made, false, nil
	}
	defer func() { _ = file.Close() }() // which was only read
	made = header.made()
	sum := crc32.NewIEEE()
	if size, err := io.Copy(sum, file); err != nil || size != header.Size || sum.Sum32() != header.Sum || made.Begun.Before(least) {
		return MadeListing{}, false, nil // it was torn, such as when the disk was full
	}
	rows := bufio.NewReaderSize(io.NewSectionReader(file, sharedHeaderSize, header.Size), 1<<16)
	var keys []string
	for {
		var row command.Row
		row, keys, err = readShared(rows, keys)
		if errors.Is(err, io.EOF) {
			return made, true, nil
		}
		if err != nil {
			return made, true, fmt.Errorf("reading what another process listed in %s: %w", s.path, err)
		}
		if err := each(row); err != nil {
			return made, true, err
		}
	}
}

// In a file a row is its length and: its id, whether it comes again, the number of its
// keys and these, or none where they are those of the row before, and its facts.

// appendShared writes a row after others whose last one has some keys.
func appendShared(room []byte, row command.Row, before []string) (written []byte, keys []string) {
	keys, facts := row.Facts.Lists()
	room = appendText(room, row.ID)
	again := byte(0)
	if row.Again {
		again = 1
	}
	room = append(room, again)
	if slices.Equal(keys, before) {
		room = append(room, 0)
	} else {
		room = binary.AppendUvarint(room, uint64(len(keys)))
		for _, key := range keys {
			room = appendText(room, key)
		}
	}
	for _, fact := range facts {
		room = appendText(room, fact)
	}
	return room, keys
}

// errNoRow tells that what should be a row is none.
var errNoRow = errors.New("there is no row where one should be")

// readShared reads a row after others whose last one has some keys. The error is io.EOF
// at the end.
func readShared(from *bufio.Reader, before []string) (row command.Row, keys []string, err error) {
	size, err := binary.ReadUvarint(from)
	if err != nil {
		return row, nil, err
	}
	if size > largestShared {
		return row, nil, errNoRow
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(from, text); err != nil {
		return row, nil, fmt.Errorf("%w: %v", errNoRow, err) // the end of the file is not the end of the rows
	}
	rest := unpacking(text)
	good := true
	next := func() (text string) {
		if length := rest.number(); length >= 0 && length <= len(rest) {
			text, rest = string(rest[:length]), rest[length:]
		} else {
			good = false
		}
		return text
	}
	row.ID, row.Again, keys = next(), rest.number() == 1, before
	if count := rest.number(); count < 0 || count > len(rest) {
		return row, nil, errNoRow
	} else if count > 0 {
		keys = make([]string, count)
		for i := range keys {
			keys[i] = next()
		}
	}
	facts := make([]string, len(keys))
	for i := range facts {
		facts[i] = next()
	}
	if row.Facts, err = tokenizer.FactsIn(keys, facts); err != nil || !good || rest != "" || row.ID == "" || len(keys) == 0 {
		return row, nil, errors.Join(errNoRow, err)
	}
	return row, keys, nil
}

// A sharedWriter writes a listing for others. What goes wrong it keeps: the listing
// itself goes on.
type sharedWriter struct {
	listing sharedListing
	file    *os.File
	sum     hash.Hash32
	size    int64
	buffer  *bufio.Writer
	row     []byte // room for one
	keys    []string
	err     error
}

// errTooLarge tells that a listing is not kept for others, who list in their turn.
var errTooLarge = fmt.Errorf("it has more than %d MiB", largestShared>>20)

// create begins to write the file anew.
func (s sharedListing) create() *sharedWriter {
	w := &sharedWriter{listing: s}
	if w.err = os.MkdirAll(filepath.Dir(s.path), 0o700); w.err != nil {
		return w
	}
	if w.file, w.err = os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+".*.new"); w.err != nil {
		return w
	}
	w.sum = crc32.NewIEEE()
	w.buffer = bufio.NewWriterSize(w, 1<<16)
	_, w.err = w.file.Seek(sharedHeaderSize, io.SeekStart)
	return w
}

// Write takes bytes of rows.
func (w *sharedWriter) Write(text []byte) (int, error) {
	if w.size += int64(len(text)); w.size > largestShared {
		return 0, errTooLarge
	}
	_, _ = w.sum.Write(text) // which cannot fail
	return w.file.Write(text)
}

// add writes a row.
func (w *sharedWriter) add(row command.Row) {
	if w.err != nil {
		return
	}
	w.row, w.keys = appendShared(w.row[:0], row, w.keys)
	if _, w.err = w.buffer.Write(binary.AppendUvarint(nil, uint64(len(w.row)))); w.err == nil {
		_, w.err = w.buffer.Write(w.row)
	}
}

// tidy removes files in the folder of this one that nobody has written to for long.
func (s sharedListing) tidy(now time.Time) error {
	entries, err := os.ReadDir(filepath.Dir(s.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nobody has shared anything yet
	}
	problems := []error{err}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > sharedForgotten {
			err = os.Remove(filepath.Join(filepath.Dir(s.path), entry.Name()))
		}
		if !errors.Is(err, fs.ErrNotExist) { // else another process was faster
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// finish gives the others the listing, or takes back what was written of one that
// failed.
func (w *sharedWriter) finish(made MadeListing, failed bool) error {
	if w.file == nil {
		return w.err
	}
	if w.err == nil && !failed {
		w.err = w.buffer.Flush()
	}
	if w.err == nil && !failed {
		header := sharedHeader{
			Form: sharedForm, Begun: made.Begun.UnixNano(), Took: int64(made.Took), Rows: int64(made.Rows), Again: int64(made.Again), NotUnderstood: int64(made.NotUnderstood),
			Size: w.size, Sum: w.sum.Sum32(),
		}
		_, w.err = w.file.Seek(0, io.SeekStart)
		if w.err == nil {
			w.err = binary.Write(w.file, binary.BigEndian, header)
		}
	}
	w.err = errors.Join(w.err, w.file.Close())
	if w.err == nil && !failed {
		w.err = os.Rename(w.file.Name(), w.listing.path)
	}
	if w.err != nil || failed {
		return errors.Join(w.err, os.Remove(w.file.Name()))
	}
	return nil
}

func appendText(room []byte, text string) []byte {
	return append(binary.AppendUvarint(room, uint64(len(text))), text...)
}

// unpacking is what is left of a packed row.
type unpacking string

func (u *unpacking) number() int {
	number, shift := 0, 0
	for i := range len(*u) {
		b := (*u)[i]
		number |= int(b&0x7f) << shift
		if b < 0x80 {
			*u = (*u)[i+1:]
			break
		}
		shift += 7
	}
	return number
}
