package jobdirectory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	// mostFilesBytes bounds the files that rmctl sends at a time, in JSON.
	mostFilesBytes = 64 << 20
	mostFileName   = 100
)

// WriteFiles writes files to the directory of a job: a JSON object with their content in base64
// by name. Readers see a file whole or not at all.
func WriteFiles(job string, source io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(source, mostFilesBytes+1))
	if err != nil {
		return err
	}
	if len(text) > mostFilesBytes {
		return fmt.Errorf("more than %d bytes of files", mostFilesBytes)
	}
	var files map[string][]byte
	if err := json.Unmarshal(text, &files); err != nil {
		return fmt.Errorf("invalid files: %w", err)
	}
	for name := range files {
		if !isFileName(name) {
			return fmt.Errorf("%.100q cannot be the name of a file for a job", name)
		}
	}
	for name, content := range files {
		if err := writeFile(job, name, content); err != nil {
			return err
		}
	}
	return nil
}

// isFileName reports whether a file may have a name: those that rmctl-node writes itself do not
// end in .json.
func isFileName(name string) bool {
	return len(name) <= mostFileName && strings.HasSuffix(name, ".json") && name[0] != '.' &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
}

func writeFile(job, name string, content []byte) error {
	file, err := os.CreateTemp(job, ".file-*") // 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(job, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
