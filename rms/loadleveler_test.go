package rms_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/reader"
	"github.com/rmctl/rmctl/rms"
)

// submitLoadLeveler runs the program that submits a job command file, with an llsubmit that
// prints the file that it gets.
func submitLoadLeveler(t *testing.T, shell, folder, file string) (printed string, err error) {
	t.Helper()
	definition, isShipped := rms.Source("loadleveler")
	require.True(t, isShipped)
	program, isShipped := rms.Beside("loadleveler.xml", definition, "loadleveler.sh")
	require.True(t, isShipped)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "loadleveler.sh"), program, 0o600))
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "llsubmit"), []byte("#!/bin/sh\ncat \"$1\"\n"), 0o700))
	command := exec.CommandContext(t.Context(), shell, filepath.Join(folder, "loadleveler.sh"), file, tag)
	command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	return string(output), err
}

// The tag of a submission goes before the comment, whoever has set that, and nothing else of the script changes.
func TestLoadLevelerSubmitsTheScriptWithItsTagBeforeTheComment(t *testing.T) {
	for _, name := range []string{"dash", "bash"} {
		shell, err := exec.LookPath(name)
		if err != nil {
			t.Log(name, "is not installed")
			continue
		}
		for script, submitted := range map[string]string{
			"#!/bin/sh\n# @ class = a\n# @ queue\ntrue 'x y'\n":                     "#!/bin/sh\n# @ comment = RMCTL_TAG=TAG\n# @ class = a\n# @ queue\ntrue 'x y'\n",
			"# @ executable = /bin/true\n# @ queue\n":                               "# @ comment = RMCTL_TAG=TAG\n# @ executable = /bin/true\n# @ queue\n",
			"#!/bin/sh\n# @ comment = my \"job\"\n# @ queue\n":                      "#!/bin/sh\n# @ comment = RMCTL_TAG=TAG my \"job\"\n# @ queue\n",
			"#!/bin/sh\n#@Comment= a\n# @ queue\n# @ comment = b = \\\n# @ queue\n": "#!/bin/sh\n#@Comment= RMCTL_TAG=TAG a\n# @ queue\n# @ comment = RMCTL_TAG=TAG b = \\\n# @ queue\n",
		} {
			folder := t.TempDir()
			file := filepath.Join(folder, "a script")
			require.NoError(t, os.WriteFile(file, []byte(script), 0o700))
			printed, err := submitLoadLeveler(t, shell, folder, file)
			require.NoError(t, err, printed)
			require.Equal(t, strings.ReplaceAll(submitted, "TAG=TAG", "TAG="+tag), printed)
			information, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o700), information.Mode())
		}
		printed, err := submitLoadLeveler(t, shell, t.TempDir(), "/no/such/script")
		require.Error(t, err)
		require.Contains(t, printed, "/no/such/script")
	}
}

func TestLoadLevelerRemovesOldNotes(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"ll1.1", "ll1.2", "keep"} {
		file := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(file, []byte("# @ queue\n"), 0o600))
		if name != "ll1.2" {
			old := time.Now().AddDate(0, 0, -70)
			require.NoError(t, os.Chtimes(file, old, old))
		}
	}
	printed, err := submitLoadLeveler(t, "sh", folder, filepath.Join(folder, "ll1.2"))
	require.NoError(t, err, printed)
	require.NoFileExists(t, filepath.Join(folder, "ll1.1"))
	require.FileExists(t, filepath.Join(folder, "ll1.2"))
	require.FileExists(t, filepath.Join(folder, "keep"))
}

// The script notes the exit code of its program for a job whose end LoadLeveler reports to administrators only.
func TestLoadLevelerReadsTheExitCodeThatTheScriptHasNoted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	definition := shippedDefinition(t, "loadleveler")
	script, err := renderGridEngine(t, definition)
	require.NoError(t, err)
	require.Contains(t, script, "\n true\ncode=$?")
	notes := filepath.Join(home, ".eclipsesettings", "loadleveler")
	for program, want := range map[string]struct{ state, code string }{
		"true":                      {"COMPLETED", "0"},
		"false":                     {"FAILED", "1"},
		"sh -c 'exit 3'":            {"FAILED", "3"},
		"sh -c 'kill -KILL $$; :'":  {"FAILED", "137"},
		"sh -c 'cd /; exit 255; :'": {"FAILED", "255"},
	} {
		file := filepath.Join(home, "script")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(script, "\n true\ncode", "\n"+program+"\ncode", 1)), 0o700))
		require.NoError(t, os.RemoveAll(notes))
		run := func() {
			job := exec.CommandContext(t.Context(), file)
			job.Env = append(os.Environ(), "LOADL_STEP_ID=LL1.example.org.123.0")
			printed, err := job.Output()
			require.Equal(t, want.code != "0", err != nil)
			require.Equal(t, want.code, strconv.Itoa(job.ProcessState.ExitCode()))
			require.Empty(t, printed)
		}
		run() // without the folder there is no note, and no message either
		require.NoError(t, os.MkdirAll(notes, 0o700))
		run()
		note, err := os.ReadFile(filepath.Join(notes, "ll1.123"))
		require.NoError(t, err)
		got := replay(t, definition, exchange{selector: "fallback:get-job-status-from-note", job: "ll1.example.org.123", stdout: string(note)})
		require.Equal(t, want.state, got.State, program)
		require.Equal(t, want.code, got.Facts["job.exitCode"], program)
	}
}

func TestLoadLevelerKnowsJobsByHostAndNumber(t *testing.T) {
	ids, err := reader.NewIDs(shippedDefinition(t, "loadleveler").IDs)
	require.NoError(t, err)
	for id, want := range map[string]string{
		"ll1.123": "ll1.123", "LL1.Example.org.123": "ll1.123", "ll1.example-site.4u.org.123.7": "ll1.123 7", "juqueen1c1.281506.0": "juqueen1c1.281506 0",
		"": "", "-l": "", "ll1.1; date": "", "ll1.*": "", "12": "", "../x.1": "", "ll1.": "", "10.0.0.1.5": "", "ll1.1.2.3": "", "ll1.a\n.1": "",
	} {
		job, task, isID := ids.Split(id)
		require.Equal(t, want, strings.TrimSpace(job+" "+task), id)
		require.Equal(t, want != "", isID, id)
	}
}

// What a variable of a job claims counts neither for this job nor for another one.
func TestLoadLevelerBelievesNoForgedStep(t *testing.T) {
	definition := shippedDefinition(t, "loadleveler")
	whole, err := os.ReadFile(filepath.Join(casesOf("loadleveler"), "status-running", "stdout"))
	require.NoError(t, err)
	for _, forged := range []string{
		"Status: Completed", "Job Step Id: ll1.124.0", "Queue Date: Mon Jan 11 17:50:11 2027", "1 job step(s) in query, 0 waiting", "0 job step(s) in query",
		"=============== Job Step ll1.123.0 ===============", "=============== Job Step ll1.123.1 ===============",
		"=============== Job Step ll1.123.1 ===============\nJob Step Id: ll1.123.1\nStatus: Completed\nCompletion Code: 0",
		"=============== Job Step ll9.9.0 ===============\nJob Step Id: ll9.9.0\nStatus: Running\n1 job step(s) in query, 0 waiting",
	} {
		output := strings.Replace(string(whole), "Env:\n", "Env: A=1\n"+forged+"\n", 1)
		require.NotEqual(t, string(whole), output)
		got := replay(t, definition, exchange{selector: "get-job-status", job: "ll1.123", stdout: output})
		require.Empty(t, got.State, forged)
		require.Equal(t, "unreadable", string(got.Outcome), forged)
	}
}
