package execution

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DefaultPath is searched when the command's environment has no PATH.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

// ErrUnkillable reports a process that SIGKILL did not end, mostly because it hangs in the kernel.
var ErrUnkillable = errors.New("the process did not end although it was killed")

// Check returns an error for words and variables that no process can get.
func Check(words []string, environment map[string]string) error {
	if len(words) == 0 {
		return errors.New("the command has no words")
	}
	for position, word := range words {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("word %d of the command, %q, holds a zero byte", position+1, word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("%q cannot be the name of an environment variable", name)
		}
		if strings.ContainsRune(environment[name], 0) {
			return fmt.Errorf("the value of environment variable %q holds a zero byte", name)
		}
	}
	return nil
}
