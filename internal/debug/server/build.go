package server

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	mostNotes   = 64 << 10 // bytes
	mostBuildID = 256
)

// executableOf returns the path of the program of a process, or "".
func executableOf(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// buildOf returns the build id that the linker or the Go toolchain wrote into a program, or "".
func buildOf(path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close() // nothing was written
	if id := note(file, ".note.gnu.build-id"); id != nil {
		return hex.EncodeToString(id)
	}
	return string(note(file, ".note.go.buildid"))
}

// note returns what the first note of a section says.
func note(file *elf.File, name string) []byte {
	section := file.Section(name)
	if section == nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(section.Open(), mostNotes))
	if err != nil {
		return nil
	}
	return firstNote(data, file.ByteOrder)
}

// firstNote returns the description of the first of some notes: two lengths, a type, a name and the description,
// each padded to four bytes.
func firstNote(data []byte, order binary.ByteOrder) []byte {
	const header = 12
	if len(data) < header {
		return nil
	}
	nameLength, length := uint64(order.Uint32(data)), uint64(order.Uint32(data[4:]))
	begin := header + (nameLength+3)&^3
	if length > mostBuildID || begin+length > uint64(len(data)) {
		return nil
	}
	return bytes.Clone(data[begin : begin+length])
}
