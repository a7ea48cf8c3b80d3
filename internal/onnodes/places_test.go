package onnodes_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/internal/onnodes"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// Each node is a namespace of processes with a /tmp of its own, in which a rank runs. Unlike on a cluster, the command that
// starts the relay starts the rank, too, which must not look like a relay.
const definition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="places">
  <control-data>
    <submit-batch name="submit"><arg>true</arg></submit-batch>
    <x:on-nodes name="first" processes="PLACE_JOB">
      <arg resolve="false">sh -c 'node=$1; shift; case $node in n3) echo no route to n3 &gt;&amp;2; exit 7;; n4) exit 8;; esac; PLACE_JOB=7 exec PLACE "$node" "$@"' first</arg>
      <arg>${ptp_rm:node.name#value} ${ptp_rm:node.command#value}</arg>
    </x:on-nodes>
    <x:on-nodes name="second" processes="PLACE_JOB">
      <arg resolve="false">sh -c 'node=$1; shift; case $node in n4) echo no route to n4 &gt;&amp;2; exit 7;; esac; PLACE_JOB=7 exec PLACE "$node" "$@"' second</arg>
      <arg>${ptp_rm:node.name#value} ${ptp_rm:node.command#value}</arg>
    </x:on-nodes>
  </control-data>
</resource-manager-builder>`

const place = `#!/bin/sh
node=$1; shift
exec unshare --mount --pid --fork --kill-child --mount-proc sh -c '
  mount -t tmpfs none /tmp && node=$1 && shift || exit 1
  PMI_RANK=${node#n} env -u RMCTL_OBSERVER sleep 1000 &
  until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done
  "$@"; code=$?; kill $!; exit $code' sh "$node" "$@"
`

// places returns a job on nodes n1 to n4. The first x:on-nodes does not reach n3, and none
// reaches n4.
func places(t *testing.T) *onnodes.Reachable {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("namespaces need root")
	}
	for _, program := range []string{"gdb", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	folder, err := os.MkdirTemp("/var/tmp", "rmctl-places-") // nodes have another /tmp
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	rmctltest.NodeProgram(t, folder)
	program, file := filepath.Join(folder, "place"), filepath.Join(folder, "places.xml")
	require.NoError(t, os.WriteFile(program, []byte(place), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(definition, "exec PLACE", "exec "+program)), 0o600))
	usable, _, err := check.UsableDefinition(file)
	require.NoError(t, err)
	local, err := remote.NewLocal()
	require.NoError(t, err)
	directory, err := nodes.NewDirectory(local, filepath.Join(folder, "node"), filepath.Join(folder, "rmctl"))
	require.NoError(t, err)
	return &onnodes.Reachable{
		Job:        job.Job{ID: "7", Target: "places", Observation: job.Observation{Detail: job.Running, Nodes: "n[1-4]"}},
		Processes:  []job.Process{{Rank: 1}, {Rank: 2}, {Rank: 3}, {Rank: 4}},
		Definition: usable, Environment: attribute.NewEnvironment(), Connection: local, Directory: directory,
	}
}

func TestNodesThatCannotBeReachedAreNamedAndTheRestAnswers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all, err := onnodes.ReadStacks(ctx, places(t), stacks.Request{}, nil)
	require.NoError(t, err)
	require.Len(t, all, 1)
	text := stacks.NewTree(all[0].Answers, all[0].Missing).Text()
	require.Contains(t, text, "3 ranks 1-3: ", text)
	require.Contains(t, text, "\nnode n4: first: exit status 8; second: ", text)
	require.Contains(t, text, "no route to n4", text)
	require.Contains(t, text, "\nrank 4: not on the nodes that answered\n", text)
}

func TestADebuggerThatIsMissingOnOneNodeIsNamed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	reached := places(t)
	reached.Nodes, reached.Processes = "n1", nil
	all, err := onnodes.ReadStacks(ctx, reached, stacks.Request{Debugger: "/none/gdb"}, nil)
	require.NoError(t, err)
	text := stacks.NewTree(all[0].Answers, all[0].Missing).Text()
	require.Contains(t, text, "no stacks\n")
	require.Contains(t, text, "\nrank 1: no debugger: /none/gdb")
}

func TestOnlyTheTimeOfTheCallerBoundsNodesThatHang(t *testing.T) {
	t.Parallel()
	reached := places(t)
	reached.Nodes, reached.Processes = "n1", nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := onnodes.ReadStacks(ctx, reached, stacks.Request{}, nil)
	require.ErrorIs(t, err, context.Canceled)
}
