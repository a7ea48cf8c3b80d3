package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/excerpt"
	"github.com/rmctl/rmctl/jobstore"
)

// howToRecord returns the command line that records output that was not understood. DIR is a
// folder of the user's choice.
func howToRecord(count jobstore.NotUnderstood) string {
	if count.Job != "" {
		return "rmctl record DIR -- status --fresh " + shellescape.Quote(count.Target+"/"+count.Job)
	}
	listing := map[config.CommandElement]string{config.ListJobs: "jobs --everyone", config.ListEnded: "status --fresh", config.ListNodes: "nodes", config.ListQueues: "queues"}
	element, _, _ := strings.Cut(count.Command, ":")
	return "rmctl record DIR -- " + listing[config.CommandElement(element)] + " -t " + shellescape.Quote(count.Target)
}

// examineOutput lists output of commands that was not understood.
func (e *examiner) examineOutput(ctx context.Context) []Finding {
	const name = "output"
	counts, err := e.controller.NotUnderstood(ctx)
	if err != nil {
		return notAnswered(name, err)
	}
	if len(counts) == 0 {
		return []Finding{{Name: name, Verdict: Fine, Seen: "all output was recognized"}}
	}
	var findings []Finding
	for _, count := range counts {
		findings = append(findings, Finding{Name: name, Verdict: Warning,
			Seen:   excerpt.Line(fmt.Sprintf("%s: not recognized: %d, last at %s: %s", count.Command, count.Count, count.At.Local().Format(time.DateTime), count.Seen)),
			Impact: "the definition may not support this release of the scheduler: states may be unknown",
			Fix:    "record the output and adapt the definition: " + howToRecord(count)})
	}
	return findings
}
