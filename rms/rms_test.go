package rms_test

import (
	"encoding/xml"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/rms"
)

func TestShippedDefinitionsBearTheirFilesNames(t *testing.T) {
	names := rms.Names()
	require.True(t, slices.IsSorted(names))
	require.Subset(t, names, []string{"fork", "local"})
	for _, name := range names {
		source, found := rms.Source(name)
		require.True(t, found, name)
		var definition struct {
			Name string `xml:"name,attr"`
		}
		require.NoError(t, xml.Unmarshal(source, &definition), name)
		require.Equal(t, name, definition.Name)
	}
}

func TestOtherNamesAreNoShippedDefinitions(t *testing.T) {
	for _, name := range []string{"", "nothing", "local.xml", "../rms/local", "/local", "."} {
		_, found := rms.Source(name)
		require.False(t, found, "%q", name)
	}
}
