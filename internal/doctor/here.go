package doctor

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/excerpt"
	"github.com/rmctl/rmctl/jobstore"
)

// ExamineDefinition checks a shipped definition or a file, and counts its problems. If it
// cannot be used, the returned definition is nil.
func ExamineDefinition(nameOrFile string) (*config.Definition, Finding) {
	definition, problems, err := check.LoadDefinition(nameOrFile)
	fix := fmt.Sprintf("run rmctl validate %s to see each problem with its line", nameOrFile)
	if err != nil {
		return nil, Finding{Name: "definition", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "the target is unusable",
			Fix: "set the target's definition to a shipped one or an existing file"}
	}
	failures, warnings := 0, 0
	for _, problem := range problems {
		switch problem.Severity {
		case config.Error:
			failures++
		case config.Warning:
			warnings++
		}
	}
	seen := fmt.Sprintf("%s, errors: %d, warnings: %d", nameOrFile, failures, warnings)
	switch {
	case problems.Err() != nil || definition == nil:
		return nil, Finding{Name: "definition", Verdict: Problem, Seen: seen, Impact: "invalid", Fix: fix}
	case warnings > 0:
		return definition, Finding{Name: "definition", Verdict: Warning, Seen: seen, Impact: "parts of the definition may not work", Fix: fix}
	}
	return definition, Finding{Name: "definition", Verdict: Fine, Seen: seen}
}

// ExamineSite examines the file of targets for all users of this machine: which settings it
// locks, what of the user's file has no effect therefore, and why it cannot be used.
func ExamineSite(file string, locked, refused []string, err error) Finding {
	finding := Finding{Name: "site", Verdict: Fine, Seen: file}
	if len(locked) > 0 {
		finding.Seen += ", locked: " + strings.Join(locked, ", ")
	}
	switch {
	case err != nil:
		finding = Finding{Name: "site", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "commands that need a target fail on this machine",
			Fix: "ask the administrator of this machine to correct the file"}
	case len(refused) > 0:
		finding.Verdict, finding.Impact, finding.Fix = Warning, strings.Join(refused, "; "), "remove these settings from your file"
	}
	return finding
}

// ExamineState examines the state directory without creating it.
func ExamineState(folder string) Finding {
	finding := Finding{Name: "state", Verdict: Fine, Seen: folder}
	place, err := jobstore.Inspect(folder)
	switch {
	case err != nil:
		return Finding{Name: "state", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "rmctl cannot record jobs, and submits none",
			Fix: "change the owner of the folder, or set another one with --state-dir or XDG_STATE_HOME"}
	case place.Free == 0:
		return Finding{Name: "state", Verdict: Problem, Seen: folder + ": no room on its file system", Impact: "rmctl cannot record jobs, and submits none",
			Fix: "free some space, or set another folder with --state-dir or XDG_STATE_HOME"}
	case !place.Exists:
		finding.Seen += " (will be created)"
	}
	finding.Seen += fmt.Sprintf(", %d MiB free", place.Free>>20)
	if place.OnNetwork {
		finding.Seen += ", on a network file system"
		finding.Verdict = Warning
		finding.Impact = "each change waits for a lock and the file server: commands are slower"
		finding.Fix = "if you use rmctl on one machine only, set a folder on a local disk with --state-dir"
	}
	if place.OnFUSE {
		finding.Seen += " (FUSE)"
		finding.Impact = "this file system caches files: rmctl on several machines at the same time may damage the record; commands are slower"
		finding.Fix = "use rmctl on one machine, mount the file system without caching (glusterfs: direct-io-mode=enable), or set another folder with --state-dir"
	}
	return finding
}
