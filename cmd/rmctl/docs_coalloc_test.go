package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// numbers are the numbers of ensembles and jobs, which differ each time.
var numbers = regexp.MustCompile(`\b[0-9a-f]{12}\b|local/\d+|\b\d+ +- +-$`)

// comparable returns the lines of an output in order, as processes write at the same time.
func comparable(output string) []string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range lines {
		lines[i] = numbers.ReplaceAllString(strings.TrimSpace(line), "N")
	}
	return slices.Sorted(slices.Values(lines))
}

// The first example of the page on ensembles prints the output in the page.
func TestTheFirstEnsembleDoesWhatThePageShows(t *testing.T) {
	t.Parallel()
	installNodeProgram(t)
	page, err := os.ReadFile("../../docs/use/ensembles.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## A first example\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```")
	require.Len(t, blocks, 7)
	desk := rmctltest.NewDesk(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(desk.Home, "first.toml"), []byte(strings.TrimPrefix(blocks[1], "toml\n")), 0o600))
	commands := 0
	for _, block := range []string{blocks[3], blocks[5]} {
		for command := range strings.SplitSeq(block, "\n$ ") {
			if line, shown, _ := strings.Cut(command, "\n"); line != "" {
				commands++
				words := strings.Fields(line)
				require.Equal(t, "rmctl", words[0])
				shows := func() bool { return slices.Equal(comparable(shown), comparable(desk.Does(words[1:]...))) }
				if words[2] == "submit" {
					require.True(t, shows(), line)
					continue
				}
				require.Eventually(t, shows, 5*time.Minute, 100*time.Millisecond, line)
			}
		}
	}
	require.Equal(t, 5, commands)
}
