package javaregex

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A run passes over bytes that keep an automaton where it is, eight at once: all
// but those below a limit, a few others, and those of runes beyond ASCII. The
// zero value passes over nothing.
type run struct {
	limit  uint64 // in each of the eight bytes
	others [2]uint64
	usable bool
}

const (
	eachLow  = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// newRun returns a run over the ASCII runes that stays reports; it may be one
// that is not usable, since too many others lie between them.
func newRun(stays func(b byte) bool) run {
	limit := byte(0)
	for b := byte(0); b <= ' '; b++ {
		if !stays(b) {
			limit = b + 1
		}
	}
	var others []byte
	for b := limit; b < utf8.RuneSelf; b++ {
		if stays(b) {
			continue
		}
		if len(others) == 2 {
			return run{}
		}
		others = append(others, b)
	}
	for len(others) < 2 {
		others = append(others, utf8.RuneSelf) // ends the run anyway
	}
	return run{
		limit:  uint64(limit) * eachLow,
		others: [2]uint64{uint64(others[0]) * eachLow, uint64(others[1]) * eachLow},
		usable: true,
	}
}

// length returns how many bytes at the start of text the run passes over. It
// may stop early, near the end of the text and where a byte is below the limit.
func (r *run) length(text []byte) int {
	if !r.usable {
		return 0
	}
	at := 0
	for len(text)-at >= 8 {
		word := binary.LittleEndian.Uint64(text[at:])
		first, second := word^r.others[0], word^r.others[1]
		ends := (word | (word - r.limit) | (first-eachLow)&^first | (second-eachLow)&^second) & eachHigh
		if ends != 0 {
			return at + bits.TrailingZeros64(ends)/8
		}
		at += 8
	}
	return at
}
