package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/manual"
	"github.com/rmctl/rmctl/internal/terminal"
)

type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	System   string `json:"system"`
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
	_, err := fmt.Fprintf(a.stdout, "rmctl %s%s (%s, %s)\n", v.Version, revision, v.Go, v.System)
	return err
}

// buildVersion reads what the Go linker recorded.
func buildVersion() versionJSON {
	v := versionJSON{Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Revision = setting.Value[:min(12, len(setting.Value))]
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
		Args:              exactly(1, "a folder"),
		ValidArgsFunction: completeDirectories,
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := os.MkdirAll(arguments[0], 0o755); err != nil {
				return fmt.Errorf("making the folder of the manual: %w", err)
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
