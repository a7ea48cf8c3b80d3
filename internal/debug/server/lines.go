package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/rmctl/rmctl/debug"
)

const (
	// firstBuffer is the initial size of a reader's buffer: most lines are short.
	firstBuffer = 4 << 10
	// mostBody bounds the JSON object of a line, in bytes. The number comes before it.
	mostBody = debug.MostLine - 16
	// mostBreakpoints bounds the breakpoints of a process.
	mostBreakpoints = 1000
)

// A numbered request is a parsed line of the client.
type numbered struct {
	number  int
	request debug.Request
	after   int // how many requests came before it
}

// newLines returns a reader of lines, each at most [debug.MostLine] bytes.
func newLines(client io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(client)
	lines.Buffer(make([]byte, firstBuffer), debug.MostLine)
	return lines
}

// parseLine reads a line. If only the object is invalid, the number is set beside the error.
func parseLine(line []byte) (numbered, error) {
	digits, body, isCut := bytes.Cut(line, []byte{' '})
	number, err := strconv.ParseUint(string(digits), 10, 31)
	if !isCut || err != nil || number == 0 {
		return numbered{}, errors.New("invalid line: expected a number, a space and a request")
	}
	read := numbered{number: int(number)}
	if err := json.Unmarshal(body, &read.request); err != nil {
		return read, errors.New("invalid request")
	}
	if len(read.request.Breakpoints) > mostBreakpoints {
		return read, errors.New("a process has at most " + strconv.Itoa(mostBreakpoints) + " breakpoints")
	}
	return read, nil
}

// encodeLine returns a line with its line break. An answer that is too long becomes a problem.
func encodeLine(number int, value any) []byte {
	var line bytes.Buffer
	line.WriteString(strconv.Itoa(number) + " ")
	prefix := line.Len()
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil || line.Len()-prefix > mostBody {
		return encodeLine(number, debug.Answer{Problem: debug.Failed, Text: "the answer has more than 1 MiB: ask for less"})
	}
	return line.Bytes()
}

func failed(err error) debug.Answer {
	return debug.Answer{Problem: debug.Failed, Text: err.Error()}
}
