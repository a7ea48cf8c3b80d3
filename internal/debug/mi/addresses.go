package mi

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	// lowest is above where executables with fixed addresses are.
	lowest   = 1 << 32
	mostMaps = 1 << 20 // bytes
)

// relative returns an address so that it is the same in each process: one in a file that is mapped at random counts from where
// the file begins, as objdump and addr2line have it.
func relative(pid int, text string) string {
	address, isAddress := parseAddress(text)
	if !isAddress {
		return ""
	}
	file, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return text
	}
	defer file.Close()
	return relativeTo(io.LimitReader(file, mostMaps), address)
}

// relativeTo finds an address in the mappings of a process.
func relativeTo(mappings io.Reader, address uint64) string {
	scanner := bufio.NewScanner(mappings)
	path, base := "", uint64(0)
	for scanner.Scan() {
		var start, end uint64
		fields := strings.Fields(scanner.Text())
		if len(fields) < 6 {
			continue
		}
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &start, &end); err != nil {
			continue
		}
		if name := strings.Join(fields[5:], " "); name != path {
			path, base = name, start
		}
		if address < start || address >= end {
			continue
		}
		if base >= lowest && (strings.HasPrefix(path, "/") || path == "[vdso]") {
			address -= base
		}
		break
	}
	return fmt.Sprintf("%#x", address)
}
