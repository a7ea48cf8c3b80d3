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
var ErrUnkillable = errors.New("the process did not end after SIGKILL")

// Check returns an error for words and variables that no process can get.
func Check(words []string, environment map[string]string) error {
	if len(words) == 0 {
		return errors.New("empty command")
	}
	for position, word := range words {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("word %d of the command, %q, contains a NUL", position+1, word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("invalid name %q of an environment variable", name)
		}
		if strings.ContainsRune(environment[name], 0) {
			return fmt.Errorf("the value of environment variable %q contains a NUL", name)
		}
	}
	return nil
}
