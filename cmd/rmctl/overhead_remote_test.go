package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// BenchmarkRemoteStatus measures complete rmctl status processes that query a job on
// another host over the connection of the background process: one, alternating with
// a status that queries nothing, and a thousand. The query is one cheap command.
//
//	RMCTL_CLUSTERS=1 go test ./cmd/rmctl -run '^$' -bench RemoteStatus -benchtime 100x
func BenchmarkRemoteStatus(b *testing.B) {
	configuration := rmctltest.SSHD(b, "overhead").Configuration
	rmctl := buildRmctl(b)
	home := b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("RMCTL_BACKGROUND", "")
	folder := filepath.Join(home, ".config", "rmctl")
	require.NoError(b, os.MkdirAll(folder, 0o700))
	definition, err := os.ReadFile(filepath.Join("testdata", "overhead.xml"))
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(folder, "site.xml"), definition, 0o600))
	var targets strings.Builder
	for _, transport := range []string{"ssh", "openssh"} {
		targets.WriteString("[targets." + transport + "]\ndefinition = \"site.xml\"\ntransport = \"" + transport + "\"\n" +
			"host = \"rmtest-target\"\nssh_config = \"" + configuration + "\"\n")
	}
	require.NoError(b, os.WriteFile(filepath.Join(folder, "targets.toml"), []byte(targets.String()), 0o600))
	b.Cleanup(func() {
		output, err := exec.Command(rmctl, "conn", "close", "--all").CombinedOutput()
		require.NoError(b, err, "%s", output)
	})
	for _, transport := range []string{"ssh", "openssh"} {
		output, err := exec.Command(rmctl, "submit", "-t", transport, "--", "true").Output()
		require.NoError(b, err)
		job := transport + "/" + strings.TrimSpace(string(output))
		asking := []string{rmctl, "status", "--fresh", job}
		b.Run(transport+"/one", func(b *testing.B) { reportPairs(b, []string{rmctl, "status", job}, asking) })
		b.Run(transport+"/thousand", func(b *testing.B) {
			for b.Loop() {
				for range 1000 {
					measure(b, asking)
				}
			}
		})
	}
}
