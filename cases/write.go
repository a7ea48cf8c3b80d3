package cases

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

// Write writes a case to its folder, creating it if needed, in files that only the owner
// can read. It replaces or removes the files of an earlier case.
func Write(c *Case) error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return fmt.Errorf("writing case %s: %w", c.Folder, err)
	}
	if err := writeTOML(filepath.Join(c.Folder, caseFile), c); err != nil {
		return err
	}
	for name, text := range map[string][]byte{stdoutFile: c.Stdout, stderrFile: c.Stderr} {
		if err := writeOutput(filepath.Join(c.Folder, name), text); err != nil {
			return err
		}
	}
	for name, text := range c.Joined {
		if err := writeOutput(filepath.Join(c.Folder, joinedFile+name), text); err != nil {
			return err
		}
	}
	if err := writeJSON(filepath.Join(c.Folder, beforeFile), c.Before); err != nil {
		return err
	}
	return writeExpected(c)
}

// packedAbove is the length in bytes from which on an output is packed: nobody
// reads so much, or a difference of it.
const packedAbove = 64 << 10

// writeOutput writes an output, packed where it is long.
func writeOutput(path string, text []byte) error {
	if len(text) <= packedAbove {
		return errors.Join(writeOrRemove(path, text), writeOrRemove(path+packedExtension, nil))
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(text)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return fmt.Errorf("packing %s: %w", path, err)
	}
	return errors.Join(writeOrRemove(path+packedExtension, packed.Bytes()), writeOrRemove(path, nil))
}

func writeExpected(c *Case) error {
	return writeJSON(filepath.Join(c.Folder, expectedFile), c.Expected)
}

func writeTOML(path string, value any) error {
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(value); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writeOrRemove(path, text.Bytes())
}

// writeJSON writes a value, indented, or removes the file for nil.
func writeJSON[T any](path string, value *T) error {
	if value == nil {
		return writeOrRemove(path, nil)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writeOrRemove(path, text.Bytes())
}

// writeOrRemove leaves a file alone that holds the text already. A link gives way
// to a file: what it leads to belongs to another case, or to nobody's case at all.
func writeOrRemove(path string, text []byte) error {
	if len(text) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a file of a case: %w", err)
		}
		return nil
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("replacing a link of a case: %w", err)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("writing a file of a case: %w", err)
	}
	return nil
}
