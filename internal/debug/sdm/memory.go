package sdm

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/rmctl/rmctl/debug"
)

// mostMemory bounds the memory in one answer, in bytes.
const mostMemory = 64 << 10

// A block is a part of the memory, as a table of words.
type block struct {
	address             uint64
	format              string
	wordSize, rows, row int // row: words in each
	asChar              byte
}

// readMemory reads memory: offset, address, format, size of words, rows, words in a row, character for what is not printable.
func (m *master) readMemory(ctx context.Context, c *call) []result {
	var numbers [3]uint64
	for i := range numbers {
		number, err := strconv.ParseUint(c.arguments[3+i], 10, 16)
		if err != nil || number == 0 {
			return memoryRange(c)
		}
		numbers[i] = number
	}
	b := block{format: c.arguments[2], wordSize: int(numbers[0]), rows: int(numbers[1]), row: int(numbers[2])}
	size := numbers[0] * numbers[1] * numbers[2]
	if !isWordSize(b.wordSize) || size > mostMemory {
		return memoryRange(c)
	}
	if len(c.arguments[6]) == 1 {
		b.asChar = c.arguments[6][0]
	}
	return m.atAddress(ctx, c, func(ranks debug.Ranks, address uint64) []result {
		b.address = address
		request := debug.Request{Verb: debug.Memory, Text: hexadecimal(address), Count: int(size)}
		return m.ask(ctx, ranks, request, func(part debug.Part) event {
			bytes, err := hex.DecodeString(part.Text)
			if part.Problem != "" || err != nil {
				return failureOf(part.Answer, codeNoMemory, "Can't access memory: ")
			}
			return b.event(bytes)
		})
	})
}

func memoryRange(c *call) []result {
	return []result{{c.ranks, failure(codeNoMemory, "Can't access memory: invalid size, format or value")}}
}

func isWordSize(size int) bool { return size == 1 || size == 2 || size == 4 || size == 8 }

func hexadecimal(address uint64) string { return "0x" + strconv.FormatUint(address, 16) }

// atAddress calls a function with the address that the first two arguments of a call name, an offset and an expression.
func (m *master) atAddress(ctx context.Context, c *call, use func(ranks debug.Ranks, address uint64) []result) []result {
	offset, err := strconv.ParseInt(c.arguments[0], 10, 64)
	if err != nil {
		return memoryRange(c)
	}
	if address, err := strconv.ParseUint(c.arguments[1], 0, 64); err == nil {
		return use(c.ranks, address+uint64(offset))
	}
	var results []result
	request := debug.Request{Verb: debug.Evaluate, Text: "(unsigned long)(" + c.arguments[1] + ")"}
	for _, part := range m.query(ctx, m.questions(c.ranks, request)...) {
		if part.Problem != "" || len(part.Variables) != 1 {
			results = append(results, result{part.Ranks, failureOf(part.Answer, codeNoMemory, "Can't access memory: ")})
			continue
		}
		address, err := strconv.ParseUint(part.Variables[0].Value, 0, 64)
		if err != nil {
			results = append(results, result{part.Ranks, failure(codeNoMemory, "Can't access memory: no address: "+part.Variables[0].Value)})
			continue
		}
		results = append(results, use(part.Ranks, address+uint64(offset))...)
	}
	return results
}

// event returns the event for memory that was read.
func (b block) event(bytes []byte) event {
	perRow := b.wordSize * b.row
	address := int64(b.address)
	arguments := []string{hexadecimal(b.address)}
	for _, number := range []int64{
		address + int64(perRow), address - int64(perRow), address + int64(perRow*b.rows), address - int64(perRow*b.rows),
		int64(len(bytes)), int64(perRow * b.rows),
	} {
		arguments = append(arguments, strconv.FormatInt(number, 10))
	}
	rows := len(bytes) / perRow
	arguments = append(arguments, strconv.Itoa(rows))
	for i := range rows {
		line := bytes[i*perRow : (i+1)*perRow]
		arguments = append(arguments, hexadecimal(b.address+uint64(i*perRow)), b.printable(line), strconv.Itoa(b.row))
		for j := range b.row {
			arguments = append(arguments, b.word(line[j*b.wordSize:(j+1)*b.wordSize]))
		}
	}
	return event{eventMemory, arguments}
}

