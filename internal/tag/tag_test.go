package tag_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/tag"
)

func TestTagsInTexts(t *testing.T) {
	const one, other = "01234567-89ab-4cde-8f01-23456789abcd", "99999999-89ab-4cde-8f01-23456789abcd"
	for text, want := range map[string]string{
		"RMCTL_TAG=" + one: one,
		"/home/user/" + one + "managed_file_for_script/x " + other: one,
		one + " " + one:   one,
		one + " " + other: "",
		"job" + one:       "",
		"a-b-c-d-e":       "",
	} {
		found, dropped := tag.In(text)
		require.Equal(t, want, found, text)
		require.Equal(t, text == one+" "+other, dropped != "", text)
	}
}
