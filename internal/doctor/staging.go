package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/excerpt"
	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// What a submission needs of a staging folder: scripts are small, and their names begin with
// an identifier.
const (
	leastFreeKilobytes = 10 << 10
	longestStagedName  = 100
)

// examineStaging examines the staging folders.
func (e *examiner) examineStaging(ctx context.Context) []Finding {
	folders, err := e.resolver.StagingFolders()
	if err != nil {
		return []Finding{{Name: "staging", Verdict: Warning, Seen: excerpt.Line(err.Error()), Impact: "the folder for files is known only when a job is submitted"}}
	}
	if len(folders) == 0 {
		return []Finding{{Name: "staging", Verdict: Fine, Seen: "no files to stage"}}
	}
	var findings []Finding
	for _, folder := range folders {
		findings = append(findings, e.examineFolder(ctx, folder))
	}
	return findings
}

func (e *examiner) examineFolder(ctx context.Context, folder string) Finding {
	finding := Finding{Name: "staging", Verdict: Fine, Seen: folder}
	amiss := func(verdict Verdict, seen, impact, fix string) Finding {
		return Finding{Name: "staging", Verdict: verdict, Seen: folder + ": " + seen, Impact: impact, Fix: fix}
	}
	const noSubmission = "files cannot be staged, so jobs cannot be submitted"
	nearest, info, err := e.nearestFolder(ctx, folder)
	switch {
	case err != nil:
		return amiss(Problem, excerpt.Line(err.Error()), noSubmission, "make it a folder that you can write to")
	case nearest != folder:
		finding.Seen += " (will be created)"
	case info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
		finding = amiss(Warning, "writable by everybody", "others can change a script before it is submitted", "chmod o-w "+folder)
	}
	// All three are POSIX. A shell for which getconf is missing prints an empty line.
	lines, err := e.runScript(ctx, `cd "$1" && [ -w . ] && echo writable || echo no
printf '%s\n' "$(getconf NAME_MAX . 2>/dev/null)"
df -Pk . 2>&1 | tail -n 1`, nearest)
	if err != nil || len(lines) < 3 {
		return amiss(Warning, "no answer: "+excerpt.Line(errors.Join(err, errors.New("the answer is incomplete")).Error()), "rmctl does not know whether the folder is writable", "")
	}
	if lines[0] != "writable" {
		return amiss(Problem, fmt.Sprintf("you cannot write to %s", nearest), noSubmission, "chmod u+w "+nearest+" if you own it, or make the definition stage files elsewhere")
	}
	if longest, err := strconv.Atoi(lines[1]); err == nil {
		if longest < longestStagedName {
			return amiss(Problem, fmt.Sprintf("file names have up to %d bytes", longest), noSubmission, "make the definition stage files on another file system")
		}
		finding.Seen += fmt.Sprintf(", names of up to %d bytes", longest)
	}
	if free, known := freeKilobytes(lines[2]); known {
		finding.Seen += fmt.Sprintf(", %d MiB free", free>>10)
		if free < leastFreeKilobytes {
			return amiss(Problem, fmt.Sprintf("%d KiB free", free), noSubmission, "free some space on its file system")
		}
	}
	return finding
}

// nearestFolder returns a folder or, if it does not exist, the nearest one above it.
func (e *examiner) nearestFolder(ctx context.Context, folder string) (string, fs.FileInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	for {
		info, err := e.connection.Stat(ctx, folder)
		switch {
		case err == nil && !info.IsDir():
			return "", nil, fmt.Errorf("%s is not a folder", folder)
		case err == nil:
			return folder, info, nil
		case !errors.Is(err, fs.ErrNotExist) || folder == path.Dir(folder):
			return "", nil, err
		}
		folder = path.Dir(folder)
	}
}

// sizesOfDF are the numbers in a line of df -P: blocks, used and available. The names around
// them may contain blanks.
var sizesOfDF = lazyregexp.New(`\s\d+\s+\d+\s+(\d+)\s+\d+%\s`)

func freeKilobytes(line string) (int64, bool) {
	found := sizesOfDF.FindStringSubmatch(line + " ")
	if found == nil {
		return 0, false
	}
	free, err := strconv.ParseInt(found[1], 10, 64)
	return free, err == nil
}

// examineNames finds the rule of the definition for names of jobs.
func (e *examiner) examineNames(context.Context) []Finding {
	for _, a := range e.definition.Attributes {
		plain := strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(a.Name()))
		if plain != "jobname" || a.Validator == nil || strings.TrimSpace(a.Validator.Message) == "" {
			continue
		}
		return []Finding{{Name: "job names", Verdict: Fine, Seen: excerpt.Line(a.Validator.Message)}}
	}
	return nil
}
