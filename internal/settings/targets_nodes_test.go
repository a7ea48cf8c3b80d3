package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
)

func TestSettingsForNodesAreReadSavedAndInherited(t *testing.T) {
	f := folders(t, "[targets.big]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\nnode_directory = \"/scratch/node\"\nrelay_address = \"10.0.0.1:4000\"\n", "")
	big := find(t, load(t, f), "big")
	require.Equal(t, "/scratch/node", big.NodeDirectory)
	require.Equal(t, "10.0.0.1:4000", big.RelayAddress)

	big.RelayAddress = "[fd00::1]:4000"
	require.NoError(t, settings.SaveTargets(t.Context(), f, big))
	text, err := os.ReadFile(filepath.Join(f.User, settings.TargetsFile))
	require.NoError(t, err)
	require.Equal(t, "[targets.big]\nrelay_address = '[fd00::1]:4000'\n", string(text), "the rest is the site's")
	saved := find(t, load(t, f), "big")
	require.Equal(t, "[fd00::1]:4000", saved.RelayAddress)
	require.Equal(t, "/scratch/node", saved.NodeDirectory)
	require.True(t, settings.HaveSamePlace(big, find(t, load(t, folders(t, "[targets.big]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\n", "")), "big")))
}

func TestAnotherHostDoesNotInheritSettingsForNodes(t *testing.T) {
	const site = "[targets.big]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\nnode_directory = \"/scratch/node\"\nrelay_address = \"login\"\n"
	for _, user := range []string{"[targets.big]\nhost = \"other\"\n", "[targets.big]\ntransport = \"local\"\n"} {
		big := find(t, load(t, folders(t, site, user)), "big")
		require.Empty(t, big.NodeDirectory)
		require.Empty(t, big.RelayAddress)
	}
}

func TestLockedSettingsForNodesCannotBeChanged(t *testing.T) {
	targets := load(t, folders(t, "locked = [\"relay_address\", \"node_directory\"]\n[targets.big]\ndefinition = \"slurm\"\nrelay_address = \"login\"\n", "[targets.big]\nrelay_address = \"evil\"\nnode_directory = \"/tmp\"\n"))
	big := find(t, targets, "big")
	require.Equal(t, "login", big.RelayAddress)
	require.Empty(t, big.NodeDirectory)
	require.Len(t, targets.Refused(), 2)
}

func TestInvalidSettingsForNodesAreRefused(t *testing.T) {
	for setting, reason := range map[string]string{
		`node_directory = "/scratch/my folder"`: `invalid node_directory "/scratch/my folder"`,
		`node_directory = "-x"`:                 "invalid node_directory",
		`node_directory = "/a;rm"`:              "invalid node_directory",
		`node_directory = "$HOME/x"`:            "invalid node_directory",
		`relay_address = "login:port"`:          "invalid port",
		`relay_address = "login:0"`:             "invalid port",
		`relay_address = "login:70000"`:         "invalid port",
		`relay_address = "a:b:c"`:               "not an address",
		`relay_address = ":4000"`:               "invalid host",
		`relay_address = "-login"`:              "invalid host",
		`relay_address = "lo gin"`:              "invalid host",
		`relay_address = "0.0.0.0:4000"`:        "all interfaces",
		`relay_address = "::"`:                  "all interfaces",
		`relay_adress = "login"`:                `did you mean "relay_address"?`,
	} {
		_, err := settings.LoadTargets(folders(t, "", "[targets.slurm]\n"+setting+"\n"))
		require.ErrorContains(t, err, reason, setting)
	}
	for _, setting := range []string{`node_directory = "~/node"`, `node_directory = "node"`, `relay_address = "login1.example.org"`, `relay_address = "fd00::1"`, `relay_address = "10.0.0.1:4000"`} {
		load(t, folders(t, "", "[targets.slurm]\n"+setting+"\n"))
	}
}
