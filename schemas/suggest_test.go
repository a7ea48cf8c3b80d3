package schemas

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMisspellingsAreRecognised(t *testing.T) {
	names := []string{"attribute", "script", "submit-batch", "set", "test", "isUndefinedIfMatches", "or", "waitForId"}
	for word, meant := range map[string]string{
		"atribute":             "attribute",
		"ATTRIBUTE":            "attribute",
		"submitBatch":          "submit-batch",
		"submit_batch":         "submit-batch",
		"sumbit-batch":         "submit-batch",
		"scritp":               "script",
		"isUndefinedIfMatch":   "isUndefinedIfMatches",
		"tset":                 "set", // as near as test, and first
		"st":                   "set",
		"wait-for-id":          "waitForId",
		"and":                  "",
		"x":                    "",
		"":                     "",
		"launch-tab":           "",
		"attributeattributeat": "",
	} {
		require.Equal(t, meant, nearest(word, names), "%q", word)
	}
}

func TestSwappedLettersAreOneMistake(t *testing.T) {
	require.Equal(t, 1, editDistance("tset", "test"))
	require.Equal(t, 2, editDistance("test", "tent-"))
	require.Equal(t, 3, editDistance("", "abc"))
}
