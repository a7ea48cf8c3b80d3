package clusters_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// A guideBlock is a fenced block of the guide with the text that leads to it.
type guideBlock struct {
	line       int
	kind, text string
	before     string
}

var savedAs = regexp.MustCompile("(?s)Save this as `([^`/]+)`[^`]*$")

// Following the guide literally gives a definition and passing cases.
func TestTheGuideToWritingADefinitionWorksLiterally(t *testing.T) {
	rmctltest.NeedClusters(t)
	t.Parallel()
	rmctltest.ClusterScript(t, "install.sh")
	home, err := os.MkdirTemp("", "rmctl-guide-")
	require.NoError(t, err)
	configuration := filepath.Join(home, ".config", "rmctl")
	environment := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "TMPDIR="+home, "GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() {
		end := exec.Command("tsp", "-K")
		end.Env = append(environment, "TS_SOCKET="+filepath.Join(configuration, "spool"))
		_ = end.Run() // it has ended if all steps of the guide ran
		require.NoError(t, os.RemoveAll(home))
	})
	commands := 0
	for _, block := range guideBlocks(t) {
		if block.kind == "console" {
			commands += follow(t, block, configuration, environment)
			continue
		}
		name := savedAs.FindStringSubmatch(block.before)
		require.NotNil(t, name, "line %d: nothing says what to save the file as", block.line)
		require.NoError(t, os.WriteFile(filepath.Join(configuration, name[1]), []byte(block.text), 0o600))
	}
	require.Greater(t, commands, 20)
}

func guideBlocks(t *testing.T) []guideBlock {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "write", "guide.md"))
	require.NoError(t, err)
	var blocks []guideBlock
	var before strings.Builder
	var open *guideBlock
	for n, line := range strings.SplitAfter(string(page), "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case isFence && open == nil:
			open = &guideBlock{line: n + 1, kind: fence, before: strings.TrimSpace(before.String())}
		case isFence:
			blocks = append(blocks, *open)
			open = nil
			before.Reset()
		case open != nil:
			open.text += line
		default:
			before.WriteString(line)
		}
	}
	require.Nil(t, open)
	return blocks
}

// follow runs the commands of a block and compares their output.
func follow(t *testing.T, block guideBlock, folder string, environment []string) int {
	t.Helper()
	count := 0
	for _, part := range strings.Split("\n"+block.text, "\n$ ")[1:] {
		typed, expected, _ := strings.Cut(part, "\n")
		count++
		require.NoError(t, os.MkdirAll(folder, 0o700))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, "sh", "-c", typed)
		command.WaitDelay = time.Minute
		command.Dir, command.Env = folder, append(environment, "TS_SOCKET="+filepath.Join(folder, "spool"))
		var printed bytes.Buffer
		command.Stdout, command.Stderr = &printed, &printed
		err := command.Run()
		require.Regexp(t, asExpression(expected), printed.String(), fmt.Sprintf("line %d: $ %s: %v", block.line, typed, err))
	}
	return count
}

// asExpression turns the documented output of a command into an expression: a line with only
// dots matches any lines, dots within a line any text.
func asExpression(expected string) string {
	var expression strings.Builder
	expression.WriteString(`\A`)
	for line := range strings.Lines(strings.TrimRight(expected, "\n") + "\n") {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "" && strings.TrimSpace(expected) == "":
		case line == "…":
			expression.WriteString(`(?:[^\n]*\n)*?`)
		default:
			expression.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`) + `[ ]*\n`)
		}
	}
	return expression.String() + `\s*\z`
}
