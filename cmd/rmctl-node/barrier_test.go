package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// inProgram is the start of scripts that wait by themselves.
const inProgram = `node() { "$COALLOC_RMCTL_NODE" "$@"; }; `

func TestProgramsWaitByThemselves(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	r := e.runs(e.admits(1, 1, rendezvous.GateProgram, "sh", "-c", inProgram+`echo "begins with rank <$COALLOC_RANK>"; node rank; echo $?; node barrier; echo $?; node rank; node size; node barrier; echo $?`))
	e.releases(1)
	require.Equal(t, 0, r.ends())
	require.Equal(t, "begins with rank <>\n12\n0\n0\n1\n0\n", r.output.String())
	require.Equal(t, "rmctl-node: the co-allocator refused this process: the process was not released\n", r.errors.String())
}

func TestEachProcessThatAProgramStartsWaits(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	launches := inProgram + `for rank in 0 1 2; do (PMI_RANK=$rank; export PMI_RANK; node barrier && echo "$rank $(node rank)") & done; wait`
	r := e.runs(e.admits(1, 3, rendezvous.GateProgram, "sh", "-c", launches))
	e.releases(1)
	require.Equal(t, 0, r.ends())
	require.ElementsMatch(t, []string{"0 0", "1 1", "2 2"}, strings.Split(strings.TrimSpace(r.output.String()), "\n"), r.errors.String())
}

func TestTheExitCodeOfTheBarrierSaysWhatHappened(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		words  string
		happen func(e *ensemble, pass *rendezvous.Pass)
		code   string
		said   string
	}{
		"timeout":          {"--timeout 200ms", nil, "11", "deadline exceeded"},
		"limit of the job": {"", func(_ *ensemble, pass *rendezvous.Pass) { pass.Wait = 200 * time.Millisecond }, "10", "deadline exceeded"},
		"vote":             {"--fail 'no\n space'", nil, "10", "the co-allocator ended this process: no  space\n"},
		"removed":          {"", func(e *ensemble, _ *rendezvous.Pass) { e.server.Remove(1, "canceled") }, "10", "canceled"},
		"denied":           {"", func(_ *ensemble, pass *rendezvous.Pass) { pass.Secret = []byte("x") }, "12", "denies access"},
		"no duration":      {"--timeout 0", nil, "2", "usage: rmctl-node barrier"},
		"not in a part": {"", func(_ *ensemble, pass *rendezvous.Pass) {
			pass.Arguments[2] = "unset COALLOC_PASS; " + pass.Arguments[2]
		}, "1", "this process is not part of an ensemble"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnsemble(t)
			pass := e.admits(1, 1, rendezvous.GateProgram, "sh", "-c", inProgram+"node barrier "+test.words+"; echo $?")
			if test.happen != nil {
				test.happen(e, pass)
			}
			r := e.runs(pass)
			require.Equal(t, 0, r.ends())
			require.Equal(t, test.code+"\n", r.output.String(), r.errors.String())
			require.Contains(t, r.errors.String(), test.said)
		})
	}
}

func TestProgramsThatWaitByThemselvesGetAddressesToo(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	held := e.admits(1, 1, rendezvous.GateHeld, "sh", "-c", `echo "$COALLOC_HOSTS"`)
	own := e.admits(2, 1, rendezvous.GateProgram, "sh", "-c", inProgram+`variables=$(node barrier --env) || exit; eval "$variables"; echo "$COALLOC_HOSTS"; [ -f "$COALLOC_PEERS_FILE" ]`)
	held.Exchange, own.Exchange = true, true
	first, second := e.runs(held, "COALLOC_ADDRESS=it's_$(false)"), e.runs(own, "COALLOC_ADDRESS=tcp://two")
	e.releases(1, 2)
	for _, r := range []*running{first, second} {
		require.Equal(t, 0, r.ends(), r.errors.String())
		require.Equal(t, "it's_$(false),tcp://two\n", r.output.String())
	}
}

func TestAVoteHasItsReason(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	r := e.runs(e.admits(1, 1, rendezvous.GateProgram, "sh", "-c", inProgram+`node barrier --fail 'no space'`))
	require.Equal(t, "no space", e.awaits(rendezvous.VotedNo, 1).Reason)
	require.Equal(t, exitAborted, r.ends())
}

func TestAVoteAfterTheReleaseIsTooLate(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	r := e.runs(e.admits(1, 1, rendezvous.GateHeld, "sh", "-c", inProgram+`node barrier --fail 'no space'`))
	e.releases(1)
	require.Equal(t, exitRefused, r.ends())
	require.Contains(t, r.errors.String(), "released before this vote")
}

func TestTheBarrierDoesNotOutliveItsProgram(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	r := e.runs(e.admits(1, 1, rendezvous.GateProgram, "sh", "-c", inProgram+`node barrier; true`))
	e.awaits(rendezvous.CheckedIn, 1)
	require.NoError(t, r.Process.Kill())
	e.awaits(rendezvous.Lost, 1)
	require.Equal(t, -1, r.ends())
}

func TestTheReleaseReachesManyProcesses(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	const parts, each = 8, 8
	var all []*running
	var serials []int
	for serial := 1; serial <= parts; serial++ {
		pass := e.admits(serial, each, rendezvous.GateHeld, "sh", "-c", `echo "$COALLOC_LABEL $COALLOC_RANK"`)
		serials = append(serials, serial)
		for range each {
			all = append(all, e.runs(pass))
		}
	}
	e.releases(serials...)
	e.awaits(rendezvous.ReleaseReceived, parts*each)
	ran := map[string]bool{}
	for _, r := range all {
		require.Equal(t, 0, r.ends(), r.errors.String())
		ran[r.output.String()] = true
	}
	require.Len(t, ran, parts*each)
}

// BenchmarkRelease measures the time from the release until 64 processes behind a relay have read it.
func BenchmarkRelease(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		e := newEnsemble(b)
		pass := e.admits(1, 64, rendezvous.GateHeld, "true")
		var all []*running
		for range 64 {
			all = append(all, e.runs(pass))
		}
		e.awaits(rendezvous.CheckedIn, 64)
		rosters, err := e.server.Freeze(e.ctx, []int{1})
		require.NoError(b, err)
		b.StartTimer()
		e.server.Release(rosters)
		e.awaits(rendezvous.ReleaseReceived, 64)
		b.StopTimer()
		for _, r := range all {
			require.Equal(b, 0, r.ends())
		}
		b.StartTimer()
	}
}

func TestPathsOfPassesMayBeRelative(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	path := e.writes(e.admits(1, 1, rendezvous.GateOpen, "sh", "-c", `echo "$COALLOC_PASS"`))
	r := e.command("run", "--pass", filepath.Base(path), "--", "sh")
	r.Dir = e.directory
	require.NoError(t, r.Start())
	require.Equal(t, 0, r.ends(), r.errors.String())
	require.Equal(t, path+"\n", r.output.String())
}
