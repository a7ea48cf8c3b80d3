package clusters_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// debianUser is a user of the minimal Debian.
const debianUser = "ann"

// The .deb of release/build, installed in a minimal Debian, runs the first job of a user.
func TestTheDebianPackageRunsTheFirstJob(t *testing.T) {
	t.Parallel()
	rmctltest.NeedClusters(t)
	built := t.TempDir()
	root := filepath.Join(os.TempDir(), "rmctl-test-debian")
	run := func(t *testing.T, name string, arguments ...string) (stdout, stderr string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, arguments...)
		var out, err strings.Builder
		command.Stdout, command.Stderr = &out, &err
		require.NoError(t, command.Run(), "%s %s: %s%s", name, strings.Join(arguments, " "), &out, &err)
		return out.String(), err.String()
	}
	run(t, filepath.Join(rmctltest.Project(t), "release", "build"), "-p", "linux/"+runtime.GOARCH, "-k", "deb", built)
	packages, err := filepath.Glob(filepath.Join(built, "*.deb"))
	require.NoError(t, err)
	require.Len(t, packages, 1)
	run(t, "sh", "-c", `cd "$1" && sha256sum -c SHA256SUMS`, "sh", built)

	remove := func() {
		rmctltest.ClusterScript(t, "debian-root.sh", "RMCTL_DEBIAN_ROOT="+root, "RMCTL_DEBIAN_REMOVE=1")
	}
	remove() // left by a killed test
	t.Cleanup(remove)
	rmctltest.ClusterScript(t, "debian-root.sh", "RMCTL_DEBIAN_ROOT="+root)
	run(t, "cp", packages[0], filepath.Join(root, "rmctl.deb"))
	run(t, "chroot", root, "/usr/bin/env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c", "dpkg -i /rmctl.deb && useradd -m "+debianUser)
	user := func(t *testing.T, script string) (stdout, stderr string) {
		t.Helper()
		return run(t, "chroot", "--userspec="+debianUser+":"+debianUser, root,
			"/usr/bin/env", "-i", "HOME=/home/"+debianUser, "PATH=/usr/bin:/bin", "bash", "-c", "cd && "+script)
	}

	t.Run("the first job", func(t *testing.T) {
		stdout, stderr := user(t, "rmctl submit --wait --show -- sh -c 'echo hello; id -un'")
		require.Equal(t, "1\nhello\n"+debianUser+"\n", stdout)
		require.Contains(t, stderr, "1: COMPLETED (exit code 0)\n")
	})
	t.Run("the version is that of the package", func(t *testing.T) {
		stdout, _ := user(t, "rmctl version --json")
		var version struct{ Version, Revision, Platform string }
		require.NoError(t, json.Unmarshal([]byte(stdout), &version))
		require.Equal(t, "linux/"+runtime.GOARCH, version.Platform)
		require.NotEmpty(t, version.Revision)
		packaged, _ := user(t, "dpkg-query -W -f '${Version}' rmctl")
		require.Equal(t, strings.Replace(version.Version, "-", "~", 1), packaged)
		node, _ := user(t, "rmctl-node version")
		require.Equal(t, "rmctl-node "+version.Version+"\n", node)
	})
	t.Run("man pages, completions and documents", func(t *testing.T) {
		page, _ := user(t, "gzip -dc /usr/share/man/man1/rmctl-submit.1.gz")
		require.Contains(t, page, "rmctl\\-submit")
		completion, _ := user(t, ". /usr/share/bash-completion/completions/rmctl && complete -p rmctl")
		require.Contains(t, completion, "-F __start_rmctl rmctl")
		user(t, "test -s /usr/share/zsh/vendor-completions/_rmctl -a -s /usr/share/fish/vendor_completions.d/rmctl.fish")
		user(t, "cd /usr/share/doc/rmctl && test -s README.md -a -s copyright -a -s changelog.gz -a -s NOTICE.gz -a -d docs")
	})
	t.Run("dpkg removes all of it", func(t *testing.T) {
		run(t, "chroot", root, "/usr/bin/env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "dpkg", "--purge", "rmctl")
		left, _ := run(t, "find", filepath.Join(root, "usr"), "-name", "*rmctl*")
		require.Empty(t, left)
	})
}
