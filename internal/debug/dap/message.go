package dap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of a debugger's messages.
const (
	longestMessage = 16 << 20
	longestHeader  = 1 << 10
	mostHeaders    = 16
	longestNoise   = 64 << 10
)

const lengthHeader = "Content-Length"

// skipNoise discards what comes before the first message. lldb-vscode 14 reports from a thread that Python cannot load
// its module, perhaps before it has chosen the stream for messages; then only the end of that report arrives.
func skipNoise(reader *bufio.Reader) error {
	for range longestNoise {
		next, err := reader.Peek(len(lengthHeader))
		if err != nil {
			return err
		}
		if strings.EqualFold(string(next), lengthHeader) {
			return nil
		}
		_, _ = reader.Discard(1) // it was peeked at
	}
	return errors.New("it sends no message")
}

// readMessage reads a message of the Debug Adapter Protocol.
func readMessage(reader *bufio.Reader) (message, error) {
	var read message
	content, err := readContent(reader)
	if err != nil {
		return read, err
	}
	if err := json.Unmarshal(content, &read); err != nil {
		return read, fmt.Errorf("invalid message: %w", err)
	}
	return read, nil
}

// readContent reads the headers of a message, and then as many bytes as they announce.
func readContent(reader *bufio.Reader) ([]byte, error) {
	length := -1
	for range mostHeaders {
		line, err := readHeader(reader)
		if err != nil {
			return nil, err
		}
		if line == "" {
			return readBytes(reader, length)
		}
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(name), lengthHeader) {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || length < 0 || length > longestMessage {
			return nil, fmt.Errorf("invalid length of a message: %.40q", value)
		}
	}
	return nil, errors.New("a message has too many headers")
}

// readHeader reads a line without its line break.
func readHeader(reader *bufio.Reader) (string, error) {
	var line []byte
	for len(line) < longestHeader {
		next, err := reader.ReadByte()
		if err != nil {
			return "", err
		}
		if next == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, next)
	}
	return "", errors.New("a header of a message is too long")
}

// readBytes grows with what arrives: an announced length alone costs no memory.
func readBytes(reader io.Reader, length int) ([]byte, error) {
	if length < 0 {
		return nil, errors.New("a message has no length")
	}
	var content bytes.Buffer
	if _, err := io.CopyN(&content, reader, int64(length)); err != nil {
		return nil, fmt.Errorf("a message is cut off: %w", err)
	}
	return content.Bytes(), nil
}
