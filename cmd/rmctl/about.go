package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/manual"
	"github.com/rmctl/rmctl/internal/terminal"
)

// versionJSON is what version --json prints; docs/reference/json.md has its members.
type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	System   string `json:"system"` // the old name of Platform
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of rmctl",
		Long:    "Print the version of rmctl, the revision it was built from, and the version of Go.",
		Example: "  rmctl version\n  rmctl version --json",
		// Instead of that of all commands: this cannot be interrupted.
		PersistentPreRun: func(*cobra.Command, []string) {},
		RunE:             func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	v := buildVersion()
	if a.json {
		return terminal.JSON(a.stdout, v)
	}
	revision := ""
	if v.Revision != "" {
		revision = " " + v.Revision
		if v.Modified {
			revision += "+changes"
		}
	}
	_, err := fmt.Fprintf(a.stdout, "rmctl %s%s (%s, %s)\n", v.Version, revision, v.Go, v.Platform)
	return err
}

// buildVersion returns the version that the Go linker recorded.
func buildVersion() versionJSON {
	info, _ := debug.ReadBuildInfo()
	return versionOf(info)
}

// versionOf returns the version in build information, which may be nil: that of the tag or, of
// other commits, a pseudo-version; without the v of Go modules.
func versionOf(info *debug.BuildInfo) versionJSON {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	v := versionJSON{Version: "(devel)", Go: runtime.Version(), Platform: platform, System: platform}
	if info == nil {
		return v
	}
	v.Version = cmp.Or(strings.TrimPrefix(info.Main.Version, "v"), v.Version)
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Revision = setting.Value[:min(12, len(setting.Value))]
		case "vcs.time":
			v.Time = setting.Value
		case "vcs.modified":
			v.Modified = setting.Value == "true"
		}
	}
	return v
}

func newMan(*app) *cobra.Command {
	markdown := false
	command := &cobra.Command{
		Use:   "man DIR",
		Short: "Write the man pages",
		Long: `Write a man page for each command to DIR, creating DIR if needed: rmctl.1,
rmctl-submit.1 and so on. With --markdown, write rmctl.md, rmctl-submit.md and so on.`,
		Example: `  rmctl man ~/.local/share/man/man1
  man rmctl-submit`,
		Args:              exactly(1, "DIR"),
		ValidArgsFunction: completeDirectories,
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := os.MkdirAll(arguments[0], 0o755); err != nil {
				return fmt.Errorf("creating the directory of the man pages: %w", err)
			}
			if markdown {
				return manual.WriteMarkdown(c.Root(), arguments[0])
			}
			return manual.Write(c.Root(), arguments[0])
		},
	}
	command.Flags().BoolVar(&markdown, "markdown", false, "write Markdown instead")
	return command
}
