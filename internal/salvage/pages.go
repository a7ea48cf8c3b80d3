// Package salvage reads the rows of a damaged SQLite database from all table pages that can be
// decoded, even if the pages that lead to them are lost. The format is that of
// sqlite.org/fileformat2.html. It supports the page size that rmctl uses.
package salvage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// pageSize is the size of a page, in bytes.
const pageSize = 4096

// A pageFile has the pages of a database: those of the file, and newer ones of its write-ahead
// log.
type pageFile struct {
	file, log *os.File
	count     int           // of the pages; the first has the number 1
	logged    map[int]int64 // where the log has a page
}

// openPages opens a database and its log.
func openPages(path string) (*pageFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	pages := &pageFile{file: file}
	info, err := file.Stat()
	if err == nil {
		pages.count = int((info.Size() + pageSize - 1) / pageSize)
		err = pages.openLog(path + "-wal")
	}
	if err != nil {
		return nil, errors.Join(err, pages.Close())
	}
	return pages, nil
}

// Close closes the files.
func (p *pageFile) Close() error {
	err := p.file.Close()
	if p.log != nil {
		err = errors.Join(err, p.log.Close())
	}
	return err
}

// Sizes of the write-ahead log, in bytes.
const (
	logHeader   = 32
	frameHeader = 24
)

// openLog finds the pages of the log's complete transactions.
func (p *pageFile) openLog(path string) (err error) {
	p.log, err = os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	header := make([]byte, logHeader)
	if n, err := p.log.ReadAt(header, 0); n < logHeader {
		return ignoreEnd(err)
	}
	// The lowest bit gives the byte order of the words in checksums.
	var order binary.ByteOrder = binary.LittleEndian
	if header[3]&1 == 1 {
		order = binary.BigEndian
	}
	sum := logSum{order: order}
	sum.add(header[:24])
	if !sum.is(header[24:]) || binary.BigEndian.Uint32(header[8:]) != pageSize {
		return nil
	}
	frame := make([]byte, frameHeader+pageSize)
	changed := map[int]int64{}
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if n, err := p.log.ReadAt(frame, at); n < len(frame) {
			return ignoreEnd(err)
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if string(frame[8:16]) != string(header[16:24]) || !sum.is(frame[16:]) {
			return nil
		}
		changed[int(binary.BigEndian.Uint32(frame))] = at + frameHeader
		if size := int(binary.BigEndian.Uint32(frame[4:])); size > 0 { // the transaction is complete
			p.count = size
			p.keep(changed)
			changed = map[int]int64{}
		}
	}
}

func (p *pageFile) keep(changed map[int]int64) {
	if p.logged == nil {
		p.logged = map[int]int64{}
	}
	for number, at := range changed {
		p.logged[number] = at
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// logSum is the checksum of a write-ahead log.
type logSum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *logSum) add(text []byte) {
	for ; len(text) >= 8; text = text[8:] {
		s.a += s.order.Uint32(text) + s.b
		s.b += s.order.Uint32(text[4:]) + s.a
	}
}

func (s *logSum) is(text []byte) bool {
	return s.a == binary.BigEndian.Uint32(text) && s.b == binary.BigEndian.Uint32(text[4:])
}

// page returns a page. What the file lacks of the last one is zero.
func (p *pageFile) page(number int) ([]byte, error) {
	if number < 1 || number > p.count {
		return nil, fmt.Errorf("unknown page %d", number)
	}
	text := make([]byte, pageSize)
	if at, isLogged := p.logged[number]; isLogged {
		_, err := p.log.ReadAt(text, at)
		return text, err
	}
	_, err := p.file.ReadAt(text, int64(number-1)*pageSize)
	return text, ignoreEnd(err)
}
