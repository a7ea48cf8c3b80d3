package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
)

// What a session found, and the answer of a shared query, hold for one environment only.
func TestVariablesOfATargetChangeTheFingerprint(t *testing.T) {
	definition := &config.Definition{Sources: [][]byte{[]byte("<a/>")}}
	one, other := inspect.WithEnvironment(definition, map[string]string{"CONF": "a"}), inspect.WithEnvironment(definition, map[string]string{"CONF": "b"})
	prints := map[string]bool{inspect.Fingerprint(definition): true, inspect.Fingerprint(one): true, inspect.Fingerprint(other): true}
	require.Len(t, prints, 3)
	require.Equal(t, inspect.Fingerprint(one), inspect.Fingerprint(inspect.WithEnvironment(definition, map[string]string{"CONF": "a"})))
}
