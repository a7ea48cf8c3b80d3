package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
)

func TestTheDefaultTargetIsChangedInItsPlace(t *testing.T) {
	for before, want := range map[string]string{
		"": "default = 'pbs'\n",
		"# mine\n[targets.big]\ndefinition = \"slurm\"\n":                                                           "default = 'pbs'\n\n# mine\n[targets.big]\ndefinition = \"slurm\"\n",
		"# mine\nbackground = false\ndefault = \"slurm\" # usual\n\n# big\n[targets.big]\ndefinition = \"slurm\"\n": "# mine\nbackground = false\ndefault = 'pbs' # usual\n\n# big\n[targets.big]\ndefinition = \"slurm\"\n",
		"\"default\"   =   'slurm'": "default = 'pbs'",
		"[targets.default]\ndefinition = \"slurm\"\n[targets.default.attributes]\ndefault = \"x\"\n": "default = 'pbs'\n\n[targets.default]\ndefinition = \"slurm\"\n[targets.default.attributes]\ndefault = \"x\"\n",
	} {
		f := folders(t, "", before)
		require.NoError(t, settings.UseTarget(t.Context(), f, "pbs"), before)
		text, err := os.ReadFile(filepath.Join(f.User, settings.TargetsFile))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		require.Equal(t, "pbs", load(t, f).Default)
	}
}

func TestADefaultTargetMustExistAndBeUnlocked(t *testing.T) {
	f := folders(t, "", "# mine\n")
	var unknown *settings.UnknownTargetError
	require.ErrorAs(t, settings.UseTarget(t.Context(), f, "nowhere"), &unknown)
	text, err := os.ReadFile(filepath.Join(f.User, settings.TargetsFile))
	require.NoError(t, err)
	require.Equal(t, "# mine\n", string(text))

	f = folders(t, "default = \"slurm\"\nlocked = [\"default\"]\n", "")
	require.ErrorContains(t, settings.UseTarget(t.Context(), f, "pbs"), "the default target is locked")
	require.NoError(t, settings.UseTarget(t.Context(), f, "slurm"))
}
