package rmctl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const noticeHead = `rmctl

rmctl is licensed under the Apache License, Version 2.0: see LICENSE. The program contains
the software below, which has these licenses. RMCTL_UPDATE=1 go test . -run Notice writes
this file.
`

// licenseFile matches the names of files with terms that a copy must come with.
var licenseFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|copyright|notice|patents)`)

// TestNoticeHasTheLicensesOfTheBinary compares NOTICE with the license files of the packages in
// the binary; RMCTL_UPDATE=1 rewrites it.
func TestNoticeHasTheLicensesOfTheBinary(t *testing.T) {
	modulesOf := map[string][]string{} // by text
	add := func(name, folder string) (found bool) {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, entry := range entries {
			if entry.IsDir() || !licenseFile.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			require.NoError(t, err)
			found = true
			key := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			if !slices.Contains(modulesOf[key], name) {
				modulesOf[key] = append(modulesOf[key], name)
			}
		}
		return found
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	require.True(t, add("Go, its runtime and standard library", strings.TrimSpace(string(root))), "Go has no license file")
	for _, system := range platforms {
		for line := range strings.Lines(listLicensed(t, system)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) < 3 || fields[1] == module {
				continue
			}
			folder, path, top := fields[0], fields[1], fields[2]
			require.True(t, add(path, top), "%s has no license file", path)
			for ; len(folder) > len(top); folder = filepath.Dir(folder) {
				add(path+strings.TrimPrefix(folder, top), folder)
			}
		}
	}
	var texts []string
	for text, modules := range modulesOf {
		slices.Sort(modules)
		texts = append(texts, fmt.Sprintf("\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(modules, "\n"), text))
	}
	slices.Sort(texts)
	actual := noticeHead + strings.Join(texts, "")
	if os.Getenv("RMCTL_UPDATE") == "1" {
		require.NoError(t, os.WriteFile("NOTICE", []byte(actual), 0o644))
	}
	expected, err := os.ReadFile("NOTICE")
	require.NoError(t, err)
	require.True(t, string(expected) == actual, "NOTICE is out of date: rewrite it with RMCTL_UPDATE=1")
}

// listLicensed returns a line for each package in the binary outside the standard library: its
// folder, its module, and the folder of that.
func listLicensed(t *testing.T, system string) string {
	t.Helper()
	return listPackages(t, system, "{{.Dir}}\t{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}")
}
