package openpbs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// Programs on terminals of a real OpenPBS, through qsub -I.
func TestInteractive(t *testing.T) {
	t.Parallel()
	server := rmctltest.OpenPBS(t, "interactive")
	desk := func(t *testing.T) *rmctltest.Desk {
		d := rmctltest.NewDesk(t, "", "RMCTL_BACKGROUND=off")
		for name, value := range server.Environment {
			d.Environment = append(d.Environment, name+"="+value)
		}
		return d
	}

	t.Run("a program has a terminal, and its exit code is passed on", func(t *testing.T) {
		d := desk(t)
		s := d.Sits("run", "-t", "pbs-interactive", "-e", "GREETING=hello  you", "--", "sh", "-c", `echo "<$GREETING>"; read -r line; echo "<$line>"; exit 4`)
		s.WaitFor("<hello  you>")
		require.Eventually(t, func() bool { return len(d.Does("jobs", "--json")) > 0 }, 5*time.Minute, 50*time.Millisecond)
		s.Type("typed\r")
		s.WaitFor("<typed>")
		s.Ends(4)
		require.Contains(t, d.Does("jobs", "--all", "--json"), `"detail":"FAILED"`)
	})

	t.Run("a script of one's own ends with its code", func(t *testing.T) {
		d := desk(t)
		for code, end := range map[string]string{"0": "COMPLETED", "6": "FAILED"} {
			script := filepath.Join(d.Home, "own.sh")
			require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho mine\nexit "+code+"\n"), 0o700))
			s := d.Sits("run", "-t", "pbs-interactive", "--script", script)
			s.WaitFor("mine")
			s.Ends(int(code[0] - '0'))
			require.Contains(t, d.Does("jobs", "--all", "--json"), `"detail":"`+end+`"`)
		}
	})

	t.Run("without a terminal nothing is submitted", func(t *testing.T) {
		d := desk(t)
		require.Contains(t, d.Refused(2, "run", "-t", "pbs-interactive", "--", "touch", "ran"), "has no way to run without a terminal")
		require.NoFileExists(t, filepath.Join(d.Home, "ran"))
		require.NotContains(t, d.Does("jobs", "--all", "--json"), "pbs-interactive")
	})
}
