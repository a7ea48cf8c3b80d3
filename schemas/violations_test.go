package schemas

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/xmltree"
)

var update = flag.Bool("update", false, "rewrite the expected violations in testdata")

// Every document in testdata/violations stands beside the violations that it has.
func TestViolationsAreReportedWhereTheyStand(t *testing.T) {
	documents, err := filepath.Glob("testdata/violations/*.xml")
	require.NoError(t, err)
	require.NotEmpty(t, documents)
	for _, path := range documents {
		t.Run(filepath.Base(path), func(t *testing.T) {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			document, err := xmltree.Read("", source)
			require.NoError(t, err)
			got := listing(Validate(document.Root))
			expected := strings.TrimSuffix(path, ".xml") + ".expected"
			if *update {
				require.NoError(t, os.WriteFile(expected, []byte(got), 0o644))
			}
			want, err := os.ReadFile(expected)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func listing(violations []Violation) string {
	var lines strings.Builder
	for _, v := range violations {
		fmt.Fprintf(&lines, "%d:%d %s: %s", v.Line, v.Column, v.Code, v.Message)
		if v.Suggestion != "" {
			fmt.Fprintf(&lines, " [%s?]", v.Suggestion)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}
