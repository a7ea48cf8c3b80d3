package control

import (
	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
)

// originsOf is what a command's parsers are to keep of where values come from: of
// commands that tell about jobs the line of the state, of others nothing.
func originsOf(which *config.Command) string {
	switch which.Element {
	case config.GetJobStatus, config.Fallback, config.FindJob, config.ListJobs,
		config.SubmitBatch, config.SubmitBatchDebug, config.SubmitInteractive, config.SubmitInteractiveDebug:
		return job.FactState
	}
	return ""
}

// originOf returns the line that the value of an attribute was read from.
func originOf(a *attribute.Attribute) job.Origin {
	if origin := a.Origin(); origin != nil {
		return job.Origin{Stream: origin.Stream, Line: origin.Line, Text: origin.Text}
	}
	return job.Origin{}
}
