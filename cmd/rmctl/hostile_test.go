package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What a scheduler, or a job's owner through it, may put into any text: a title
// and a clipboard for the terminal, a cleared screen, controls of eight bits,
// letters that turn the direction of the line, and what is no text.
const hostileWord = "\x1b]0;title\x07\x1b]52;c;cm0gLXJm\x07\x1b[2J\x1b[31mred \u009b31m\u0085 \u202egnp.exe\u2066 \u200b\u2028 \x00\xff\xfe \b\b\r\x7f $(id) `id` '; DROP TABLE jobs; --"

// hostileText is very much of it. As a job id it is too long to be believed.
var hostileText = hostileWord + strings.Repeat("A", 5000)

// hostileLabel is the part of it that XML, and so a definition, may contain.
const hostileLabel = "\u009b31m\u202ednuora\u2066\u200b\u007f"

// hostileSite is a scheduler whose commands print the files of a directory.
type hostileSite struct {
	t      *testing.T
	folder string
}

func newHostileSite(t *testing.T) *hostileSite {
	t.Helper()
	site := &hostileSite{t: t, folder: t.TempDir()}
	t.Setenv("HOME", site.folder)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOSTILE", site.folder)
	require.NoError(t, os.MkdirAll(filepath.Join(site.folder, ".config", "rmctl"), 0o700))
	definition, err := os.ReadFile(filepath.Join("testdata", "hostile", "site.xml"))
	require.NoError(t, err)
	definition = bytes.ReplaceAll(definition, []byte("HOSTILE-LABEL"), []byte(hostileLabel))
	site.write(".config/rmctl/site.xml", string(definition))
	site.write(".config/rmctl/targets.toml", "default = \"site\"\n[targets.site]\ndefinition = \"site.xml\"\n")
	site.write("submit", "job 4711"+hostileWord+"\n")
	site.sees("RUNNING")
	site.write("list", "99 RUNNING "+hostileText+"\n"+hostileText+"\n")
	site.write("failure", "no: "+hostileText+"\n"+hostileText+"\n")
	site.write("queues", "queue short"+hostileText+"\n")
	return site
}

func (s *hostileSite) write(name, content string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o600))
}

// sees makes the scheduler report a state, with hostile text in the other fields.
func (s *hostileSite) sees(state string) {
	s.t.Helper()
	s.write("status", fmt.Sprintf("state %s\nnative %s\nreason %s\nqueue %s\nname %s\n", state, hostileText, hostileText, hostileText, hostileText))
}

// endsWithin is the time limit of a command, also on a busy machine.
const endsWithin = 10 * time.Minute

// run runs rmctl, demands that what it prints may be shown on any terminal, and
// returns it.
func (s *hostileSite) run(arguments ...string) (stdout, stderr string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), endsWithin)
	defer cancel()
	var out, messages bytes.Buffer
	execute(ctx, arguments, strings.NewReader(""), &out, &messages)
	require.NoError(s.t, ctx.Err(), "rmctl %q did not end", arguments)
	for stream, text := range map[string]string{"standard output": out.String(), "standard error": messages.String()} {
		require.Empty(s.t, unprintable(text), "%s of rmctl %q", stream, arguments)
	}
	return out.String(), messages.String()
}

// unprintable returns what of a text a terminal would do something else with than
// show it.
func unprintable(text string) []string {
	var found []string
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		isInvalid := r == utf8.RuneError && size == 1
		if (isInvalid || r != '\n' && r != '\t' && !unicode.IsPrint(r)) && !slices.Contains(found, fmt.Sprintf("%U", r)) {
			found = append(found, fmt.Sprintf("%U", r))
		}
	}
	return found
}

// tag returns the name of the newest submission.
func (s *hostileSite) tag() string {
	s.t.Helper()
	out, _ := s.run("jobs", "--json")
	var job struct{ Tag string }
	require.NoError(s.t, json.NewDecoder(strings.NewReader(out)).Decode(&job), "%s", out)
	return job.Tag
}

