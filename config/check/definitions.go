package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/wording"
	"github.com/rmctl/rmctl/rms"
)

// maxDefinitionBytes limits the size of a file; the limit of the loader is lower.
const maxDefinitionBytes = 64 << 20

// ReadDefinition returns the text of a shipped definition or of a file, and the
// name to call it by in messages.
func ReadDefinition(nameOrFile string) (file string, source []byte, err error) {
	if !rms.NamesFile(nameOrFile) {
		if source, known := rms.Source(nameOrFile); known {
			return nameOrFile + ".xml", source, nil
		}
		if _, err := os.Stat(nameOrFile); err != nil {
			hint := ""
			if near := wording.Nearest(nameOrFile, rms.Names()); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			return "", nil, fmt.Errorf("%q is neither a shipped definition (%s) nor a file%s",
				nameOrFile, strings.Join(slices.Sorted(slices.Values(rms.Names())), ", "), hint)
		}
	}
	source, err = readDefinitionFile(nameOrFile)
	return nameOrFile, source, err
}

// ReadBase returns the text of a definition that another one extends: a shipped
// one by its name, or a file relative to the one that extends it. It is a
// [config.BaseReader].
func ReadBase(name, from string) (file string, source []byte, err error) {
	if !rms.NamesFile(name) {
		source, known := rms.Source(name)
		if !known {
			help := "the path of a file must end in .xml or contain a /"
			if similar := wording.Nearest(name, rms.Names()); similar != "" {
				help = fmt.Sprintf("did you mean %q?", similar)
			}
			return "", nil, fmt.Errorf("not a shipped definition (%s); %s", strings.Join(rms.Names(), ", "), help)
		}
		return shippedFolder + name + ".xml", source, nil
	}
	file = name
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(from), file)
	}
	source, err = readDefinitionFile(file)
	return file, source, err
}

// shippedFolder begins the file name of a shipped definition that another one
// extends, so a site's slurm.xml can extend the shipped slurm.xml.
const shippedFolder = "rms/"

func readDefinitionFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("reading the definition: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the definition: %q is not a regular file", file)
	}
	if info.Size() > maxDefinitionBytes {
		return nil, fmt.Errorf("reading the definition: %q has %d bytes, more than %d", file, info.Size(), maxDefinitionBytes)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the definition: %w", err)
	}
	return source, nil
}

// LoadDefinition loads and checks a shipped definition or a file. Problems of
// the definition are returned with it; err is set if it cannot be read.
func LoadDefinition(nameOrFile string) (*config.Definition, config.Diagnostics, error) {
	file, source, err := ReadDefinition(nameOrFile)
	if err != nil {
		return nil, nil, err
	}
	definition, problems := Load(file, source, ReadBase)
	return definition, problems, nil
}

// UsableDefinition returns a definition without errors. It does not check a
// shipped one: the tests of this project do that. Errors of a file are
// a *config.InvalidError; its warnings are returned.
func UsableDefinition(nameOrFile string) (*config.Definition, config.Diagnostics, error) {
	file, source, err := ReadDefinition(nameOrFile)
	if err != nil {
		return nil, nil, err
	}
	if isShipped := file != nameOrFile; isShipped {
		definition, err := config.Read(file, source, ReadBase)
		return definition, nil, err
	}
	definition, problems := Load(file, source, ReadBase)
	return definition, problems, problems.Err()
}
