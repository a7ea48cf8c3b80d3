package command

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// The oldest versions that the configurations work with.
const (
	nvimVersion = "0.6.0"
	dapeVersion = "0.20.0"
)

var (
	//go:embed editors/vscode.json
	vscode string
	//go:embed editors/nvim.lua
	nvim string
	//go:embed editors/emacs.el
	emacs string
)

// configurations returns the configurations by their editors.
func configurations() map[string]string {
	return map[string]string{"vscode": vscode, "nvim": nvim, "emacs": emacs}
}

func editors() []string { return slices.Sorted(maps.Keys(configurations())) }

func (e *Environment) printConfiguration(editor string) error {
	text, isKnown := configurations()[editor]
	if !isKnown {
		return usage("--print-config %q: enter %s", editor, strings.Join(editors(), ", "))
	}
	if _, err := io.WriteString(e.Stdout, text); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
