package rms_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/rms"
)

// A cobaltHome is a home directory in which cobalt.sh submits.
type cobaltHome struct {
	folder, shell string
}

// onShells runs a test with each shell that cobalt.sh may meet.
func onShells(t *testing.T, test func(t *testing.T, home cobaltHome)) {
	for _, shell := range []string{"dash", "bash"} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell, "is not installed")
			}
			test(t, cobaltHome{t.TempDir(), program})
		})
	}
}

// submit submits a script with a program as qsub.
func (h cobaltHome) submit(t *testing.T, script, qsub, tag string) (stdout, stderr string, exit int) {
	t.Helper()
	definition, shipped := rms.Source("cobalt")
	require.True(t, shipped)
	program, shipped := rms.Beside("cobalt.xml", definition, "cobalt.sh")
	require.True(t, shipped)
	bin := filepath.Join(h.folder, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "qsub"), []byte("#!/bin/sh\n"+qsub+"\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.folder, "cobalt.sh"), program, 0o600))
	command := exec.CommandContext(t.Context(), h.shell, filepath.Join(h.folder, "cobalt.sh"), script, tag)
	command.Env = []string{"HOME=" + h.folder, "PATH=" + bin + ":" + os.Getenv("PATH")}
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	_ = command.Run() // the exit code says more
	return out.String(), problems.String(), command.ProcessState.ExitCode()
}

// script writes a script, and returns its path.
func (h cobaltHome) script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(h.folder, "a script")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (h cobaltHome) notes(name ...string) string {
	return filepath.Join(append([]string{h.folder, ".eclipsesettings", "cobalt"}, name...)...)
}

func (h cobaltHome) read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// The log has the tag for its name, and exists before the job does.
func TestCobaltSubmitsACopyWithALogOfItsTag(t *testing.T) {
	onShells(t, func(t *testing.T, home cobaltHome) {
		const qsub = `printf '%s|' "$@" >"$HOME/called"; umask >"$HOME/umask"; cp "$HOME/.eclipsesettings/cobalt/` + tag + `.log" "$HOME/before"
			echo "Job routed to queue \"a\"."; echo 1234`
		for text, options := range map[string]string{
			"#!/bin/sh\n#COBALT -n 2\ntrue 'x y'\n":          "--debuglog|" + home.notes(tag+".log") + "|",
			"#!/bin/sh\n#COBALT -n 2 --debuglog own\ntrue\n": "", // Cobalt keeps the log where the script says
		} {
			require.NoError(t, os.RemoveAll(home.notes()))
			stdout, stderr, exit := home.submit(t, home.script(t, text), qsub, tag)
			require.Zero(t, exit, "%s", stderr)
			require.Equal(t, "Job routed to queue \"a\".\n1234\n", stdout)
			require.Equal(t, options+home.notes(tag+".sh")+"|", home.read(t, filepath.Join(home.folder, "called")))
			require.Empty(t, home.read(t, filepath.Join(home.folder, "before")))
			require.NotContains(t, home.read(t, filepath.Join(home.folder, "umask")), "077", "the job has the umask of its user")
			require.Equal(t, text, home.read(t, home.notes(tag+".sh")))
			for name, mode := range map[string]os.FileMode{tag + ".log": 0o600, tag + ".sh": 0o700} {
				information, err := os.Stat(home.notes(name))
				require.NoError(t, err)
				require.Equal(t, mode, information.Mode())
			}
		}
	})
}

func TestCobaltReportsThatQsubFailed(t *testing.T) {
	onShells(t, func(t *testing.T, home cobaltHome) {
		script := home.script(t, "#!/bin/sh\n")
		for qsub, want := range map[string]int{
			"echo no such project >&2; exit 3":                 3,
			"echo failed to create the job >&2":                1,
			`echo "Jobid: 7" >>"$2"; echo cut off >&2`:         0, // there is a job: its log names it
			`echo "Jobid: 7" >>"$2"; echo cut off >&2; exit 1`: 1,
		} {
			require.NoError(t, os.RemoveAll(home.notes()))
			stdout, stderr, exit := home.submit(t, script, qsub, tag)
			require.Equal(t, want, exit, qsub)
			require.Empty(t, stdout)
			require.NotEmpty(t, stderr)
			require.FileExists(t, home.notes(tag+".sh"), "the job may be there")
			require.FileExists(t, home.notes(tag+".log"))
		}
		_, stderr, exit := home.submit(t, "/no/such/script", "echo 1", tag)
		require.Equal(t, 1, exit)
		require.Contains(t, stderr, "/no/such/script")
	})
}

func TestCobaltRefusesWhatIsNoTag(t *testing.T) {
	onShells(t, func(t *testing.T, home cobaltHome) {
		for _, wrong := range []string{"", "*", "a b", "../x", tag + "/.."} {
			stdout, stderr, exit := home.submit(t, home.script(t, ""), `touch "$HOME/called"; echo 1`, wrong)
			require.Equal(t, 1, exit, wrong)
			require.Empty(t, stdout)
			require.Contains(t, stderr, "invalid tag")
			require.NoFileExists(t, filepath.Join(home.folder, "called"))
			require.NoDirExists(t, home.notes())
		}
	})
}

func TestCobaltDeletesOldLogs(t *testing.T) {
	onShells(t, func(t *testing.T, home cobaltHome) {
		require.NoError(t, os.MkdirAll(home.notes(), 0o700))
		for name, days := range map[string]int{"old.log": 62, "old.sh": 62, "recent.log": 58} {
			require.NoError(t, os.WriteFile(home.notes(name), nil, 0o600))
			written := time.Now().AddDate(0, 0, -days)
			require.NoError(t, os.Chtimes(home.notes(name), written, written))
		}
		_, stderr, exit := home.submit(t, home.script(t, ""), "echo 1", tag)
		require.Zero(t, exit, "%s", stderr)
		require.NoFileExists(t, home.notes("old.log"))
		require.NoFileExists(t, home.notes("old.sh"))
		require.FileExists(t, home.notes("recent.log"))
	})
}

// Names and paths of jobs may hold line breaks: listings do without them.
func TestCobaltListsNoTextsOfUsers(t *testing.T) {
	for _, selector := range []string{"list-jobs", "fallback:get-job-status-from-all"} {
		line := strings.Join(argumentsOf(t, "cobalt", selector, "1"), " ")
		require.Contains(t, line, "--header JobID:User:State")
		for _, key := range []string{"JobName", "Path", "Args", "Envs", "Command"} {
			require.NotContains(t, line, key)
		}
	}
}
