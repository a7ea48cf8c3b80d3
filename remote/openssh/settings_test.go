package openssh_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
	"github.com/rmctl/rmctl/remote/openssh"
)

func testFailures(t *testing.T, server sshd) {
	for name, test := range map[string]struct {
		settings string
		reason   remote.ConnectReason
	}{
		"Refused":             {"Port 1", remote.Refused},
		"UnknownHost":         {"HostName no.such.host.invalid", remote.UnknownHost},
		"UnknownHostKey":      {"UserKnownHostsFile /dev/null", remote.UnknownHostKey},
		"UnknownHostKeyAsked": {"UserKnownHostsFile /dev/null\nStrictHostKeyChecking ask", remote.UnknownHostKey},
		"ChangedHostKey":      {"UserKnownHostsFile " + changedHostKey(t, server), remote.ChangedHostKey},
		"ChangedHostKeyThatAConfigurationAccepts": {"StrictHostKeyChecking no\nUserKnownHostsFile " + changedHostKey(t, server), remote.ChangedHostKey},
		"WrongKey":         {"IdentityFile " + server.folder + "/client/id_stranger\nIdentitiesOnly yes", remote.NotAuthenticated},
		"NoMethodLeft":     {"PubkeyAuthentication no", remote.NotAuthenticated},
		"BadConfiguration": {"NoSuchKeyword yes", remote.BadConfiguration},
		"NoCommonCipher":   {"Ciphers 3des-cbc", remote.BadProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := server.options(t, "rmtest-other")
			content, err := os.ReadFile(server.config)
			require.NoError(t, err)
			if name == "WrongKey" { // keys of all matching sections are tried
				content = []byte(strings.ReplaceAll(string(content), "id_known", "id_stranger"))
			}
			options.ConfigFile = filepath.Join(t.TempDir(), "config")
			require.NoError(t, os.WriteFile(options.ConfigFile, append([]byte(test.settings+"\n"), content...), 0o600))
			_, err = openssh.Dial(timeLimit(t), options)
			requireReason(t, err, test.reason)
		})
	}
}

// The ssh to a jump host is another process, with words of its own.
func testJumpHostFailures(t *testing.T, server sshd) {
	for name, test := range map[string]struct {
		settings string
		reason   remote.ConnectReason
	}{
		"Refused":        {"Port 1", remote.Refused},
		"UnknownHost":    {"HostName no.such.host.invalid", remote.UnknownHost},
		"UnknownHostKey": {"UserKnownHostsFile /dev/null", remote.UnknownHostKey},
		"NoMethodLeft":   {"PubkeyAuthentication no", remote.NotAuthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := withSettings(t, server, "rmtest-behind", "Host rmtest-jump\n"+test.settings+"\nHost *\n")
			_, err := openssh.Dial(timeLimit(t), options)
			requireReason(t, err, test.reason)
		})
	}
}

// changedHostKey makes a known_hosts in which the target has another key.
func changedHostKey(t *testing.T, server sshd) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(server.folder, "host_other.pub"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "known_hosts")
	require.NoError(t, os.WriteFile(path, []byte("[127.0.0.1]:"+server.port+" "+string(key)), 0o600))
	return path
}

// testX11 looks at what the host offers to clients. No display is needed: ssh
// makes the address up as soon as a local one is named.
func testX11(t *testing.T, server sshd) {
	t.Setenv("DISPLAY", ":99")
	dialer := dial(t, server.options(t, "rmtest-target"))
	require.Equal(t, "none\n", run(t, dialer, `echo "${DISPLAY:-none}"`, "").stdout, "nobody asked for it")
	opened, err := dialer.Open(timeLimit(t), `echo "${DISPLAY:-none}"`, channel.Options{ForwardX11: true})
	require.NoError(t, err)
	left := finish(opened, "")
	require.NoError(t, opened.Close())
	require.Regexp(t, `^localhost:\d+`, left.stdout)

	t.Setenv("DISPLAY", "")
	_, err = dialer.Open(timeLimit(t), "true", channel.Options{ForwardX11: true})
	require.ErrorContains(t, err, "DISPLAY")
}

func TestAServerThatDoesNotForwardX11(t *testing.T) {
	server := startSSHD(t, "28262", "RMCTL_SSHD_X11=no")
	t.Setenv("DISPLAY", ":99")
	dialer := dial(t, server.options(t, "rmtest-target"))
	_, err := dialer.Open(timeLimit(t), "true", channel.Options{ForwardX11: true})
	require.ErrorContains(t, err, "the server refuses it")
	require.Zero(t, run(t, dialer, "true", "").code)
}

// testAgent looks at what the host offers to programs that want keys.
func testAgent(t *testing.T, server sshd) {
	folder := stateFolder(t)
	socket := filepath.Join(folder, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	require.NoError(t, agent.Start())
	t.Cleanup(func() {
		require.NoError(t, agent.Process.Signal(syscall.SIGTERM))
		_ = agent.Wait()
	})
	require.Eventually(t, func() bool { _, err := os.Lstat(socket); return err == nil }, patience, time.Millisecond)
	t.Setenv("SSH_AUTH_SOCK", socket)
	options := withSettings(t, server, "rmtest-target", "IdentityAgent SSH_AUTH_SOCK\nForwardAgent yes\n")
	const ask = `echo "${SSH_AUTH_SOCK:-none}"`
	require.Equal(t, "none\n", run(t, dial(t, options), ask, "").stdout, "nobody asked for it here")
}

// testForeignSettings has a configuration that makes ssh do more than connect.
func testForeignSettings(t *testing.T, server sshd) {
	options := server.options(t, "rmtest-target")
	content, err := os.ReadFile(server.config)
	require.NoError(t, err)
	options.ConfigFile = filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(options.ConfigFile, append([]byte(`RemoteCommand echo not this
RequestTTY force
SessionType none
StdinNull yes
ForkAfterAuthentication yes
LocalForward 127.0.0.1:`+server.port+` 127.0.0.1:1
ExitOnForwardFailure yes
ForwardAgent yes
ForwardX11 yes
ControlMaster auto
ControlPath `+options.StateFolder+`/%C
ControlPersist yes
LogLevel QUIET
EscapeChar ~
`), content...), 0o600))
	dialer := dial(t, options)
	left := run(t, dialer, `cat; echo "${SSH_AUTH_SOCK:-no agent}"; tty`, "~.\n")
	require.Equal(t, "~.\nno agent\nnot a tty\n", left.stdout)
}
