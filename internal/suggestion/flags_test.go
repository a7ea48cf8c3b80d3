package suggestion

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/portablename"
)

func TestFlagsOfOtherToolsMeanFlags(t *testing.T) {
	submit := []string{"tasks", "time", "queue", "set", "env", "after", "wait", "json"}
	for written, want := range map[string]string{
		"partition": "--queue", "p": "--queue", "walltime": "--time", "ntasks": "--tasks", "dependency": "--after",
		"job-name": "-s jobName=VALUE", "J": "-s jobName=VALUE", "output": "-s stdout=VALUE", "cpus-per-task": "-s cpusPerTask=VALUE",
		"tsaks": "--tasks", "wiat": "--wait", "chdir": "", "z": "", "no-such-thing": "",
	} {
		require.Equal(t, want, Flag(written, submit), written)
	}
	require.Equal(t, "--everyone", Flag("u", []string{"everyone", "state"}))
	require.Empty(t, Flag("job-name", []string{"everyone", "state"}), "a command without attributes")
}

func TestAForeignFlagHasOneMeaning(t *testing.T) {
	meant := map[string]string{}
	for flag, words := range flags {
		if attribute, isSet := strings.CutPrefix(flag, "set:"); isSet {
			require.NotNil(t, portablename.Lookup(attribute), "%s is no portable name", attribute)
		}
		for _, word := range strings.Fields(words) {
			require.Empty(t, meant[word], "%s is %s and %s", word, meant[word], flag)
			meant[word] = flag
		}
	}
}