// printable returns a row as text, if the client wants it.
func (b block) printable(bytes []byte) string {
	if b.asChar == 0 {
		return ""
	}
	text := make([]byte, len(bytes))
	for i, each := range bytes {
		if text[i] = each; each < ' ' || each > '~' {
			text[i] = b.asChar
		}
	}
	return string(text)
}

// word prints a word in the format of the client. The ranks have the byte order of the master.
func (b block) word(bytes []byte) string {
	number := uint64(0)
	switch b.wordSize {
	case 1:
		number = uint64(bytes[0])
	case 2:
		number = uint64(binary.NativeEndian.Uint16(bytes))
	case 4:
		number = uint64(binary.NativeEndian.Uint32(bytes))
	default:
		number = binary.NativeEndian.Uint64(bytes)
	}
	unused := 64 - 8*b.wordSize
	switch b.format {
	case "d", "c":
		return strconv.FormatInt(int64(number<<unused)>>unused, 10)
	case "u":
		return strconv.FormatUint(number, 10)
	case "o":
		return "0" + strconv.FormatUint(number, 8)
	case "t":
		return strconv.FormatUint(number, 2)
	case "f":
		if b.wordSize == 4 {
			return strconv.FormatFloat(float64(math.Float32frombits(uint32(number))), 'g', -1, 32)
		}
		return strconv.FormatFloat(math.Float64frombits(number), 'g', -1, 64)
	case "a":
		return hexadecimal(number)
	}
	digits := strconv.FormatUint(number, 16)
	return "0x" + "0000000000000000"[:2*b.wordSize-len(digits)] + digits
}

// writeMemory writes a word: offset, address, format, size of the word, value.
func (m *master) writeMemory(ctx context.Context, c *call) []result {
	size, err := strconv.ParseUint(c.arguments[3], 10, 16)
	if err != nil || !isWordSize(int(size)) {
		return memoryRange(c)
	}
	number, err := parseWord(c.arguments[4], c.arguments[2], int(size))
	if err != nil {
		return memoryRange(c)
	}
	bytes := make([]byte, size)
	switch size {
	case 1:
		bytes[0] = byte(number)
	case 2:
		binary.NativeEndian.PutUint16(bytes, uint16(number))
	case 4:
		binary.NativeEndian.PutUint32(bytes, uint32(number))
	default:
		binary.NativeEndian.PutUint64(bytes, number)
	}
	return m.atAddress(ctx, c, func(ranks debug.Ranks, address uint64) []result {
		request := debug.Request{Verb: debug.Memory, Text: hexadecimal(address), Value: hex.EncodeToString(bytes)}
		return m.ask(ctx, ranks, request, func(part debug.Part) event {
			if part.Problem != "" {
				return failureOf(part.Answer, codeNoMemory, "Can't access memory: ")
			}
			return ok()
		})
	})
}

// parseWord parses a word in the format of a client. Negative numbers are two's complements.
func parseWord(text, format string, size int) (uint64, error) {
	base := 0
	switch format {
	case "x", "a":
		if number, err := strconv.ParseUint(text, 16, 8*size); err == nil {
			return number, nil
		}
	case "t":
		base = 2
	case "o":
		base = 8
	case "f":
		number, err := strconv.ParseFloat(text, 64)
		if size == 4 {
			return uint64(math.Float32bits(float32(number))), err
		}
		return math.Float64bits(number), err
	}
	if signed, err := strconv.ParseInt(text, base, 8*size); err == nil {
		return uint64(signed), nil
	}
	return strconv.ParseUint(text, base, 8*size)
}
