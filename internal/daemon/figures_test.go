package daemon_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
	"github.com/rmctl/rmctl/internal/remotetest"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/openssh"
	"github.com/rmctl/rmctl/remote/ssh"
)

// What the way through the background process adds to a command. The figures of
// docs/operate/performance.md need a real sshd: RMCTL_CLUSTERS=1.
func BenchmarkCommands(b *testing.B) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" {
		b.Skip("needs a real sshd: RMCTL_CLUSTERS=1 starts one, as root on Debian")
	}
	const directory = "/tmp/rmctl-test-sshd-background"
	script := func(name string) {
		command := exec.Command(filepath.Join("..", "..", "testdata", "clusters", name))
		command.Env = append(os.Environ(), "RMCTL_SSHD_DIR="+directory, "RMCTL_SSHD_PORT=28342")
		output, err := command.CombinedOutput()
		require.NoError(b, err, "%s", output)
	}
	script("sshd-up.sh")
	b.Cleanup(func() { script("sshd-down.sh") })
	configuration := filepath.Join(directory, "client", "config")

	client := serve(b, daemon.Options{
		Connect: func(ctx context.Context, place daemon.Place, prompter remote.Prompter) (remote.Connection, error) {
			if place.Transport == "ssh" {
				return ssh.Connect(ctx, ssh.Options{Host: place.Host, ConfigFile: place.SSHConfig, Prompter: prompter})
			}
			return openssh.Connect(ctx, openssh.Options{Host: place.Host, ConfigFile: place.SSHConfig, Prompter: prompter})
		},
	}).client(b)
	for _, transport := range []string{"ssh", "openssh"} {
		b.Run(transport, func(b *testing.B) {
			connection, err := client.Connect(b.Context(), daemon.Place{Transport: transport, Host: "rmtest-target", SSHConfig: configuration}, nil)
			require.NoError(b, err)
			remotetest.Figures(b, connection)
			require.NoError(b, connection.Close())
		})
	}
}
