package wording

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
		require.Equal(t, meant, Nearest(word, names), "%q", word)
	}
}

func TestSwappedLettersAreOneMistake(t *testing.T) {
	for word, meant := range map[string]string{"tset": "test", "etst": "test", "tets": "test", "no": "on"} {
		distance, similar := Distance(word, meant)
		require.Equal(t, 1, distance, word)
		require.True(t, similar, word)
	}
	for word, meant := range map[string]string{"tste": "test", "sett": "test"} {
		distance, _ := Distance(word, meant)
		require.Equal(t, 2, distance, word)
	}
}
