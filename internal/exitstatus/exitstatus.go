// Package exitstatus reads exit codes and the signals in them.
package exitstatus

import (
	"strconv"
	"strings"
)

// Read reads an exit code, which means a signal above one of some bases. It reports false for any other text.
func Read(text string, bases []int) (code, signal string, isStatus bool) {
	const mostSignals = 64
	number, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return "", "", false
	}
	for _, base := range bases {
		if number > base && number <= base+mostSignals {
			signal = strconv.Itoa(number - base)
		}
	}
	return strconv.Itoa(number), signal, true
}

// ReadWait reads a status of wait(2): 256 times the code, or the signal. It reports false for any other text.
func ReadWait(text string) (code, signal string, isStatus bool) {
	const codeShift, signalBits = 8, 0x7f
	number, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	switch {
	case err != nil:
		return "", "", false
	case number&signalBits != 0:
		return "", strconv.FormatUint(number&signalBits, 10), true
	}
	return strconv.FormatUint(number>>codeShift, 10), "", true
}
