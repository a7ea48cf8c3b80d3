package inspect

import "github.com/rmctl/rmctl/config"

// WithoutTerminal returns an interactive command as it runs without a terminal. Its streams
// are apart then, and a parser that was written for both together reads each by itself.
func WithoutTerminal(c *config.Command) *config.Command {
	apart := *c
	apart.AllocatePTY = false
	if c.AllocatePTY && c.StderrParser == nil && !c.RedirectStderr {
		apart.StderrParser = c.StdoutParser
		if c.SpeaksOnErrors {
			apart.StdoutParser = nil
		}
	}
	return &apart
}
