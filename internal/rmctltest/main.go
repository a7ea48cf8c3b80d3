package rmctltest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

// atOnce is how many tests run at once unless -parallel says otherwise: they wait for
// schedulers, and hardly need a processor.
const atOnce = "8"

// Main builds rmctl and rmctl-node, runs the tests of a package that needs clusters with it as the first
// rmctl of the PATH, and removes them. It returns the exit code.
func Main(m *testing.M) int {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flag.Parse()
	code, err := runWithCommand(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

func runWithCommand(m *testing.M) (int, error) {
	if os.Getenv("RMCTL_CLUSTERS") != "1" && !hasPrograms(fluxPrograms...) && os.Getenv(openPBSHost) == "" {
		return m.Run(), nil // all are skipped
	}
	folder, err := os.MkdirTemp("", "rmctl-built-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	build := exec.Command("go", slices.Concat([]string{"build", "-o", folder}, flagsOfBuild(), []string{"github.com/rmctl/rmctl/cmd/rmctl"})...)
	if output, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building rmctl: %w: %s", err, output)
	}
	if output, err := buildNode(folder); err != nil {
		return 1, fmt.Errorf("building rmctl-node: %w: %s", err, output)
	}
	if err := os.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// flagsOfBuild returns the flags that the tests were built with and rmctl needs, too: with the
// same ones, what was compiled for the tests is compiled for rmctl.
func flagsOfBuild() []string {
	information, known := debug.ReadBuildInfo()
	if !known {
		return nil
	}
	var flags []string
	for _, setting := range information.Settings {
		if setting.Key == "-race" || setting.Key == "-gcflags" {
			flags = append(flags, setting.Key+"="+setting.Value)
		}
	}
	return flags
}
