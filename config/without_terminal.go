package config

// WithoutTerminal returns an interactive command as it runs without a terminal. Its streams
// are apart then, and a parser that was written for both together reads each by itself.
func (c *Command) WithoutTerminal() *Command {
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
