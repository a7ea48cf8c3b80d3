package clusters_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A plan has the start that a real Slurm expects, and its reason if the job can never start.
func TestPlansHaveTheStartThatSlurmExpects(t *testing.T) {
	cluster := rmctltest.Slurm(t, "plan")
	_, file, _ := strings.Cut(cluster.Setting(), "=")
	t.Setenv("SLURM_CONF", file)
	folder := t.TempDir()
	client := rmctl.New(rmctl.Options{ConfigFolder: folder, SiteFolder: filepath.Join(folder, "none"), StateFolder: filepath.Join(folder, "state")})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	request, err := coalloc.ReadRequest(context.Background(), []byte(`+(&(resourceManagerContact=slurm)(label=now)(executable=/bin/true)(arguments="a b"))
		(&(resourceManagerContact=slurm)(label=never)(executable=/bin/true)(rm.nodes=9999))`), coalloc.Sources{})
	require.NoError(t, err)
	plans := coalloc.Plan(context.Background(), client, request, true)
	require.NoError(t, plans[0].Problem)
	require.NoError(t, plans[0].NoStart)
	require.WithinDuration(t, time.Now(), plans[0].Start, time.Hour)
	require.NoError(t, plans[1].Problem)
	require.ErrorContains(t, plans[1].NoStart, "allocation failure")
	require.Zero(t, plans[1].Start)
}
