package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

func TestRunBecomesTheProgramOfThePass(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	directory := t.TempDir()
	pass := e.admits(1, 1, rendezvous.GateHeld, "sh", "-c", `: > ran; echo "$$|$(pwd)|$MINE|$COALLOC_JOB|$COALLOC_SUBJOB|$COALLOC_LABEL|$COALLOC_INDEX|$COALLOC_RANK|$COALLOC_COUNT|$COALLOC_NSUBJOBS_HINT|$GLOBUS_DUROC_SUBJOB_INDEX|$COALLOC_OLD|$1"; exit 7`, "sh", "two words\n$HOME")
	pass.Directory, pass.Environment = directory, []string{"MINE=a=b", "PATH=" + os.Getenv("PATH")}
	r := e.runs(pass, "MINE=inherited", "COALLOC_OLD=of another ensemble", "COALLOC_JOB=other", "GLOBUS_DUROC_SUBJOB_INDEX=9")
	waiting := e.awaits(rendezvous.CheckedIn, 1)
	require.NoFileExists(t, filepath.Join(directory, "ran"))
	e.releases(1)
	require.Equal(t, 7, r.ends(), r.errors.String())
	require.Equal(t, fmt.Sprintf("%d|%s|a=b|e|1|part1|0|0|1|2|0||two words\n$HOME\n", r.Process.Pid, directory), r.output.String())
	require.Equal(t, waiting.Instance, e.awaits(rendezvous.ReleaseReceived, 1).Instance)
}

func TestSignalsReachTheProgram(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	ready := filepath.Join(t.TempDir(), "ready")
	r := e.runs(e.admits(1, 1, rendezvous.GateHeld, "sh", "-c", `trap 'exit 5' TERM; : > "$1"; while :; do sleep 0.05; done`, "sh", ready))
	e.releases(1)
	require.Eventually(t, func() bool { _, err := os.Stat(ready); return err == nil }, patience, time.Millisecond)
	require.NoError(t, r.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 5, r.ends())
}

func TestAScriptWithoutItsShellRuns(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "job"), []byte("echo ran \"$1\"\n"), 0o700))
	pass := e.admits(1, 1, rendezvous.GateOpen, "./job", "it")
	pass.Directory = directory
	r := e.runs(pass)
	require.Equal(t, 0, r.ends(), r.errors.String())
	require.Equal(t, "ran it\n", r.output.String())
}

func TestProgramsThatCannotRunVoteNo(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "text"), nil, 0o600))
	for name, test := range map[string]struct {
		gate, program, directory string
		variables                []string
		reason                   string
	}{
		"missing":           {rendezvous.GateHeld, "no-such-program", "", nil, `exec: "no-such-program": executable file not found in $PATH`},
		"missing at a path": {rendezvous.GateHeld, "./no-such-program", directory, nil, "no such file or directory"},
		"not executable":    {rendezvous.GateHeld, "./text", directory, nil, "permission denied"},
		"no directory":      {rendezvous.GateHeld, "true", directory + "/none", nil, "entering the working directory: "},
		"a file":            {rendezvous.GateHeld, "true", directory + "/text", nil, "not a directory"},
		"invalid rank":      {rendezvous.GateHeld, "true", "", []string{"PMI_RANK=two"}, `PMI_RANK is not a rank: "two"`},
		"invalid address":   {rendezvous.GateHeld, "true", "", []string{"COALLOC_ADDRESS=a,b"}, "COALLOC_ADDRESS must not contain commas"},
		"its own barrier":   {rendezvous.GateProgram, "no-such-program", "", nil, "not found"},
		"no barrier":        {rendezvous.GateOpen, "no-such-program", "", nil, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnsemble(t)
			pass := e.admits(1, 1, test.gate, test.program)
			pass.Directory = test.directory
			r := e.runs(pass, test.variables...)
			require.Contains(t, e.awaits(rendezvous.VotedNo, 1).Reason, test.reason)
			require.Equal(t, exitAborted, r.ends())
			require.Contains(t, r.errors.String(), test.reason)
		})
	}
}

func TestTheExitCodeSaysWhyAProgramDidNotRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    func(e *ensemble, pass *rendezvous.Pass)
		variables []string
		code      int
		said      string
	}{
		"removed":    {func(e *ensemble, _ *rendezvous.Pass) { e.server.Remove(1, "deleted\x1b[2J\u009b") }, nil, exitAborted, "the co-allocator ended this process: deleted[2J\n"},
		"too late":   {func(_ *ensemble, pass *rendezvous.Pass) { pass.Wait = 300 * time.Millisecond }, nil, exitAborted, "deadline exceeded"},
		"wrong size": {func(*ensemble, *rendezvous.Pass) {}, []string{"PMI_RANK=0", "PMI_SIZE=2"}, exitRefused, "the program has 2 processes, the part has 1"},
		"wrong rank": {func(*ensemble, *rendezvous.Pass) {}, []string{"PMI_RANK=4"}, exitRefused, "rank 4"},
		"denied":     {func(_ *ensemble, pass *rendezvous.Pass) { pass.Secret = []byte("wrong") }, nil, exitRefused, "denies access"},
		"another certificate": {func(e *ensemble, pass *rendezvous.Pass) {
			pass.Fingerprint, pass.Wait = strings.Repeat("0", 64), 3*time.Second
		}, nil, exitAborted, "another certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnsemble(t)
			pass := e.admits(1, 1, rendezvous.GateHeld, "echo", "ran")
			test.change(e, pass)
			r := e.runs(pass, test.variables...)
			require.Equal(t, test.code, r.ends(), r.errors.String())
			require.Contains(t, r.errors.String(), test.said)
			require.Empty(t, r.output.String())
		})
	}
}

