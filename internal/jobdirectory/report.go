package jobdirectory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rmctl/rmctl/job"
)

// A Report describes the processes of a job.
type Report struct {
	Directory string        `json:"directory"`
	Checksum  string        `json:"checksum"`
	Processes []job.Process `json:"processes"`
	Problems  []string      `json:"problems,omitempty"` // about unknown ranks
}

const (
	// mostOutput bounds the total output in a report.
	mostOutput = 4 << 20
	// mostProblems bounds the problems of a report.
	mostProblems = 10
)

// ReportOf returns the report of a job. The more processes there are, the less output of each it
// contains.
func ReportOf(directory string) Report {
	report := Report{Directory: directory, Processes: []job.Process{}}
	members, err := Read(directory)
	if err != nil {
		report.Problems = append(report.Problems, fmt.Sprintf("reading the processes of the job: %.300s", err))
	}
	share := mostOutput / max(1, 2*len(members))
	for _, member := range members {
		process := member.Process
		process.Output, process.ErrorOutput = lastOf(process.Output, share), lastOf(process.ErrorOutput, share)
		if member.Problem != "" && len(report.Problems) < mostProblems {
			report.Problems = append(report.Problems, fmt.Sprintf("%.300s", member.Problem))
		}
		report.Processes = append(report.Processes, process)
	}
	content, err := json.Marshal(report)
	if err != nil { // cannot happen: JSON supports all fields
		report.Problems = append(report.Problems, err.Error())
	}
	hash := sha256.Sum256(content)
	report.Checksum = hex.EncodeToString(hash[:8])
	return report
}

// lastOf returns the last bytes of a text, without an incomplete character.
func lastOf(text string, bytes int) string {
	text = text[max(0, len(text)-bytes):]
	for text != "" && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// Remove removes the directory of a job, and nothing else.
func Remove(directory string) error {
	if filepath.Base(filepath.Dir(directory)) != "jobs" || !filepath.IsAbs(directory) || strings.Contains(directory, "..") {
		return fmt.Errorf("%q is not the directory of a job", directory)
	}
	if _, err := os.Lstat(filepath.Join(directory, secretFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return os.RemoveAll(directory)
}
