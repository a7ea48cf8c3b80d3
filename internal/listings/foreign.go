package listings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/hostlist"
	"github.com/rmctl/rmctl/job"
)

// tools print the state of a job on one line, each as another program reads it.
var tools = map[string]func(*job.Job) string{"snakemake": snakemakeStatus, "batchspawner": batchspawnerStatus}

// Tools returns the programs that [StatusFor] knows.
func Tools() []string { return []string{"batchspawner", "snakemake"} }

// StatusFor returns the state of a job as a program reads it.
func StatusFor(tool string, j *job.Job) (string, error) {
	if status := tools[tool]; status != nil {
		return status(j), nil
	}
	return "", wrong("--as %q: unknown program; use %s", tool, strings.Join(Tools(), " or "))
}

// snakemakeStatus returns one of the words that Snakemake accepts. It counts a job whose state
// is not known as running: any other word would end the job for Snakemake.
func snakemakeStatus(j *job.Job) string {
	switch {
	case !j.Detail.Ended():
		return "running"
	case j.Detail.Word() == job.Completed.Word() && (j.ExitCode == nil || *j.ExitCode == 0):
		return "success"
	}
	return "failed"
}

// batchspawnerStatus returns PENDING, RUNNING with the first node, UNKNOWN, or the word of the
// end. A running job without a known node is PENDING: JupyterHub could not reach it yet.
func batchspawnerStatus(j *job.Job) string {
	running := []job.Detail{job.Running, job.Suspended}
	switch node := firstNode(j.Nodes); {
	case j.Detail.Primary() == job.Undetermined:
		return "UNKNOWN"
	case j.Detail.Ended():
		return j.Detail.Word()
	case slices.Contains(running, j.Detail.Primary()) && node != "":
		return fmt.Sprintf("RUNNING %s", node)
	}
	return "PENDING"
}

func firstNode(list string) (first string) {
	hostlist.Each(list, func(node string) bool {
		first = node
		return false
	})
	if strings.ContainsFunc(first, func(r rune) bool { return r <= ' ' }) {
		return ""
	}
	return first
}
