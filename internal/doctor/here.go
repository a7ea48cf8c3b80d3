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
		return nil, Finding{Name: "definition", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "nothing can be done without it",
			Fix: "let the target name a shipped definition or a file that exists"}
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
		return nil, Finding{Name: "definition", Verdict: Problem, Seen: seen, Impact: "it cannot be used", Fix: fix}
	case warnings > 0:
		return definition, Finding{Name: "definition", Verdict: Warning, Seen: seen, Impact: "parts of it may not do what they are meant to", Fix: fix}
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
		finding = Finding{Name: "site", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "no command that needs a target works on this machine",
			Fix: "ask who administers this machine to correct the file"}
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
		return Finding{Name: "state", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "jobs cannot be remembered, so that none is submitted",
			Fix: "make the folder yours, or name another one with --state-dir or XDG_STATE_HOME"}
	case place.Free == 0:
		return Finding{Name: "state", Verdict: Problem, Seen: folder + ": no room on its file system", Impact: "jobs cannot be remembered, so that none is submitted",
			Fix: "make room, or name another folder with --state-dir or XDG_STATE_HOME"}
	case !place.Exists:
		finding.Seen += " (will be made)"
	}
	finding.Seen += fmt.Sprintf(", %d MiB free", place.Free>>20)
	if place.OnNetwork {
		finding.Seen += ", on a network file system"
		finding.Verdict = Warning
		finding.Impact = "each change waits for a lock and the file server: commands are slower"
		finding.Fix = "name a folder on a local disk with --state-dir, if one machine is all that you use rmctl on"
	}
	if place.OnFUSE {
		finding.Seen += " (FUSE)"
		finding.Impact = "rmctl on several machines at the same time may damage the record, where this machine keeps parts of files; and commands are slower"
		finding.Fix = "use rmctl on one machine, mount the file system so that nothing is kept (glusterfs: direct-io-mode=enable), or name another folder with --state-dir"
	}
	return finding
}
