package collect

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rmctl/rmctl/internal/elffile"
)

const (
	noteAuxiliary   = 6          // NT_AUXV
	noteFiles       = 0x46494c45 // NT_FILE
	auxiliaryName   = 31         // AT_EXECFN
	auxiliaryHeader = 3          // AT_PHDR
	mostEnvironment = 256 << 10
	longestPath     = 4096
)

// A core is a core file.
type core struct {
	path        string
	executable  string
	environment map[string]string
	rank        int
	err         error // why it cannot be read
}

var errNoCore = errors.New("not a core file")

// readCore reads the executable and the environment of a process from its core file.
func readCore(path string) core {
	file, err := os.Open(path)
	if err != nil {
		return core{path: path, err: err}
	}
	defer file.Close()
	found := parseCore(file)
	found.path = path
	return found
}

// parseCore parses a core file, which may be damaged or hostile.
func parseCore(content io.ReaderAt) core {
	found := core{environment: map[string]string{}}
	file, err := elffile.Read(content)
	if err != nil || !file.IsCore {
		found.err = errNoCore
		return found
	}
	var mapped []mapping
	auxiliary := map[uint64]uint64{}
	file.Notes(func(_ string, kind uint32, content []byte) {
		switch kind {
		case noteAuxiliary:
			readAuxiliary(file, content, auxiliary)
		case noteFiles:
			mapped = readMapped(file, content)
		}
	})
	for _, each := range mapped { // the executable has its headers in memory
		if header := auxiliary[auxiliaryHeader]; header >= each.begin && header < each.end {
			found.executable = each.path
		}
	}
	at := auxiliary[auxiliaryName]
	if found.executable == "" {
		name, _, _ := bytes.Cut(memory(file, at, longestPath), []byte{0})
		found.executable = string(name)
	}
	if !filepath.IsAbs(found.executable) || len(found.executable) > longestPath {
		found.err = errors.New("the core file does not name its executable")
		return found
	}
	found.environment = environmentBefore(file, at)
	return found
}

func readAuxiliary(file *elffile.File, content []byte, values map[uint64]uint64) {
	for len(content) >= 2*file.WordSize() {
		var key uint64
		key, content = file.Word(content)
		values[key], content = file.Word(content)
	}
}

// A mapping is a file in the memory of the process.
type mapping struct {
	begin, end uint64
	path       string
}

// readMapped reads NT_FILE: a count, the size of a page, three words for each file, and then their names.
func readMapped(file *elffile.File, content []byte) []mapping {
	count, content := file.Word(content)
	_, content = file.Word(content)
	size := uint64(3 * file.WordSize())
	if count > uint64(len(content))/size {
		return nil
	}
	names := content[count*size:]
	all := make([]mapping, count)
	for i := range all {
		all[i].begin, content = file.Word(content)
		all[i].end, content = file.Word(content)
		_, content = file.Word(content)
		name, rest, _ := bytes.Cut(names, []byte{0})
		all[i].path, names = string(name), rest
	}
	return all
}

// memory returns at most a number of bytes of the memory of the process, from an address on.
func memory(file *elffile.File, at uint64, most int) []byte {
	for _, part := range file.Segments {
		if part.Type != elffile.Load || at < part.Address || at-part.Address >= part.Size {
			continue
		}
		content := make([]byte, min(uint64(most), part.Size-(at-part.Address)))
		count, _ := part.ReadAt(content, int64(at-part.Address)) //nolint:gosec // below its size
		return content[:count]
	}
	return nil
}

// environmentBefore reads the variables in front of the name of the executable, where the kernel puts
// them at the start of a program.
func environmentBefore(file *elffile.File, at uint64) map[string]string {
	environment := map[string]string{}
	for _, part := range file.Segments {
		if part.Type != elffile.Load || at < part.Address || at-part.Address >= part.Size {
			continue
		}
		size := min(at-part.Address, mostEnvironment)
		texts := bytes.Split(memory(file, at-size, int(size)), []byte{0})
		for _, text := range texts[1:] { // the first one may be cut
			name, value, isVariable := strings.Cut(string(text), "=")
			if isVariable && name != "" {
				environment[name] = value
			}
		}
	}
	return environment
}
