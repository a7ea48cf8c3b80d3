package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rmctl/rmctl/internal/manual"
)

func newMan(*app) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the pages of the manual",
		Long: `man writes a page of the manual for each command into DIR, which it makes where it is
not there: rmctl.1, rmctl-submit.1 and so on. What --help says is on them. Installed into
the folder man1 of a folder of manuals, man rmctl-submit shows them.`,
		Example: `  rmctl man ~/.local/share/man/man1
  man rmctl-submit`,
		Args:              exactly(1, "a folder"),
		ValidArgsFunction: completeDirectories,
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := os.MkdirAll(arguments[0], 0o755); err != nil {
				return fmt.Errorf("making the folder of the manual: %w", err)
			}
			return manual.Write(c.Root(), arguments[0])
		},
	}
}
