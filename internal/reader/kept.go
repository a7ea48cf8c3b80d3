package reader

import (
	"encoding/binary"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/ranges"
)

// A kept is a saying, packed into one text until the output ends to save memory in long listings.
// Unpacked texts share its memory.
type kept struct {
	text string
	row  *config.StateRow
}

// keep packs a saying. It returns the buffer for the next call.
func keep(said *saying, buffer []byte) (kept, []byte) {
	isPart := uint64(0)
	if said.isPart {
		isPart = 1
	}
	packed := buffer[:0]
	for _, number := range []uint64{uint64(said.count), isPart, uint64(said.whole), uint64(said.line), uint64(said.origin.Line), uint64(len(said.values))} {
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
		value, size := binary.Uvarint([]byte(rest[:min(len(rest), binary.MaxVarintLen64)]))
		rest = rest[size:]
		return int(value)
	}
	text := func() string {
		length := number()
		found := rest[:length]
		rest = rest[length:]
		return found
	}
	said := &saying{count: number(), isPart: number() == 1, whole: wholeness(number()), line: number()}
	said.origin.Line = number()
	said.values = make([]string, number())
	said.id, said.job, said.alias, said.task = text(), text(), text(), text()
	said.state = state{text(), k.row}
	said.origin.Text = text()
	for i := range said.values {
		said.values[i] = text()
	}
	if said.task != "" {
		said.numbers, _ = ranges.Parse(said.task) // parsed before without an error
	}
	return said
}
