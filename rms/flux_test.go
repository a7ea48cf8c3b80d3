package rms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/reader"
)

// fluxRow is the row of flux jobs for a job in a state, with its status of wait(2).
func fluxRow(status, urgency, waitstatus string) string {
	columns := []string{
		"103868465152", "f3RCmVt1", status, urgency, waitstatus, "batch", "hosta0", "1799999000.1234567", "2027-01-15T07:43:20",
		"2027-01-15T07:44:02", "2027-01-15T07:50:00", "", "", "", "4", "user", "sim",
	}
	return strings.Join(columns, replayMark) + replayMark + "\n"
}

func TestFluxEveryStateIsUnderstood(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	for row, state := range map[[3]string]string{
		{"NEW", "16", ""}: "QUEUED_ACTIVE", {"DEPEND", "16", ""}: "QUEUED_ACTIVE", {"PRIORITY", "31", ""}: "QUEUED_ACTIVE", {"SCHED", "1", ""}: "QUEUED_ACTIVE",
		{"NEW", "0", ""}: "USER_ON_HOLD", {"DEPEND", "0", ""}: "USER_ON_HOLD", {"PRIORITY", "0", ""}: "USER_ON_HOLD", {"SCHED", "0", ""}: "USER_ON_HOLD",
		{"RUN", "16", ""}: "RUNNING", {"RUN", "0", ""}: "RUNNING", {"CLEANUP", "16", "0"}: "RUNNING",
		{"COMPLETED", "16", "0"}: "COMPLETED", {"CANCELED", "0", ""}: "CANCELED", {"CANCELED", "16", "36608"}: "CANCELED",
		{"FAILED", "16", "768"}: "FAILED", {"FAILED", "16", ""}: "FAILED", {"TIMEOUT", "16", "36352"}: "FAILED",
		{"COMPLETED", "16", "768"}: "", {"COMPLETED", "16", ""}: "", {"INACTIVE", "16", "0"}: "", {"PREEMPTED", "16", "0"}: "",
	} {
		for _, id := range []string{"f3RCmVt1", "103868465152"} {
			got := replay(t, definition, exchange{selector: "get-job-status", job: id, stdout: fluxRow(row[0], row[1], row[2])})
			require.Equal(t, state, got.State, "%v of %s", row, id)
			require.Equal(t, row[0], got.Facts["job.native"])
		}
		other := replay(t, definition, exchange{selector: "get-job-status", job: "f3RCmVt2", stdout: fluxRow(row[0], row[1], row[2])})
		require.Empty(t, other.State, "of another job")
	}
}

// Flux writes ids with the letter ƒ, which users copy. Ids go into command lines: nothing else may pass for one.
func TestFluxKnowsItsIDs(t *testing.T) {
	ids, err := reader.NewIDs(shippedDefinition(t, "flux").IDs)
	require.NoError(t, err)
	for _, id := range []string{"f3RCmVt1", "ƒ3RCmVt1"} {
		job, _, isID := ids.Split(id)
		require.True(t, isID, id)
		require.Equal(t, "f3RCmVt1", job)
	}
	for _, id := range []string{"", "-a", "0; date", "f1/f2", "f1 f2", "ƒ-1", "f0", "fl", "3RCmVt1", "f1\n", "ƒƒ1"} {
		_, _, isID := ids.Split(id)
		require.False(t, isID, id)
	}
}

// A site teaches a word in one line, and keeps those that are there.
func TestFluxSitesTeachWords(t *testing.T) {
	definition, problems := check.Load("site.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" x:extends="flux">
		<control-data><x:reader name="jobs"><x:states><x:state is="RUNNING" words="STAGE"/></x:states></x:reader></control-data>
	</resource-manager-builder>`), check.ReadBase)
	require.Empty(t, problems)
	for word, state := range map[string]string{"STAGE": "RUNNING", "RUN": "RUNNING", "SCHED": "QUEUED_ACTIVE", "CANCELED": "CANCELED"} {
		got := replay(t, definition, exchange{selector: "get-job-status", job: "f3RCmVt1", stdout: fluxRow(word, "16", "")})
		require.Equal(t, state, got.State, word)
	}
}

func TestFluxEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	covered := map[string]bool{"shell": true, "launcher": true}
	for pair, directive := range map[string]string{
		"job-name=a.b-c": `--job-name="a.b-c"`, "queue=long-2.x": `--queue="long-2.x"`, "bank=fusion": `--setattr=bank="fusion"`, "project=p": `--setattr=project="p"`,
		"nodes=2": `--nodes=2`, "slots=8": `--nslots=8`, "cores-per-slot=4": `--cores-per-slot=4`, "gpus-per-slot=1": `--gpus-per-slot=1`, "exclusive=true": `--exclusive`,
		"time-limit=1.5h": `--time-limit=1.5h`, "requires=amd64|-host:node[1-3]": `--requires="amd64|-host:node[1-3]"`,
		"dependency=afterok:f2 --dependency=after:12": `--dependency=afterok:f2 --dependency=after:12`, "begin-time=+2h": `--begin-time="+2h"`, "urgency=hold": `--urgency=hold`,
		"signal=USR1@60s": `--signal=USR1@60s`, "working-directory=/scratch": `--cwd="/scratch"`, "output=o.{{id.f58plain}}": `--output="o.{{id.f58plain}}"`, "error=e": `--error="e"`,
		"unbuffered=true": `--unbuffered`, "environment=-LD_*": `--env="-LD_*"`, "resource-limits=-*,core=16": `--rlimit="-*,core=16"`, "shell-option=mpi=intel": `--setopt="mpi=intel"`,
		"configuration=a.toml": `--conf="a.toml"`, "flux-options=--dump --broker-opts=-v": `--dump --broker-opts=-v`,
	} {
		name, value, _ := strings.Cut(pair, "=")
		covered[name] = true
		script, err := renderGridEngine(t, definition, name, value)
		require.NoError(t, err, pair)
		require.Contains(t, strings.Split(script, "\n"), "#flux: "+directive, pair)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "nodes", "4", "exclusive", "false", "shell", "/bin/bash -l", "launcher", "flux run -N 4")
	require.NoError(t, err)
	require.Equal(t, "#!/bin/bash -l\n#flux: --job-name=\"true\"\n#flux: --nodes=4\n#flux: --output=\"true.{{id.f58plain}}.out\"\nexec flux run -N 4 true\n", script)
}

// flux batch takes no job without a number of slots or nodes.
func TestFluxAsksForOneSlotByDefault(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	for nslots, pair := range map[string][]string{
		"#flux: --nslots=1\n": {"queue", "a"}, "#flux: --nslots=3\n": {"slots", "3"}, "": {"nodes", "3"},
	} {
		script, err := renderGridEngine(t, definition, pair...)
		require.NoError(t, err)
		require.Equal(t, strings.Count(nslots, "\n"), strings.Count(script, "--nslots="), script)
		require.Contains(t, script, nslots)
	}
}

// A value stands in a directive as it is: none may end the quotes around it, or the line.
func TestFluxRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "flux")
	refuses(t, definition, "flux-options")
	for name, value := range map[string]string{
		"job-name": "a b", "nodes": "2-4", "slots": "0", "time-limit": "1:30:00", "dependency": "afterok:1 --urgency=31", "urgency": "32", "output": "a b",
		"flux-options": "rm -rf", "working-directory": "relative", "shell-option": "a b", "launcher": "a; b", "signal": "USR1 60s",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		require.Error(t, err, "%s=%q", name, value)
	}
}
