package collect

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	noteAuxiliary   = 6          // NT_AUXV
	noteFiles       = 0x46494c45 // NT_FILE
	auxiliaryName   = 31         // AT_EXECFN
	auxiliaryHeader = 3          // AT_PHDR
	mostNotes       = 16 << 20
	mostNoteParts   = 4
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
	file, err := elf.NewFile(content)
	if err != nil || file.Type != elf.ET_CORE {
		found.err = errNoCore
		return found
	}
	var mapped []mapping
	auxiliary := map[uint64]uint64{}
	parts := 0
	for _, part := range file.Progs {
		if part.Type == elf.PT_NOTE && part.Filesz <= mostNotes && parts < mostNoteParts {
			parts++
			readNotes(file, part, func(kind uint32, content []byte) {
				switch kind {
				case noteAuxiliary:
					readAuxiliary(file, content, auxiliary)
				case noteFiles:
					mapped = readMapped(file, content)
				}
			})
		}
	}
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

// readNotes reads the notes of a part of a core file.
func readNotes(file *elf.File, part *elf.Prog, visit func(kind uint32, content []byte)) {
	notes, err := io.ReadAll(part.Open())
	if err != nil {
		return
	}
	for len(notes) >= 12 {
		nameSize, size, kind := file.ByteOrder.Uint32(notes), file.ByteOrder.Uint32(notes[4:]), file.ByteOrder.Uint32(notes[8:])
		begin := 12 + (uint64(nameSize)+3)&^3
		end := begin + uint64(size)
		if end > uint64(len(notes)) {
			return
		}
		visit(kind, notes[begin:end])
		notes = notes[min((end+3)&^3, uint64(len(notes))):]
	}
}

func wordSize(file *elf.File) int {
	if file.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// word returns the first word, and the rest.
func word(file *elf.File, content []byte) (uint64, []byte) {
	size := wordSize(file)
	if len(content) < size {
		return 0, nil
	}
	if size == 4 {
		return uint64(file.ByteOrder.Uint32(content)), content[size:]
	}
	return file.ByteOrder.Uint64(content), content[size:]
}

func readAuxiliary(file *elf.File, content []byte, values map[uint64]uint64) {
	for len(content) >= 2*wordSize(file) {
		var key uint64
		key, content = word(file, content)
		values[key], content = word(file, content)
	}
}

// A mapping is a file in the memory of the process.
type mapping struct {
	begin, end uint64
	path       string
}

// readMapped reads NT_FILE: a count, the size of a page, three words for each file, and then their names.
func readMapped(file *elf.File, content []byte) []mapping {
	count, content := word(file, content)
	_, content = word(file, content)
	size := uint64(3 * wordSize(file))
	if count > uint64(len(content))/size {
		return nil
	}
	names := content[count*size:]
	all := make([]mapping, count)
	for i := range all {
		all[i].begin, content = word(file, content)
		all[i].end, content = word(file, content)
		_, content = word(file, content)
		name, rest, _ := bytes.Cut(names, []byte{0})
		all[i].path, names = string(name), rest
	}
	return all
}

// memory returns at most a number of bytes of the memory of the process, from an address on.
func memory(file *elf.File, at uint64, most int) []byte {
	for _, part := range file.Progs {
		if part.Type != elf.PT_LOAD || at < part.Vaddr || at-part.Vaddr >= part.Filesz {
			continue
		}
		content := make([]byte, min(uint64(most), part.Filesz-(at-part.Vaddr)))
		count, _ := part.ReadAt(content, int64(at-part.Vaddr)) //nolint:gosec // below Filesz
		return content[:count]
	}
	return nil
}

// environmentBefore reads the variables in front of the name of the executable, where the kernel puts
// them at the start of a program.
func environmentBefore(file *elf.File, at uint64) map[string]string {
	environment := map[string]string{}
	for _, part := range file.Progs {
		if part.Type != elf.PT_LOAD || at < part.Vaddr || at-part.Vaddr >= part.Filesz {
			continue
		}
		size := min(at-part.Vaddr, mostEnvironment)
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
