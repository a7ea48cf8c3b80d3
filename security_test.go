package rmctl_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each test that docs/operate/security.md names is there.
func TestTheTestsOfTheSecurityPageExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "operate", "security.md"))
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z/-]+)\\.((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(named), 50)
	sources := map[string]string{}
	for _, each := range named {
		folder, name := each[1], each[2]
		if sources[folder] == "" {
			files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
			require.NoError(t, err)
			var all strings.Builder
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				all.Write(text)
			}
			sources[folder] = all.String()
		}
		require.True(t, strings.Contains(sources[folder], "func "+name+"("), "%s has no such test", folder)
	}
}
