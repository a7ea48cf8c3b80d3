package reader

import (
	"encoding/binary"

	"github.com/rmctl/rmctl/config"
)

// A kept is what is kept of a saying until the output ends: one text, as a long listing has
// 100,000 of them. The texts of the saying are parts of it again.
type kept struct {
	text string
	row  *config.StateRow
}

// keep packs a saying, with a buffer that is used again.
func keep(said *saying, buffer []byte) (kept, []byte) {
	isPart := uint64(0)
	if said.isPart {
		isPart = 1
	}
	packed := buffer[:0]
	for _, number := range []uint64{uint64(said.count), isPart, uint64(said.line), uint64(said.origin.Line), uint64(len(said.values))} {
		packed = binary.AppendUvarint(packed, number)
	}
	add := func(text string) { packed = append(binary.AppendUvarint(packed, uint64(len(text))), text...) }
	for _, text := range []string{said.id, said.job, said.alias, said.task, said.state.word, said.origin.Text} {
		add(text)
	}
	for _, value := range said.values {
		add(value)
	}
	return kept{string(packed), said.state.row}, packed
}

// saying unpacks what keep has packed.
func (k kept) saying() *saying {
	rest := k.text
	number := func() int {
		value, size := uvarint(rest)
		rest = rest[size:]
		return value
	}
	text := func() string {
		length := number()
		found := rest[:length]
		rest = rest[length:]
		return found
	}
	said := &saying{count: number(), isPart: number() == 1, line: number()}
	said.origin.Line = number()
	said.values = make([]string, number())
	said.id, said.job, said.alias, said.task = text(), text(), text(), text()
	said.state = state{text(), k.row}
	said.origin.Text = text()
	for i := range said.values {
		said.values[i] = text()
	}
	if said.task != "" {
		said.numbers, _ = ParseRanges(said.task) // which it was before
	}
	return said
}

// uvarint reads a number at the beginning of a text that binary.AppendUvarint has written.
func uvarint(text string) (value, size int) {
	for shift := 0; ; shift += 7 {
		value |= int(text[size]&0x7f) << shift
		size++
		if text[size-1] < 0x80 {
			return value, size
		}
	}
}
