package webtest

import (
	"cmp"
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/rms"
)

// EveryWidget is a definition whose form has all that a form can have.
//
//go:embed every-widget.xml
var EveryWidget string

// LaunchDefinitions returns the shipped definitions and those from the field,
// where these are beside the root of the tree, without commands for start-up, whose schedulers are not here.
func LaunchDefinitions(t testing.TB, root string) []*config.Definition {
	t.Helper()
	names := rms.Names()
	field, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join(root, "..", "shared")), "definitions", "*.xml"))
	require.NoError(t, err)
	all, err := config.Read("all.xml", []byte(EveryWidget), nil)
	require.NoError(t, err)
	definitions := []*config.Definition{all}
	for _, name := range append(names, field...) {
		definition, _, err := check.UsableDefinition(name)
		require.NoError(t, err)
		definition.Commands = slices.DeleteFunc(slices.Clone(definition.Commands), func(c *config.Command) bool { return c.Element == config.StartUpCommand })
		definitions = append(definitions, definition)
	}
	slices.SortFunc(definitions, func(a, b *config.Definition) int { return strings.Compare(a.File, b.File) })
	return definitions
}
