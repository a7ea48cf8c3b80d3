package server

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/elffile"
)

const (
	noteBuild   = 3 // of GNU
	noteBuildGo = 4 // of Go
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
	content, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer content.Close() // nothing was written
	file, err := elffile.Read(content)
	if err != nil {
		return ""
	}
	var linked, built string
	file.Notes(func(name string, kind uint32, content []byte) {
		switch {
		case len(content) > mostBuildID:
		case name == "GNU" && kind == noteBuild:
			linked = hex.EncodeToString(content)
		case name == "Go" && kind == noteBuildGo:
			built = strings.ToValidUTF8(string(content), "")
		}
	})
	if linked != "" {
		return linked
	}
	return built
}
