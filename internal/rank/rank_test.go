package rank_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rank"
)

func environment(assignments ...string) func(string) string {
	return func(name string) string {
		for _, each := range assignments {
			if value, found := strings.CutPrefix(each, name+"="); found {
				return value
			}
		}
		return ""
	}
}

func TestTheInnermostLauncherSetsTheRank(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		environment []string
		from        string
		want        rank.Identity
	}{
		"Open MPI in a step of Slurm": {[]string{"SLURM_PROCID=0", "SLURM_STEP_ID=0", "OMPI_COMM_WORLD_RANK=7", "PMIX_RANK=8", "PMIX_NAMESPACE=ns.1"}, "",
			rank.Identity{Namespace: "ns.1", Rank: 7, Variable: "OMPI_COMM_WORLD_RANK"}},
		"PMIx":              {[]string{"SLURM_PROCID=2", "SLURM_STEP_ID=3", "PMIX_RANK=2", "PMIX_NAMESPACE=slurm.pmix.4.3"}, "", rank.Identity{Namespace: "slurm.pmix.4.3", Rank: 2, Variable: "PMIX_RANK"}},
		"MPICH":             {[]string{"PMI_RANK=3", "PMI_SIZE=4"}, "", rank.Identity{Rank: 3, Variable: "PMI_RANK"}},
		"definition local":  {[]string{"RMCTL_PROCESS_RANK=2", "RMCTL_PROCESSES=4"}, "", rank.Identity{Rank: 2, Variable: "RMCTL_PROCESS_RANK"}},
		"Flux":              {[]string{"FLUX_TASK_RANK=1"}, "", rank.Identity{Rank: 1, Variable: "FLUX_TASK_RANK"}},
		"a step of Slurm":   {[]string{"SLURM_PROCID=5", "SLURM_STEP_ID=2"}, "", rank.Identity{Namespace: "2", Rank: 5, Variable: "SLURM_PROCID"}},
		"another variable":  {[]string{"SLURM_PROCID=5", "SLURM_STEP_ID=2", "MY_RANK=9"}, "MY_RANK", rank.Identity{Namespace: "2", Rank: 9, Variable: "MY_RANK"}},
		"MPICH in a script": {[]string{"SLURM_PROCID=0", "PMI_RANK=1"}, "", rank.Identity{Rank: 1, Variable: "PMI_RANK"}},
	} {
		found, has, err := rank.Of(environment(each.environment...), each.from)
		require.NoError(t, err, name)
		require.True(t, has, name)
		require.Equal(t, each.want, found, name)
	}
}

func TestScriptsAndSerialProgramsHaveNoRank(t *testing.T) {
	t.Parallel()
	for _, each := range [][]string{{}, {"SLURM_PROCID=0"}, {"SLURM_PROCID=0", "SLURM_STEP_ID=4294967291"}, {"SLURM_PROCID=0", "SLURM_STEPID=4294967291"}, {"OMPI_COMM_WORLD_RANK="}} {
		_, has, err := rank.Of(environment(each...), "")
		require.NoError(t, err)
		require.False(t, has, each)
	}
	_, has, err := rank.Of(environment("PMI_RANK=1"), "MY_RANK")
	require.NoError(t, err)
	require.False(t, has, "a variable that the user names counts alone")
}

func TestInvalidRanksAreErrorsThatNameTheVariable(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"-1", "x", "1 ", "0x1", "1e3", "99999999999999999999", "67108865", "\x1b[31m", strings.Repeat("9", 1<<20)} {
		_, _, err := rank.Of(environment("PMI_RANK="+value), "")
		require.ErrorContains(t, err, "PMI_RANK is not a rank", value)
		require.Less(t, len(err.Error()), 300)
		require.NotContains(t, err.Error(), "\x1b")
	}
}

func TestNamespacesAreBounded(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, namespace := range []string{strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20) + "y", "a\nb", "a\x1bb", "ü"} {
		found, _, err := rank.Of(environment("PMIX_RANK=0", "PMIX_NAMESPACE="+namespace), "")
		require.NoError(t, err)
		require.Regexp(t, "^[0-9a-f]{32}$", found.Namespace)
		seen[found.Namespace] = true
	}
	require.Len(t, seen, 5, "different namespaces stay different")
}
