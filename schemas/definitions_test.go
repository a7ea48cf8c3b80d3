package schemas

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

// fieldDefinitions returns the paths of the definitions from the field, which
// are not part of the project and may be absent.
func fieldDefinitions(t *testing.T) []string {
	shared := cmp.Or(os.Getenv("RMCTL_SHARED"), "../../shared")
	paths, err := filepath.Glob(filepath.Join(shared, "definitions", "*.xml"))
	require.NoError(t, err)
	return paths
}

func TestDefinitionsFromTheFieldAreValid(t *testing.T) {
	paths := fieldDefinitions(t)
	if len(paths) == 0 {
		t.Skip("the definitions from the field are not in ../../shared; name their folder in RMCTL_SHARED")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { requireValid(t, path) })
	}
}

func TestShippedDefinitionsAreValid(t *testing.T) {
	for _, path := range shippedDefinitions(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { requireValid(t, path) })
	}
}

// shippedDefinitions returns the shipped definitions that are whole. Those that
// extend another one are so when they are merged, which package config does.
func shippedDefinitions(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../rms/*.xml")
	require.NoError(t, err)
	return slices.DeleteFunc(paths, func(path string) bool {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		document, err := xmltree.Read("", source)
		require.NoError(t, err)
		return slices.ContainsFunc(document.Root.Attributes, func(a xmltree.Attribute) bool { return a.Space == xmltree.ExtensionNamespace && a.Name == "extends" })
	})
}

func requireValid(t *testing.T, path string) {
	t.Helper()
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	document, err := xmltree.Read("", source)
	require.NoError(t, err)
	require.Empty(t, listing(Validate(document.Root)))
}
