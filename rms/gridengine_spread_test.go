package rms_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
)

// Of a request by nodes it is looked at which parallel environments there are
// before qsub is asked, or qrsh, which would take any.
func TestGridEngineFindsParallelEnvironmentsForNodes(t *testing.T) {
	folder := t.TempDir()
	for name, script := range map[string]string{
		"qconf": `case "$1 $2" in
			"-spl ") echo eights; echo fill; echo fours; echo smp;;
			"-sp eights") printf "pe_name            eights\nallocation_rule    8\n";;
			"-sp fours") printf "pe_name            fours\nallocation_rule    4\n";;
			"-sp fill") printf "pe_name            fill\nallocation_rule    \$fill_up\n";;
			"-sp smp") printf "pe_name            smp\nallocation_rule    \$pe_slots\n";;
			*) exit 3;;
			esac`,
		"qsub": `echo "$*"`,
		"qrsh": `echo "$*"`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	const rule = ": that takes the allocation_rule "
	for _, c := range []struct{ request, want string }{
		{"nodes=2 tasksPerNode=4 pe=fours", ""},
		{"nodes=2 tasksPerNode=2 cpusPerTask=2 pe=f*s", ""},
		{"nodes=2 tasks=7 pe=fours", ""},
		{"tasks=7 tasksPerNode=4 pe=fours", ""},
		{"nodes=2 cpusPerTask=4 pe=fours", ""},
		{"nodes=2 tasksPerNode=4 pe=nosuch", ""}, // which qsub tells
		{"nodes=2 tasksPerNode=4 pe=f*", "the parallel environment fill ($fill_up) does not give 4 slots on each of 2 nodes" + rule + "4; here that is fours"},
		{"nodes=2 tasksPerNode=4", "4 slots on each of 2 nodes take a parallel environment with the allocation_rule 4: set pe; here that is fours"},
		{"nodes=2 tasks=6 pe=smp", "the parallel environment smp ($pe_slots) does not give 3 slots on each of 2 nodes" + rule + "3; there is none here"},
		{"nodes=2 tasksPerNode=4 pe=fours|eights", "4 slots on each of 2 nodes: name one parallel environment, not fours|eights"},
		{"nodes=2 pe=fill", "the parallel environment fill ($fill_up) does not give 1 slots on each of 2 nodes" + rule + "1; there is none here"},
		{"nodes=1 tasks=4 pe=smp", ""},
		{"tasksPerNode=4 pe=fours", ""},
		{"cpusPerTask=4 pe=eights", "the parallel environment eights (8) does not give 4 slots on one node" + rule + "$pe_slots or 4; here that is fours smp"},
		{"nodes=1 tasks=1", ""},
		{"cpusPerTask=1", ""},
		{"nodes=1 pe=fill", ""},
		{"nodes=1 pe=fours", "the parallel environment fours (4) does not give 1 slots on one node" + rule + "$pe_slots or 1; here that is fill smp"},
		{"tasks=3 cpusPerTask=2 pe=eights", ""},
		{"tasks=2 cpusPerTask=3 pe=eights", "the parallel environment eights (8) does not give tasks with 3 CPUs each" + rule + "$pe_slots or a multiple of 3; here that is smp"},
		{"tasks=2 cpusPerTask=3", "tasks with 3 CPUs each take a parallel environment with the allocation_rule $pe_slots or a multiple of 3: set pe; here that is smp"},
		{"tasks=6 cpusPerTask=1 pe=fill", ""},
		{"tasks=6 pe=fill", ""},
	} {
		for _, definition := range []string{"gridengine", "gridengine-interactive"} {
			rendering, err := renderedPortable(t, definition, c.request)
			require.NoError(t, err, c.request)
			words := rendering.Commands[slices.IndexFunc(rendering.Commands, func(each *command.Invocation) bool { return each.Command.Element.IsSubmit() })].Arguments
			if words[0] == "qsub" {
				words[0] = filepath.Join(folder, words[0])
			}
			asks := exec.CommandContext(t.Context(), words[0], words[1:]...)
			asks.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
			var printed, complained strings.Builder
			asks.Stdout, asks.Stderr = &printed, &complained
			err = asks.Run()
			if c.want == "" {
				require.NoError(t, err, "%s, %s: %s", definition, c.request, complained.String())
				require.Contains(t, printed.String(), "-ac RMCTL_TAG=")
				continue
			}
			require.Error(t, err, "%s: %s", definition, c.request)
			require.Equal(t, c.want+"\n", complained.String(), "%s: %s", definition, c.request)
			require.Empty(t, printed.String(), "%s: %s", definition, c.request)
		}
	}
}

// Slots that somebody sets in a later source than the portable names are not
// taken for what these ask for.
func TestGridEngineRefusesSlotsThatAreNotThoseOfTheNodes(t *testing.T) {
	words := argumentsWith(t, "gridengine", "submit-batch", "1", map[string]string{"spread.nodes": "2", "spread.slots": "4", "slots": "12", "pe": "fours"})
	asks := exec.CommandContext(t.Context(), words[0], words[1:]...)
	output, err := asks.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "slots=12 are not 4 slots on each of 2 nodes: leave slots or the portable names away\n", string(output))
}
