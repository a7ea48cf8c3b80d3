package pages

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachTemplateOfAPageIsWhole(t *testing.T) {
	templates, err := readTemplates()
	require.NoError(t, err)
	for name, page := range templates.pages {
		require.NotNil(t, page.Lookup("main"), "the template %s does not define main", name)
	}
}
