package remote

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzProcessNames parses the status of processes whose names, which
// anybody may choose, look like the rest of it.
func FuzzProcessNames(f *testing.F) {
	for _, name := range []string{"sh", "", "(", ")", ") Z 1 1 1", "a) S 1 1 42 (b", "\n", " "} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		status := func(state string) []byte {
			return fmt.Appendf(nil, "7 (%s) %s 1 42 42 34816 42 4194304 0\n", name, state)
		}
		require.True(t, livesInSession(status("S"), 42))
		require.False(t, livesInSession(status("S"), 43))
		require.False(t, livesInSession(status("Z"), 42))
		livesInSession([]byte(name), 42) // whatever it is, it can be read
	})
}
