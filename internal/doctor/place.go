package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/excerpt"
	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// maxReplyBytes bounds the output of a command; all have short ones.
const maxReplyBytes = 64 << 10

// A reply is the output and exit code of a command.
type reply struct {
	stdout, stderr string
	code           int
}

// query runs a command on the host, within the limits of an examination.
func (e *examiner) query(ctx context.Context, arguments ...string) (reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, questionTimeout, fmt.Errorf("no answer within %s", questionTimeout))
	defer cancel()
	stdout, stderr := execution.NewHead(maxReplyBytes), execution.NewHead(maxReplyBytes)
	process, err := e.connection.Start(ctx, remote.Command{
		Arguments: arguments, Environment: map[string]string{"LC_ALL": "C"}, Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		return reply{}, err
	}
	code, err := process.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return reply{stdout.String(), stderr.String(), code}, err
}

// answerMark separates the output of a script from that of a login.
const answerMark = "rmctl-examination"

// runScript runs a shell script with arguments, which the shell does not interpret, and returns
// the lines that it prints.
func (e *examiner) runScript(ctx context.Context, script string, arguments ...string) ([]string, error) {
	answer, err := e.query(ctx, append([]string{"sh", "-c", "echo " + answerMark + "\n" + script, "sh"}, arguments...)...)
	if err != nil {
		return nil, err
	}
	_, answered, marked := strings.Cut("\n"+answer.stdout, "\n"+answerMark+"\n")
	if !marked {
		return nil, fmt.Errorf("the shell did not run the command: %s", cmp.Or(excerpt.First(answer.stderr), excerpt.First(answer.stdout), fmt.Sprintf("exit code %d", answer.code)))
	}
	return strings.Split(strings.TrimSuffix(answered, "\n"), "\n"), nil
}

// notAnswered returns the finding for a question without an answer.
func notAnswered(name string, err error) []Finding {
	return []Finding{{Name: name, Verdict: Warning, Seen: excerpt.Line(err.Error()), Impact: "rmctl cannot check this"}}
}

// examineConnection runs a program that prints nothing, to find out whether the host can be
// reached and whether a login prints anything.
func (e *examiner) examineConnection(ctx context.Context) ([]Finding, error) {
	where := fmt.Sprintf("%s@%s over %s", e.place.User, e.place.Host, e.place.Transport)
	started := time.Now()
	answer, err := e.query(ctx, "true")
	if err != nil {
		failed := Finding{Name: "connection", Verdict: Problem, Seen: excerpt.Line(err.Error()), Impact: "no command can run there",
			Fix: "check that you can log in to " + where}
		if !errors.Is(err, remote.ErrUnreachable) && !errors.Is(err, remote.ErrCommandNotFound) {
			err = fmt.Errorf("%w: %w", remote.ErrUnreachable, err)
		}
		return []Finding{failed}, fmt.Errorf("connecting to %s: %w", where, err)
	}
	took := time.Since(started).Round(time.Millisecond)
	findings := []Finding{{Name: "connection", Verdict: Fine, Seen: fmt.Sprintf("%s, a command takes %s", where, took)}}
	return append(findings, noise(answer)), nil
}

// noise returns the finding for the output of a command that prints nothing itself.
func noise(answer reply) Finding {
	const fix = "print nothing in .bashrc, .profile and the like unless the shell is interactive: case $- in *i*) ... esac"
	switch {
	case strings.TrimSpace(answer.stdout) != "":
		return Finding{Name: "login noise", Verdict: Warning, Seen: "on standard output: " + excerpt.First(answer.stdout),
			Impact: "it precedes the output of every command, and may be mistaken for output of the scheduler", Fix: fix}
	case strings.TrimSpace(answer.stderr) != "":
		return Finding{Name: "login noise", Verdict: Warning, Seen: "on standard error: " + excerpt.First(answer.stderr),
			Impact: "it precedes the errors of every command", Fix: fix}
	}
	return Finding{Name: "login noise", Verdict: Fine, Seen: "none"}
}

// examinePath examines PATH.
func (e *examiner) examinePath(ctx context.Context) []Finding {
	const name = "PATH"
	lines, err := e.runScript(ctx, `printf '%s\n' "$PATH"`)
	if err != nil {
		return notAnswered(name, err)
	}
	found := strings.Join(lines, " ")
	finding := Finding{Name: name, Verdict: Fine, Seen: found}
	if strings.TrimSpace(found) == "" {
		return []Finding{{Name: name, Verdict: Problem, Seen: "empty", Impact: "no programs found", Fix: "set PATH for non-interactive shells"}}
	}
	for folder := range strings.SplitSeq(found, ":") {
		if !strings.HasPrefix(folder, "/") {
			finding.Verdict = Warning
			finding.Impact = fmt.Sprintf("the entry %q is not absolute: the programs that run depend on the directory", folder)
			finding.Fix = "remove it from PATH"
			break
		}
	}
	return []Finding{finding}
}

// examineLocale examines whether commands run in the locale that definitions expect.
func (e *examiner) examineLocale(ctx context.Context) []Finding {
	const name = "locale"
	lines, err := e.runScript(ctx, `printf '%s\n' "$LC_ALL"`)
	if err != nil {
		return notAnswered(name, err)
	}
	effective := strings.Join(lines, " ")
	if effective == "C" || effective == "POSIX" {
		return []Finding{{Name: name, Verdict: Fine, Seen: "LC_ALL=" + effective}}
	}
	return []Finding{{Name: name, Verdict: Warning, Seen: fmt.Sprintf("LC_ALL=%s, although rmctl runs commands with LC_ALL=C", effective),
		Impact: "messages, dates and numbers may be in a language that the definition cannot read",
		Fix:    "do not set LC_ALL in .bashrc, .profile and the like for non-interactive shells"}}
}

// clockTolerance is the difference of clocks that does not matter.
const clockTolerance = 5 * time.Second

// examineClock compares the clock of the host with that of this machine.
func (e *examiner) examineClock(ctx context.Context) []Finding {
	const name = "clock"
	before := e.now()
	lines, err := e.runScript(ctx, "date -u +%Y-%m-%dT%H:%M:%SZ")
	after := e.now()
	if err != nil {
		return notAnswered(name, err)
	}
	there, err := time.Parse(time.RFC3339, strings.TrimSpace(lines[0]))
	if err != nil {
		return notAnswered(name, fmt.Errorf("date printed no time: %s", excerpt.First(lines[0])))
	}
	skew := time.Duration(0) // the time there is known to the second, the time here to the round trip
	switch {
	case there.After(after):
		skew = there.Sub(after)
	case there.Add(time.Second).Before(before):
		skew = there.Add(time.Second).Sub(before)
	}
	if math.Abs(skew.Seconds()) <= clockTolerance.Seconds() {
		return []Finding{{Name: name, Verdict: Fine, Seen: "same as here"}}
	}
	seen := fmt.Sprintf("%s ahead of this machine", skew.Round(time.Second))
	if skew < 0 {
		seen = fmt.Sprintf("%s behind this machine", (-skew).Round(time.Second))
	}
	return []Finding{{Name: name, Verdict: Warning, Seen: seen,
		Impact: "times of the scheduler differ from those of rmctl, and credentials that expire may be refused",
		Fix:    "synchronize both machines with NTP"}}
}