// Commands print text of schedulers, jobs and definitions only as printable characters, line
// ends and tabs.
func TestHostileTextDoesNotReachTheTerminal(t *testing.T) {
	site := newHostileSite(t)
	out, _ := site.run("submit", "-e", "SECRET="+strings.ReplaceAll(hostileText, "\x00", ""), "--", "program"+strings.ReplaceAll(hostileText[:200], "\x00", ""))
	require.Contains(t, out, `\u202egnp.exe`, "letters that turn the line are spelled out")
	require.Contains(t, out, `\u001b]52;c;`)
	require.Contains(t, out, `\xff\xfe`)
	tag := site.tag()
	site.write("submit", "job 4712"+hostileText+"\n")
	for _, arguments := range [][]string{
		{"submit", "--json", "--", "program"}, {"submit", "--dry-run", "--", "program" + hostileLabel},
		{"status"}, {"status", "--json"}, {"status", "--fresh", tag}, {"status", "-vv", "--fresh", tag},
		{"jobs"}, {"jobs", "--all"}, {"jobs", "--json"}, {"jobs", "--export"},
		{"explain", tag}, {"explain", "--json", tag},
		{"polls"}, {"polls", "--json"},
		{"queues"}, {"queues", "--json"}, {"nodes"}, {"nodes", "--json"}, {"targets"}, {"targets", "--json"}, {"conn", "list"}, {"conn", "list", "--json"},
		{"doctor"}, {"doctor", "--json"}, {"start", "-vv"}, {"action", "-v", "shout"},
		{"cancel", tag}, {"cancel", "-vv", tag}, {"hold", tag}, {"output", tag}, {"recover"}, {"recover", "--json"},
		{"describe", "-v", "site"}, {"describe", "-v", site.folder + "/.config/rmctl/site.xml"}, {"describe", "--json", site.folder + "/.config/rmctl/site.xml"},
		{"describe", "--merged", site.folder + "/.config/rmctl/site.xml"},
		{"validate", "-v", site.folder + "/.config/rmctl/site.xml"}, {"validate", "--json", site.folder + "/.config/rmctl/site.xml"},
		{"render", site.folder + "/.config/rmctl/site.xml", "--", "program"}, {"render", "--json", site.folder + "/.config/rmctl/site.xml", "--", "program" + hostileLabel},
		{"form", "--plain", site.folder + "/.config/rmctl/site.xml"}, {"form", "--plain", "site"},
		{"replay", site.folder + "/.config/rmctl/site.xml", "--command", "get-job-status", site.folder + "/status"},
		{"replay", site.folder + "/.config/rmctl/site.xml", "--command", "get-job-status", "--json", site.folder + "/status"},
		{"replay", site.folder + "/.config/rmctl/site.xml", "--command", "get-job-status", "--trace", site.folder + "/status"},
		{"submit", "-s", "queue=" + hostileLabel, "--", "program"}, {"submit", "-s", hostileLabel + "=1", "--", "program"},
		{"submit", "-t", hostileLabel, "--", "program"}, {"status", "site/" + hostileText}, {"submit", "--batch", hostileLabel},
		{"submit", "--script", hostileLabel}, {"record", site.folder + "/cases", "--", "status", "--fresh", tag},
		{hostileLabel}, {"status", "--" + hostileLabel}, {"validate", hostileLabel}, {"replay", hostileLabel},
		{"config", "save", hostileLabel, "--", "x"}, {"config", "save", "kept", "--", "x" + hostileLabel}, {"config", "show", "kept"}, {"config", "list"}, {"config", "list", "--json"},
		{"test", site.folder + "/cases"},
	} {
		site.run(arguments...)
	}

	// The end of a job.
	site.sees("COMPLETED")
	out, _ = site.run("status", "--json", "--fresh", tag)
	require.Contains(t, out, `"detail":"COMPLETED"`)
	out, messages := site.run("watch", "--after", "0", "--on-change", `printf 'I:%.100s\nR:%.100s\nN:%.100s\n' "$RMCTL_JOB_ID" "$RMCTL_JOB_REASON" "$RMCTL_JOB_NATIVE"; [ ${#RMCTL_JOB_ID} -le 4100 ] && [ ${#RMCTL_JOB_REASON} -le 4100 ] || echo endless`, tag)
	require.Contains(t, out, `\u202e`)
	for _, variable := range []string{"I:4711", "R:", "N:"} {
		require.Contains(t, messages, variable+`\u001b]0;title\u0007\u001b]52;c;`, "the hook runs, whatever the scheduler said, and gets it spelled out")
	}
	require.NotContains(t, messages, "the hook for job")
	require.NotContains(t, messages, "endless", "systems refuse to start programs with variables that are too long")
	site.run("watch", "--json", "--after", "0", tag)
	site.run("wait", tag)
	site.run("wait", "--json", tag)

	// Failures, with the scheduler's messages.
	site.run("submit", "--", "program")
	site.run("submit", "--", "program")
	open := site.tag()
	require.NoError(t, os.Remove(filepath.Join(site.folder, "list")))
	require.NoError(t, os.Remove(filepath.Join(site.folder, "status")))
	for _, arguments := range [][]string{
		{"status", "--fresh"}, {"status", "--json", open}, {"jobs"}, {"explain", open}, {"polls"}, {"polls", "--json"}, {"doctor"}, {"wait", "--timeout", "10ms", open},
	} {
		site.run(arguments...)
	}

	// A submit command that fails.
	require.NoError(t, os.Remove(filepath.Join(site.folder, "submit")))
	site.run("submit", "--", "program")
	site.run("jobs", "--all")
	site.run("jobs", "--export")
	site.run("jobs", "--prune", "0s")
}
