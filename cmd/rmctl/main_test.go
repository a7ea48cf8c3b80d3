package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rmctl/rmctl/cmd/rmctl/rmctltest"
)

// The test binary is rmctl itself to the scripts that it runs.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rmctl":         func() { os.Exit(rmctlCode()) },
		"rmctl_settled": func() { os.Exit(settledCode()) },
	})
}

// Each script of testdata/script is a conversation with rmctl, with a home
// directory of its own.
func TestCommandLine(t *testing.T) {
	rmctltest.Scripts(t, filepath.Join("testdata", "script"), nil)
}
