package main

import (
	"fmt"
	"io"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
)

// maxProbeOutput bounds, in bytes, what is read of the output of a probe.
const maxProbeOutput = 16 << 20

// replayProbe tells what doctor would find if the program of an x:probe printed
// the input and succeeded.
func (a *app) replayProbe(definition *config.Definition, selector config.Selector, flags replayFlags, arguments []string) error {
	if flags.stream != "" || selector.Parser != "" || flags.trace || len(flags.values) > 0 || flags.environment != "" {
		return usage("a probe has no parser: it is replayed without --stream, --trace, -s and --env")
	}
	selected, err := definition.Select(selector)
	if err != nil {
		return &usageError{err}
	}
	input, err := a.replayInput(arguments)
	if err != nil {
		return err
	}
	defer input.Close() //nolint:errcheck // only read
	output, err := io.ReadAll(io.LimitReader(input, maxProbeOutput))
	if err != nil {
		return fmt.Errorf("reading the captured output: %w", err)
	}
	for _, probe := range definition.Probes {
		if probe.Command != selected {
			continue
		}
		finding := control.JudgeProbe(probe, &command.Result{Stdout: string(output)})
		if err := a.printFindings([]control.Finding{finding}); err != nil {
			return err
		}
		if finding.Verdict == control.Problem {
			return &exitError{code: exitFailed}
		}
	}
	return nil
}
