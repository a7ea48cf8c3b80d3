package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressIsShownOnlyOnATerminal(t *testing.T) {
	d := newDesk(t)
	script := filepath.Join(d.Home, "large.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+strings.Repeat("# a comment\n", 1<<18)), 0o700))
	command := d.Command(t.Context(), "submit", "--script", script)
	said, err := command.CombinedOutput()
	require.NoError(t, err)
	require.NotContains(t, string(said), "MiB")

	s := d.Sits("submit", "--script", script)
	s.Ends(exitDone)
	require.Regexp(t, regexp.MustCompile(`large\.sh \d\.\d of 3\.0 MiB \[.*\x1b\[K.*\r\x1b\[K\d+`), strings.ReplaceAll(s.Screen, "\n", ""))
	d.Does("wait", strings.TrimSpace(string(said)))
}
