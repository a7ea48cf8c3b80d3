package rank_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rank"
)

// found returns ranks and process ids of members.
func found(members []rank.Member) map[int]int {
	pids := map[int]int{}
	for _, member := range members {
		pids[member.Rank] = member.PID
	}
	return pids
}

func TestASelectionIsOneWordInEveryShell(t *testing.T) {
	t.Parallel()
	selection := rank.Selection{Variables: map[string]string{"JOB": "7 $(touch x); 'é'"}, Own: []string{"TASK"}, PIDs: map[int]int{0: 12, 1: 13}}
	word := selection.Word()
	require.Empty(t, strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"))
	parsed, err := rank.ParseSelection(word)
	require.NoError(t, err)
	require.Equal(t, selection, parsed)
	require.Empty(t, rank.Selection{}.Word())
}

func TestASelectionIsByVariablesOfTheJobOrOfThisProcess(t *testing.T) {
	m := newMachine(t)
	m.runs(10, 1, "/bin/prog", "JOB=7 TASK=1 PMI_RANK=0")
	m.runs(11, 1, "/bin/prog", "JOB=7 TASK=2 PMI_RANK=0")
	t.Setenv("TASK", "2")
	members, err := rank.Selection{Variables: map[string]string{"JOB": "7"}, Own: []string{"TASK"}}.Find(m.folder)
	require.NoError(t, err)
	require.Equal(t, map[int]int{0: 11}, found(members))

	t.Setenv("TASK", "")
	_, err = rank.Selection{Variables: map[string]string{"JOB": "7"}, Own: []string{"TASK"}}.Find(m.folder)
	require.ErrorContains(t, err, "variable TASK, which identifies the processes of the job, is not set on this node")
	members, err = rank.Selection{}.Find(m.folder)
	require.NoError(t, err)
	require.Empty(t, members, "nothing is selected, not everything")
}

func TestRecordedProcessesAreFoundUnlessTheirRankDiffers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.runs(10, 1, "/bin/sh -c prog", "PMI_RANK=0 PMIX_NAMESPACE=n")
	m.runs(11, 10, "/home/ann/prog", "PMI_RANK=0 PMIX_NAMESPACE=n")
	m.runs(12, 1, "/home/ann/other", "PMI_RANK=5")
	m.runs(13, 1, "/home/ann/prog", "HOME=/")
	members, err := rank.Selection{PIDs: map[int]int{0: 10, 1: 12, 2: 13, 3: 99}}.Find(m.folder)
	require.NoError(t, err)
	require.Equal(t, map[int]int{0: 11, 2: 13}, found(members))
	require.Equal(t, "n", members[0].Namespace)
}

func FuzzSelection(f *testing.F) {
	f.Add(rank.Selection{Variables: map[string]string{"A": "b"}, PIDs: map[int]int{1: 2}}.Word())
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"pids":{"x":1}}`)))
	f.Fuzz(func(t *testing.T, word string) {
		selection, err := rank.ParseSelection(word)
		if err != nil {
			return
		}
		again, err := rank.ParseSelection(selection.Word())
		require.NoError(t, err)
		require.Equal(t, selection.Word(), again.Word())
	})
}
