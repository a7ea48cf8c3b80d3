package suggestion

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsOfOtherToolsMeanCommands(t *testing.T) {
	known := []string{"cancel", "hold", "jobs", "nodes", "output", "send", "start", "status", "stop", "submit", "watch"}
	for words, want := range map[string]string{
		"sbatch": "submit", "QSUB": "submit", "squeue": "jobs", "qstat": "jobs", "sacct": "jobs", "sinfo": "nodes", "scancel": "cancel", "bkill 4": "cancel",
		"get jobs": "jobs", "delete 4": "cancel", "log": "output", "kubectl logs": "output", "kubectl delete 4": "cancel", "scontrol hold 4": "hold", "hq submit": "submit", "flux jobs": "jobs",
		"statsu": "status", "sumbit": "submit", "cancl": "cancel", "stauts": "status",
		"scontrol": "", "kubectl": "", "tops": "", "end": "", "bend": "", "stoq": "stop", "jog": "", "": "", "queue": "",
	} {
		require.Equal(t, want, Command(strings.Fields(words), known), words)
	}
}

func TestAWordHasOneMeaning(t *testing.T) {
	meant := map[string]string{}
	for command, words := range meanings {
		for _, word := range strings.Fields(words) {
			require.Empty(t, meant[word], "%s is %s and %s", word, meant[word], command)
			meant[word] = command
			require.Empty(t, meanings[word], "%s is a command of rmctl", word)
		}
	}
}
