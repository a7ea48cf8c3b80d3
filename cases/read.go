package cases

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/rmctl/rmctl/internal/initial"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
)

// What the files of a case may hold, in bytes after unpacking.
const (
	maxOutputBytes      = 64 << 20
	maxDescriptionBytes = 1 << 20
	maxAttributesBytes  = 16 << 20
)

// Read reads the case in a folder. Its error names the file.
func Read(folder string) (*Case, error) {
	c, err := readCommand(folder)
	if err != nil {
		return nil, err
	}
	if c.Command == "" {
		return nil, &readError{filepath.Join(folder, caseFile), errors.New(`no command is named; write, say, command = "get-job-status"`)}
	}
	return c, nil
}

// readCommand reads a recorded command, which in a flow does not have to say
// what command of the definition it was.
func readCommand(folder string) (*Case, error) {
	c := &Case{}
	if err := readTOML(filepath.Join(folder, caseFile), c); err != nil {
		return nil, err
	}
	c.Folder = folder
	var err error
	if c.Stdout, err = readOutput(folder, stdoutFile); err != nil {
		return nil, err
	}
	if c.Stderr, err = readOutput(folder, stderrFile); err != nil {
		return nil, err
	}
	if c.Joined, err = readJoined(folder); err != nil {
		return nil, err
	}
	var before initial.Environment
	if present, err := readJSON(filepath.Join(folder, beforeFile), &before); err != nil {
		return nil, err
	} else if present {
		c.Before = &before
	}
	var expected Expectation
	if present, err := readJSON(filepath.Join(folder, expectedFile), &expected); err != nil {
		return nil, err
	} else if present {
		c.Expected = &expected
	}
	return c, nil
}

func readTOML(path string, into any) error {
	text, err := readBounded(path, maxDescriptionBytes)
	if err != nil {
		return &readError{path, err}
	}
	if err := decodeTOML(text, into, func([]string) bool { return false }); err != nil {
		return &readError{path, err}
	}
	return nil
}

// decodeTOML decodes a document, in which somebody else reads the keys that are
// excepted.
func decodeTOML(text []byte, into any, isExcepted func(key []string) bool) error {
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(into)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		for _, each := range unknown.Errors {
			if isExcepted(each.Key()) {
				continue
			}
			line, column := each.Position()
			return fmt.Errorf("line %d, column %d: unknown setting %q", line, column, each.Key())
		}
		return nil
	case errors.As(err, &wrong):
		line, column := wrong.Position()
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return err
}

// readJSON reads a file that may be absent.
func readJSON(path string, into any) (present bool, err error) {
	text, err := readBounded(path, maxAttributesBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &readError{path, err}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return false, &readError{path, atLine(text, err)}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return false, &readError{path, errors.New("more than one JSON value")}
	}
	return true, nil
}

// atLine adds to an error the line of a JSON text that it is in, where that is known.
func atLine(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(len(text))
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	offset = min(max(offset, 0), int64(len(text)))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:offset], []byte("\n")), err)
}

// packedExtension follows the name of an output that is packed with gzip.
const packedExtension = ".gz"

// readOutput reads a recorded output, packed or not; empty if it is missing.
func readOutput(folder, name string) ([]byte, error) {
	path := filepath.Join(folder, name)
	text, err := readBounded(path, maxOutputBytes)
	packed, packedErr := readBounded(path+packedExtension, maxOutputBytes)
	switch {
	case err == nil && packedErr == nil:
		return nil, &readError{path, errors.New("exists both packed and unpacked")}
	case err == nil:
		return text, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &readError{path, err}
	case errors.Is(packedErr, fs.ErrNotExist) && exists(path):
		return nil, &readError{path, errors.New("link to a missing file")}
	case errors.Is(packedErr, fs.ErrNotExist):
		return nil, nil
	case packedErr != nil:
		return nil, &readError{path + packedExtension, packedErr}
	}
	if text, err = unpack(packed); err != nil {
		return nil, &readError{path + packedExtension, fmt.Errorf("unpacking: %w", err)}
	}
	return text, nil
}

// readJoined reads what the commands of joins printed.
func readJoined(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, &readError{folder, withoutPath(err)}
	}
	var joined map[string][]byte
	for _, entry := range entries {
		name, isJoined := strings.CutPrefix(strings.TrimSuffix(entry.Name(), packedExtension), joinedFile)
		if !isJoined {
			continue
		}
		text, err := readOutput(folder, joinedFile+name)
		if err != nil {
			return nil, err
		}
		if joined == nil {
			joined = map[string][]byte{}
		}
		joined[name] = text
	}
	return joined, nil
}

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return readAllBounded(reader, maxOutputBytes)
}

func readBounded(path string, limit int64) ([]byte, error) {
	if err := checkLink(path); err != nil {
		return nil, err
	}
	// a named pipe would wait for somebody to write
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return readAllBounded(file, limit)
}

// checkLink returns an error unless a file of a case that is a symbolic link leads to a file beside the
// description of a case: what somebody else made must not show other files of whoever tries it.
func checkLink(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return withoutPath(err)
	}
	if info.Mode().Type() != fs.ModeSymlink {
		return nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return withoutPath(err)
	}
	if !exists(filepath.Join(filepath.Dir(target), caseFile)) {
		return errors.New("link to something other than a file of a case")
	}
	return nil
}

func readAllBounded(reader io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return text, nil
}

// withoutPath is for errors that get their path from a readError.
func withoutPath(err error) error {
	var withPath *fs.PathError
	if errors.As(err, &withPath) {
		return withPath.Err
	}
	return err
}
