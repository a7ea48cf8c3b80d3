package rms_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	tag      = "9e053800-5f8d-4c5b-9102-0b2c4581d4f0"
	otherTag = "11b7536a-b565-471a-a35b-e1d26c892f19"
	place    = "/home/Jane Doe/.eclipsesettings" // blanks in a home are no reason to lose a job
)

// run runs the script of a command for real, on programs in place of the
// scheduler's.
func run(t *testing.T, definition, selector string, programs map[string]string, arguments ...string) (stdout, stderr string, exit int) {
	folder := t.TempDir()
	for name, script := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	words := argumentsOf(t, definition, selector, "1")
	command := exec.CommandContext(t.Context(), "sh", append(words[1:4:4], arguments...)...)
	command.Env = append(os.Environ(), "LC_ALL=C", "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	printed, err := command.Output()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &failed)
		stderr = string(failed.Stderr)
	}
	return string(printed), stderr, command.ProcessState.ExitCode()
}

// nothing is a program that prints nothing.
const nothing = "exit 0"

// Parts of programs in place of those of PBS.
const (
	history   = "printf '    job_history_enable = True\\n    job_history_duration = 02:00:00\\n'"
	noHistory = "printf '    job_history_enable = False\\n'"
)

func recordOf(id, arguments string) string {
	return `printf 'Job Id: %s\n    Job_Name = a|b\n    job_state = R\n    queue = q\n    ctime = then\n    Submit_arguments = %s\n    Submit_Host = h\n\n' '` + id + `' '` + arguments + "'; "
}

// pbs is programs that know jobs, and others in the history.
func pbs(live, ended, server string) map[string]string {
	return map[string]string{
		"qselect": `case "$*" in -u\ *) test -z "$LIVE" || echo 1.s;; -x\ -u\ *) echo 2.s 3.s;; *) exit 9;; esac`,
		"qstat":   `case "$*" in "-B -f") ` + server + `;; "-f -w 1.s") ` + live + `;; "-x -f -w 2.s 3.s") ` + ended + `;; "-f -w") eval "$ALL";; *) exit 9;; esac`,
	}
}

func TestPBSFindsTheJobOfASubmission(t *testing.T) {
	const generated = place + "/" + tag + "managed_file_for_script"
	for what, c := range map[string]struct {
		live, ended, server string
		age                 string
		stdout, stderr      string
		exit                int
	}{
		"a job":                        {live: recordOf("1.s", "-f "+generated), stdout: "found job 1.s, which is 1.s\n"},
		"a user's own script":          {live: recordOf("1.s", "-f "+place+"/"+tag+"/my.sh"), stdout: "found job 1.s, which is 1.s\n"},
		"at another place":             {live: recordOf("1.s", "-f /scratch/"+tag+"managed_file_for_script"), stdout: "found job 1.s, which is 1.s\n"},
		"while another one ends":       {live: recordOf("1[].s", "-f "+generated) + "exit 35", stdout: "found job 1[].s, which is 1[].s\n"},
		"the server fails after it":    {live: recordOf("1.s", "-f "+generated) + "exit 255", exit: 1},
		"a job that ended":             {live: recordOf("1.s", "x.sh"), ended: recordOf("2.s", "x.sh") + recordOf("3.s", "-f "+generated), stdout: "found job 3.s, which is 3.s\n"},
		"no job":                       {live: nothing, ended: recordOf("2.s", "-f "+place+"/"+otherTag+"managed_file_for_script"), stdout: "found no job\n"},
		"as an argument of something":  {live: recordOf("1.s", "-f x.sh -v A="+generated), stderr: "unusual place", exit: 1},
		"without a history":            {live: nothing, server: noHistory, stderr: "no history", exit: 1},
		"older than the history":       {live: nothing, age: "7200", stderr: "for 02 hours only", exit: 1},
		"as old as the history":        {live: nothing, ended: nothing, age: "7199", stdout: "found no job\n"},
		"the server is gone meanwhile": {live: nothing, server: "exit 255", exit: 1},
		"a client without -w":          {live: "exit 2", exit: 1},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("LIVE", "yes")
			if c.server == "" {
				c.server = history
			}
			if c.age == "" {
				c.age = "200"
			}
			stdout, stderr, exit := run(t, "pbs", "find-job", pbs(c.live, c.ended, c.server), tag, place, c.age)
			require.Equal(t, c.exit, exit, "%s", stderr)
			require.Equal(t, c.stdout, stdout)
			require.Contains(t, stderr, c.stderr)
		})
	}
}

func TestPBSListsWholeRecords(t *testing.T) {
	const line = "1.s|    Job_Name = a!b|    job_state = R|    queue = q|    ctime = then|    Submit_arguments = -f x!    job_state = F\n"
	whole := recordOf("1.s", "-f x|    job_state = F")
	for what, c := range map[string]struct {
		live, stdout string
		exit         int
	}{
		"a job":                        {whole, line + "listed\n", 0},
		"one that ended since":         {whole + "exit 153", line + "listed\n", 0},
		"a record that was cut":        {whole + "printf 'Job Id: 2.s\\n    Job_Name = x\\n    job_state = R\\n'", line + "listed\n", 0},
		"the server fails":             {whole + "exit 255", "", 1},
		"a client without wide output": {"exit 2", "listed\n", 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("LIVE", "yes")
			stdout, stderr, exit := run(t, "pbs", "list-jobs", pbs(c.live, "", ""))
			require.Equal(t, c.exit, exit, "%s", stderr)
			require.Equal(t, c.stdout, stdout)
		})
	}
	stdout, _, exit := run(t, "pbs", "list-jobs", pbs("exit 9", "", ""))
	require.Zero(t, exit, "qstat without an id lists everybody's jobs")
	require.Equal(t, "listed\n", stdout)

	t.Setenv("ALL", whole)
	stdout, stderr, exit := run(t, "pbs", "list-jobs", pbs("exit 9", "", ""), "all")
	require.Zero(t, exit, "%s", stderr)
	require.Equal(t, line+"listed\n", stdout)
	t.Setenv("ALL", "exit 2")
	stdout, _, exit = run(t, "pbs", "list-jobs", pbs("exit 9", "", ""), "all")
	require.Equal(t, 2, exit, "a client without wide output cannot tell that there are no jobs")
	require.Empty(t, stdout)
}
