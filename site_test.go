package rmctl_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl"
)

// A user cannot have a scheduler listed more often than the site allows: not with a definition,
// and not with a target of their own.
func TestControllersObeyTheIntervalOfTheSite(t *testing.T) {
	folder := t.TempDir()
	options := rmctl.Options{ConfigFolder: filepath.Join(folder, "user"), SiteFolder: filepath.Join(folder, "site"), StateFolder: filepath.Join(folder, "state")}
	for name, text := range map[string]string{
		"site/targets.toml": "interval = \"20s\"\nlocked = [\"interval\"]\n",
		"user/targets.toml": "[targets.slurm]\ndefinition = \"fast.xml\"\n[targets.mine]\ndefinition = \"fast.xml\"\ninterval = \"100ms\"\n[targets.rare]\ndefinition = \"fast.xml\"\ninterval = \"1h\"\n",
		"user/fast.xml": `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="fast" x:extends="slurm">` +
			`<monitor-data><x:list-jobs name="list-jobs" x:interval="100ms"/></monitor-data></resource-manager-builder>`,
	} {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	var log bytes.Buffer
	options.Log = slog.New(slog.NewTextHandler(&log, nil))
	client := rmctl.New(options)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	for target, interval := range map[string]time.Duration{"slurm": 20 * time.Second, "mine": 20 * time.Second, "pbs": 20 * time.Second, "rare": time.Hour} {
		controller, err := client.Controller(t.Context(), target)
		require.NoError(t, err)
		require.Equal(t, interval, controller.Interval(), target)
	}
	require.Contains(t, log.String(), `target \"mine\": interval has no effect`)
}
