package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
)

const handWritten = `# our machines
default = "big"

# the big one
[targets.big]
definition = "slurm" # since 2024
transport = "ssh"
host = "login.example.org"

[targets.big.attributes]
account = "proj7"

# the small one, which nobody else may touch
[targets.small]
definition = "local"
`

func targetsFile(t *testing.T, text string) (folder string, read func() string) {
	folder = t.TempDir()
	file := filepath.Join(folder, settings.TargetsFile)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return folder, func() string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
}

func TestATargetIsReplacedAndTheRestOfTheFileStays(t *testing.T) {
	folder, read := targetsFile(t, handWritten)
	require.NoError(t, settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{
		Name: "big", Definition: "pbs", Transport: "openssh", Host: "other.example.org", Attributes: map[string]string{"queue": "a \"b\""},
	}))
	require.Equal(t, `# our machines
default = "big"

# the big one
[targets.big]
definition = 'pbs'
transport = 'openssh'
host = 'other.example.org'

[targets.big.attributes]
queue = 'a "b"'

# the small one, which nobody else may touch
[targets.small]
definition = "local"
`, read())
}

func TestATargetIsAddedAtTheEnd(t *testing.T) {
	folder, read := targetsFile(t, handWritten)
	require.NoError(t, settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "new.one", Definition: "site.xml"}))
	require.Equal(t, handWritten+"\n[targets.'new.one']\ndefinition = 'site.xml'\n", read())
	targets, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(t, err)
	found, err := targets.Find("new.one")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "site.xml"), found.Definition)
}

func TestAddingATargetCreatesTheFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "absent")
	require.NoError(t, settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "one", Definition: "slurm"}))
	info, err := os.Stat(filepath.Join(folder, settings.TargetsFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestATargetIsRemovedWithAllItsTables(t *testing.T) {
	folder, read := targetsFile(t, "# all\n\n# of big\n[targets.big]\ndefinition = \"slurm\"\n\n[targets.other]\ndefinition = \"local\"\n\n[targets.big.attributes]\naccount = \"x\"\n\n# end\n")
	require.NoError(t, settings.RemoveTarget(t.Context(), settings.Folders{User: folder}, "big"))
	require.Equal(t, "# all\n\n[targets.other]\ndefinition = \"local\"\n\n# end\n", read())
}

func TestARefusedChangeKeepsTheTargetsFile(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		change   func(folder string) error
		reported string
	}{
		"the default target": {handWritten, func(folder string) error {
			return settings.RemoveTarget(t.Context(), settings.Folders{User: folder}, "big")
		}, `default target "big"`},
		"one that is not there": {handWritten, func(folder string) error {
			return settings.RemoveTarget(t.Context(), settings.Folders{User: folder}, "slurm")
		}, `unknown target "slurm"`},
		"a host for this machine": {handWritten, func(folder string) error {
			return settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "x", Definition: "local", Transport: "local", Host: "h"})
		}, "host and ssh_config require transport"},
		"a host that ssh would take for an option": {handWritten, func(folder string) error {
			return settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "x", Definition: "local", Transport: "ssh", Host: "-oProxyCommand=x"})
		}, "invalid host name"},
		"a name with a slash": {handWritten, func(folder string) error {
			return settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "a/b", Definition: "local"})
		}, "invalid target name"},
		"a file that is broken": {"[targets", func(folder string) error {
			return settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "x", Definition: "local"})
		}, "targets.toml:1"},
		"a target in one line": {"targets.big.definition = \"slurm\"\n", func(folder string) error {
			return settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "big", Definition: "local"})
		}, "edit the file"},
		"all targets in one line": {"targets = { big = { definition = \"slurm\" } }\n", func(folder string) error {
			return settings.SaveTargets(t.Context(), settings.Folders{User: folder}, settings.Target{Name: "x", Definition: "local"})
		}, "targets.toml"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, read := targetsFile(t, c.text)
			require.ErrorContains(t, c.change(folder), c.reported)
			require.Equal(t, c.text, read())
		})
	}
}
