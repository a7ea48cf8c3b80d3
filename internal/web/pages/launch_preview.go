package pages

import (
	"context"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
)

// maxPreviewBytes bounds how much of a script or file a page shows.
const maxPreviewBytes = 256 << 10

// A launchPreview is what a form would submit as it is now.
type launchPreview struct {
	Script  string
	Command string // of the scheduler, quoted for a shell
	Rmctl   string // the command line that submits the same, quoted for a shell
	Error   string // why there is no preview
}

// preview resolves what the form would submit, and runs nothing.
func previewOf(l *launch.Tab, ctx context.Context, manager string) launchPreview {
	s := l.Submission()
	rendering, err := l.Controller.Preview(ctx, s)
	if err != nil {
		return launchPreview{Error: listing.Fact(err.Error())}
	}
	preview := launchPreview{Script: listing.Output(cut(rendering.Script)), Rmctl: commandLine(l, manager, s)}
	if submit := l.Controller.Definition.Submit(s.Debug); submit != nil {
		for _, invocation := range rendering.Commands {
			if invocation.Command == submit {
				preview.Command = listing.Output(cut(quoted(invocation)))
			}
		}
	}
	return preview
}

func quoted(invocation *command.Invocation) string {
	return shellescape.QuoteCommand(invocation.Arguments)
}

func cut(text string) string {
	if len(text) <= maxPreviewBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxPreviewBytes], "") + "\n…"
}

// commandLine returns the command line that submits the same.
func commandLine(l *launch.Tab, manager string, s job.Submission) string {
	verb := "submit"
	if submit := l.Controller.Definition.Submit(s.Debug); submit != nil && submit.Element.IsInteractive() {
		verb = "run"
	}
	if usual, err := l.Form.Page("", s.Script != ""); err == nil && usual == l.Page {
		s.Tab = ""
	}
	return shellescape.QuoteCommand(append([]string{"rmctl", verb, "-t", manager}, s.Flags()...))
}
