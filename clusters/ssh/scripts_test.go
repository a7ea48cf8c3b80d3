package ssh_test

import (
	"path/filepath"
	"testing"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// The scripts of testdata/script-sshd run against real daemons, a jump host
// included.
func TestSSHD(t *testing.T) {
	t.Parallel()
	rmctltest.Scripts(t, filepath.Join("testdata", "script-sshd"), map[string]string{
		"SSH_CONFIG": rmctltest.SSHD(t, "scripts").Configuration, "SSH_AUTH_SOCK": "", "RMCTL_BACKGROUND": "",
	})
}
