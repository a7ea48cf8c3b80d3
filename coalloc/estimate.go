package coalloc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// The commands and attributes by which a definition says when a job will start.
const (
	estimatePlan   = "estimate-start"     // of a job that is not submitted
	estimateQueued = "estimate-job-start" // of a job that waits
	estimateScript = "estimate.script"    // the script that would be submitted
	estimateJob    = "estimate.job"       // the id of the job that waits
	estimateStart  = "estimate.start"     // the scheduler's answer
)

// startPatience bounds how long the queries for the expected start of waiting jobs take together.
const startPatience = 30 * time.Second

var errStartTimeout = fmt.Errorf("the scheduler did not answer within %v", startPatience)

// EstimateStarts queries the schedulers once for each part whose job waits in a queue, and sets the expected
// start. If a query fails, the part keeps the reason. If the definition has no command for it, the part does not
// change.
func EstimateStarts(ctx context.Context, client Client, s *Status) {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errStartTimeout)
	defer cancel()
	byTarget := map[string][]*PartStatus{} // one after the other, as they share a session
	for i := range s.Parts {
		if p := &s.Parts[i]; p.State == PartPending && p.JobID != "" {
			byTarget[p.Target] = append(byTarget[p.Target], p)
		}
	}
	slots := make(chan struct{}, mostAtOnce)
	var targets sync.WaitGroup
	for name, parts := range byTarget {
		targets.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			controller, err := client.Controller(ctx, name)
			for _, p := range parts {
				p.estimateStart(ctx, controller, err)
			}
		})
	}
	targets.Wait()
}

// estimateStart sets when the job of a part is expected to start, or why that is unknown.
func (p *PartStatus) estimateStart(ctx context.Context, controller *control.Controller, err error) {
	if err == nil {
		p.ExpectedStart, err = estimate(ctx, controller, estimateQueued, job.Submission{
			Invisible: true, Values: []job.Assignment{{Name: estimateJob, Value: p.JobID}},
		})
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		p.StartProblem = err.Error()
	}
}

// estimate queries the scheduler for the expected start of a job with a command of the definition. The time is zero if the
// definition has no such command, or the scheduler expects no start.
func estimate(ctx context.Context, controller *control.Controller, action string, s job.Submission) (time.Time, error) {
	if !hasAction(controller, action) {
		return time.Time{}, nil
	}
	s.Invisible = true
	result, err := controller.Action(ctx, action, s)
	switch {
	case err != nil:
		return time.Time{}, err
	case result.Answer == nil:
		return time.Time{}, errors.New("the definition has no x:read for it")
	}
	for _, read := range result.Answer.Attributes {
		if read.Name == estimateStart {
			return earliest(read.Values, controller.Location())
		}
	}
	return time.Time{}, nil
}

func hasAction(controller *control.Controller, name string) bool {
	for _, command := range controller.Definition.Commands {
		if command.Element == config.ButtonAction && command.Name == name {
			return true
		}
	}
	return false
}

// earliest returns the first of several times, such as those of the tasks of an array.
func earliest(texts []string, location *time.Location) (first time.Time, err error) {
	for _, text := range texts {
		start, isTime := parseStart(text, location)
		if !isTime {
			return time.Time{}, fmt.Errorf("%.100q is not a time", text)
		}
		if first.IsZero() || start.Before(first) {
			first = start
		}
	}
	return first, nil
}

// parseStart reads a time in ISO 8601, with or without a zone, or in seconds since 1970.
func parseStart(text string, location *time.Location) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0), seconds > 0
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if start, err := time.ParseInLocation(layout, text, location); err == nil {
			return start, true
		}
	}
	return time.Time{}, false
}
