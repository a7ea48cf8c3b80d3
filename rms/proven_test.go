package rms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/rms"
)

// Every shipped definition says how it was tested.
func TestEveryShippedDefinitionSaysAgainstWhatItWasProven(t *testing.T) {
	for _, name := range rms.Names() {
		source, shipped := rms.Source(name)
		require.True(t, shipped)
		definition, err := config.Read(name+".xml", source, check.ReadBase)
		require.NoError(t, err)
		require.NotEmpty(t, definition.Proofs, "%s: add an x:proven", name)
	}
}