func TestHostilePassesAreRefused(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	good := e.writes(e.admits(1, 1, rendezvous.GateHeld, "echo", "ran"))
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	folder := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	changed := func(old, replacement string) string {
		require.Contains(t, string(text), old)
		return file(fmt.Sprintf("changed-%x", replacement), strings.Replace(string(text), old, replacement, 1), 0o600)
	}
	link, pipe := filepath.Join(folder, "link"), filepath.Join(folder, "pipe")
	require.NoError(t, os.Symlink(good, link))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for path, said := range map[string]string{
		file("readable", string(text), 0o644): "is accessible to other users",
		link:                                  "too many levels of symbolic links",
		pipe:                                  "is not a file",
		folder:                                "is not a file",
		filepath.Join(folder, "missing"):      "no such file or directory",
		file("empty", "", 0o600):              "EOF",
		file("text", "\x1b[2Jtext", 0o600):    "invalid character",
		file("long", strings.Repeat(" ", 8<<20+1), 0o600):          "more than 8388608 bytes",
		changed(`"version":1`, `"version":2`):                      "version 2",
		changed(`["echo","ran"]`, `[]`):                            "names no program",
		changed(`"ran"`, `"r\u0000n"`):                             "contains NUL",
		changed(`"gate":"held"`, `"gate":"none\u001b","x":1`):      "unknown gate",
		changed(`"count":1`, `"count":-1`):                         "not complete",
		changed(`"serial":1`, `"serial":-1`):                       "a number is negative",
		changed(`"arguments"`, `"environment":["=x"],"arguments"`): "invalid variable",
	} {
		r := e.command("run", "--pass", path, "--", "echo", "ran")
		require.NoError(t, r.Start())
		require.Equal(t, 1, r.ends(), path)
		require.Contains(t, r.errors.String(), said)
		require.NotContains(t, r.errors.String(), "\x1b")
		require.Empty(t, r.output.String())
	}
	require.Empty(t, e.events)
}

func TestAProcessThatDiesWhileItWaitsIsMissing(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	pass := e.admits(1, 1, rendezvous.GateHeld, "echo", "ran")
	r := e.runs(pass, "PMI_RANK=0")
	e.awaits(rendezvous.CheckedIn, 1)
	require.NoError(t, r.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, e.awaits(rendezvous.Lost, 1).Rank)
	require.Equal(t, -1, r.ends())
	_, err := e.server.Freeze(e.ctx, []int{1})
	require.ErrorContains(t, err, "processes are missing")
	again := e.runs(pass, "PMI_RANK=0")
	require.Equal(t, 2, e.awaits(rendezvous.CheckedIn, 2).Incarnation)
	e.releases(1)
	require.Equal(t, 0, again.ends())
	require.Equal(t, "ran\n", again.output.String())
}

func TestPartsGetTheAddressesOfAll(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	show := []string{"sh", "-c", `echo "$COALLOC_HOSTS"; cat "$COALLOC_PEERS_FILE"`}
	first, second, third := e.admits(1, 2, rendezvous.GateHeld, show...), e.admits(2, 1, rendezvous.GateHeld, show...), e.admits(3, 1, rendezvous.GateHeld, "true")
	first.Exchange, second.Exchange = true, true
	all := []*running{e.runs(first), e.runs(first), e.runs(second, "COALLOC_ADDRESS=:29500", "SLURMD_NODENAME=gpu7"), e.runs(third)}
	e.releases(1, 2, 3)
	require.Equal(t, 0, all[3].ends())
	e.server.End(3) // it gives no address, so the others would wait for it
	for _, r := range all[:3] {
		require.Equal(t, 0, r.ends(), r.errors.String())
		require.Empty(t, r.errors.String())
	}
	require.Equal(t, all[0].output.String(), all[2].output.String())
	hosts, text, _ := strings.Cut(all[1].output.String(), "\n")
	var peers []peer
	require.NoError(t, json.Unmarshal([]byte(text), &peers))
	require.Len(t, peers, 3)
	require.Equal(t, []string{peers[0].Address, peers[1].Address, ""}, strings.Split(hosts, ","))
	require.NotEmpty(t, peers[0].Address)
	require.True(t, strings.HasSuffix(peers[1].Address, ":29500"))
	require.Equal(t, peer{Name: "part2", Index: 1, Size: 1, FirstRank: 2, introduction: introduction{"gpu7", peers[0].IP, peers[1].Address}}, peers[1])
	require.Equal(t, peer{Name: "part3", Index: 2, Size: 1, FirstRank: 3, Ended: true}, peers[2])
	files, err := filepath.Glob(filepath.Join(e.directory, "*peers-*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAddressesOfOthersAreChecked(t *testing.T) {
	for _, data := range []string{``, `{"address":"a,b"}`, `{"address":"a b"}`, `{"host":"a\u001b"}`, `{"ip":"\u0000"}`, `{"address":"` + strings.Repeat("x", 256) + `"}`, `[]`, `{"address":"a\nb"}`} {
		peers := peersOf([]rendezvous.Information{{Data: []byte(data)}})
		require.Equal(t, []peer{{}}, peers, data)
	}
	require.Equal(t, "10.0.0.1:80", peersOf([]rendezvous.Information{{Data: []byte(`{"address":"10.0.0.1:80"}`)}})[0].Address)
}
