package check

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/inspect"
)

// checkCommands checks commands and how their output is read.
func (c *checker) checkCommands() {
	for _, command := range c.definition.Commands {
		for _, one := range withFallbacks(command) {
			for _, parser := range one.Parsers() {
				c.checkParser(one, parser)
			}
			c.checkStates(one)
		}
		for _, stage := range command.Only {
			if stage != config.Waiting && stage != config.Running && !strings.HasPrefix(string(stage), "word:") {
				c.checkStateName(string(stage), command.Position, command.Element)
			}
		}
		switch {
		case command.Element.IsSubmit():
			c.checkJobID(command)
			c.checkBanner(command)
		case command.Element == config.GetJobStatus:
			c.checkStatusCommand(command)
			c.checkNativeStates(command)
		case command.Element == config.FindJob:
			c.checkJobID(command)
		case command.Element == config.OnNodes:
			c.checkOnNodes(command)
		case slices.Contains(listings, command.Element):
			c.checkListing(command)
		}
	}
	if submit := c.definition.Command(config.SubmitBatch); submit != nil && c.definition.Command(config.GetJobStatus) == nil {
		c.report(submit.Position, config.Warning, "no-status-command", "the definition submits batch jobs but has no get-job-status", "add a get-job-status")
	}
}

// withFallbacks returns a command and its fallbacks.
func withFallbacks(c *config.Command) []*config.Command {
	return append([]*config.Command{c}, c.Fallbacks...)
}

// actsOnJob reports whether a target certainly acts on the job.
func actsOnJob(t *config.Target) bool { return t.Ref.Text == attribute.JobPlaceholder }

// jobTargets yields the targets of a command that certainly act on the job.
func jobTargets(command *config.Command) iter.Seq[*config.Target] {
	return func(yield func(*config.Target) bool) {
		for _, parser := range inspect.ReadingParsers(command) {
			for _, target := range parser.Targets {
				if actsOnJob(target) && !yield(target) {
					return
				}
			}
		}
	}
}

// checkJobID reports submit commands that do not set the job id.
func (c *checker) checkJobID(command *config.Command) {
	if inspect.MaySet(command, attribute.FieldName) || command.Read != nil {
		return // checkReader reports records without an id
	}
	const help = `add to a parser: <target ref="@jobId"> with <set field="name"><entry valueGroup="1"/></set>`
	switch {
	case command.WaitForID:
		c.report(command.Position, config.Warning, "no-job-id", fmt.Sprintf("%s waits for the job id, but none of its parsers sets it: every submission fails", command.Element), help)
	case command.Element == config.SubmitBatch || command.Element == config.SubmitBatchDebug:
		c.report(command.Position, config.Warning, "no-job-id",
			fmt.Sprintf("no parser of %s sets the job id: status and control commands get an id that the scheduler does not know", command.Element),
			help+`, and waitForId="true"`)
	case command.Element == config.FindJob:
		c.report(command.Position, config.Warning, "no-job-id",
			"no parser of x:find-job sets the job id: rmctl would assume that the scheduler does not know the submission", help)
	}
}

// checkListing reports a listing that can never list anything.
func (c *checker) checkListing(command *config.Command) {
	if command.Read != nil {
		return
	}
	for _, parser := range inspect.ReadingParsers(command) {
		constructs := func(target *config.Target) bool { return !target.Ref.Set }
		if parser.Type != "" || slices.ContainsFunc(parser.Targets, constructs) {
			return
		}
	}
	c.report(command.Position, config.Warning, "lists-nothing", fmt.Sprintf("no parser of x:%s constructs an attribute for each item", command.Element),
		`add to a parser a <target> without ref, with <set field="name"> for the id and <put field="value"> for its facts`)
}

// checkStatusCommand reports a status command that never sets a state.
func (c *checker) checkStatusCommand(command *config.Command) {
	parsed := false
	for _, one := range withFallbacks(command) {
		if inspect.MaySet(one, attribute.FieldValue) || one.Read != nil && one.Read.States != nil {
			return
		}
		parsed = parsed || len(inspect.ReadingParsers(one)) > 0
	}
	message := "no parser of get-job-status sets a state"
	if !parsed {
		message = "get-job-status has no parser, so rmctl cannot learn the state of jobs"
	}
	c.report(command.Position, config.Warning, "no-job-state", message, `add to a parser: <target ref="@jobId"> with <set field="value"> for a state such as RUNNING`)
}

// bannerLines are lines that login shells, prologues and wrappers of submit
// commands print before the answer of the scheduler, in forms that definitions
// have mistaken for it.
var bannerLines = []string{
	"Welcome to the Stampede3 Supercomputer",
	"Welcome to Ubuntu 24.04.1 LTS (GNU/Linux 6.8.0-48-generic x86_64)",
	"Last login: Fri Nov 20 16:17:20 2026 from 192.0.2.17",
	"*******************************************************",
	"-----------------------------------------------------------------",
	"        Welcome to X3, please read these notes:",
	"--> Verifying valid submit host (login3)...OK",
	"--> Checking available allocation (TG-ABC123)...OK",
	"Maintenance on 2026-12-01 from 08:00 to 18:00, all jobs will be held.",
	"2026-12-01: maintenance of file systems",
	"Disk quotas for user ada (uid 1000): 12.5G of 20G used, 31 files",
	"     12.5G     20.0G    62%  /home/ada",
	"You have 3 new messages, 2 of them about your last job.",
	"There are 42 users logged in; load average: 0.52, 0.58, 0.59",
	"1 update can be applied immediately.",
	"1. Do not run programs on the login nodes.",
	"1) Run jobs below /scratch, not in your home directory.",
	"This job will be charged to project 4711",
	"No partition specified, using 1 node of the default partition",
	"(c) 2026 Example Computing Centre, Tel. +1 555 0100",
}

// checkBanner reports a job id that a line of a login banner could set.
func (c *checker) checkBanner(command *config.Command) {
	for _, parser := range inspect.ReadingParsers(command) {
		if parser.All && parser.Save == 1 {
			continue // only the last line counts, and banners come first
		}
		if delimiter(parser) != '\n' || parser.MaxMatchLength > 0 {
			continue // segments are not lines
		}
		for _, target := range parser.Targets {
			if !actsOnJob(target) {
				continue
			}
			for _, match := range target.Matches {
				c.checkBannerMatch(match)
			}
		}
	}
}

func (c *checker) checkBannerMatch(match *config.Match) {
	group, takes := idGroup(match)
	compiled := c.expressions.regexp(match.Expression)
	if !takes || compiled == nil || match.Expression.Split {
		return
	}
	for _, line := range bannerLines {
		found, matches, err := compiled.Match(nil, []byte(line))
		if err != nil || !matches || 2*group+1 >= len(found) || found[2*group] < 0 {
			continue
		}
		c.report(match.Expression.Position, config.Warning, "job-id-from-banner",
			fmt.Sprintf("the expression also matches login banners: the job id in %q would be %q", line, line[found[2*group]:found[2*group+1]]),
			"match the whole line that the scheduler prints, with the words around the id")
		return
	}
}

// idGroup returns the group that a match takes the job's id from.
func idGroup(match *config.Match) (int, bool) {
	for _, action := range match.Actions {
		if (action.Kind != config.Set && action.Kind != config.Append) || !inspect.Sets(action, attribute.FieldName) {
			continue
		}
		for _, entry := range action.Entries {
			if !entry.Value.Set {
				return usedGroups(entry, action.Kind)[0], true
			}
		}
	}
	return 0, false
}
