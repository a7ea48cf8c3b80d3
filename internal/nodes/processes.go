package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// A Report describes the tracked processes of a job.
type Report struct {
	Directory string        `json:"directory"` // of the job
	Checksum  string        `json:"checksum"`
	Processes []job.Process `json:"processes"`
	Problems  []string      `json:"problems"`
}

const (
	// mostReports bounds the jobs that one command reads.
	mostReports = 200
	// mostReportBytes bounds what it prints.
	mostReportBytes = 64 << 20
	mostRanks       = 1 << 20
)

// Processes reads the reports of jobs on the target. The keys are the directories of the jobs,
// the values the checksums of the last reports: a job with an unchanged checksum has no
// report.
func (d *Directory) Processes(ctx context.Context, known map[string]string) ([]Report, error) {
	var words []string
	for directory, checksum := range known {
		words = append(words, directory+"="+checksum)
	}
	var all []Report
	err := eachCommand(words, func(some []string) error {
		printed, err := d.runProgram(ctx, mostReportBytes, append([]string{"processes"}, some...)...)
		if err != nil {
			return fmt.Errorf("reading the processes of jobs: %w", err)
		}
		reports, err := parseReports(printed, known)
		all = append(all, reports...)
		return err
	})
	return all, err
}

// RemoveJobs removes the directories of jobs. Call it when all of their reports are read.
func (d *Directory) RemoveJobs(ctx context.Context, directories []string) error {
	return eachCommand(directories, func(some []string) error {
		_, err := d.runProgram(ctx, mostHead, append([]string{"processes", "--remove"}, some...)...)
		return err
	})
}

// eachCommand calls a function with as many words as one command takes, until it fails. It leaves out
// words that remote shells would split.
func eachCommand(words []string, do func(some []string) error) error {
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !IsSafeWord(word) })
	for some := range slices.Chunk(words, mostReports) {
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}

// runProgram runs the program on the target, and stages it only if necessary.
func (d *Directory) runProgram(ctx context.Context, limit int, words ...string) (string, error) {
	program, err := d.Program(ctx)
	if err != nil {
		return "", err
	}
	printed, err := d.output(ctx, limit, append([]string{program}, words...)...)
	if !errors.Is(err, remote.ErrCommandNotFound) {
		return printed, err
	}
	d.forget() // it was removed
	if program, err = d.Program(ctx); err != nil {
		return "", err
	}
	return d.output(ctx, limit, append([]string{program}, words...)...)
}

func (d *Directory) forget() {
	d.turn.Lock()
	defer d.turn.Unlock()
	d.staged = ""
}

// parseReports reads the output of the program: a line of JSON for each job. The target is not
// trusted.
func parseReports(printed string, known map[string]string) ([]Report, error) {
	var reports []Report
	for line := range strings.Lines(printed) {
		var report Report
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			return reports, fmt.Errorf("invalid report from the target: %w", err)
		}
		if _, isAsked := known[report.Directory]; !isAsked || len(report.Processes) > mostRanks {
			return reports, fmt.Errorf("the target reported another job: %.100q", report.Directory)
		}
		for i := range report.Processes {
			process := &report.Processes[i]
			if process.Rank < 0 || process.PID < 0 || !isState(process.State) || len(process.Node) > 255 {
				return reports, fmt.Errorf("the target reported a process with the invalid rank %d", process.Rank)
			}
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func isState(state job.ProcessState) bool {
	switch state {
	case "RUNNING", "EXITED", "EXITED_SIGNALLED", "ERROR", "UNKNOWN":
		return true
	}
	return false
}
