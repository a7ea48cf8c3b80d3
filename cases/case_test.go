package cases_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/internal/initial"
)

func TestACaseComesBackAsItWasWritten(t *testing.T) {
	key := attribute.New("phase")
	key.SetValue("started")
	written := &cases.Case{
		Folder: filepath.Join(t.TempDir(), "new"), Description: "two\nlines 'and' \"quotes\"", Definition: "slurm", Command: "get-job-status", Job: "7",
		Arguments: []string{"scontrol", "a b", "", "'\"\\"}, Exit: 1, Seconds: 0.25,
		Stdout: []byte("\x00\xff no line end"), Stderr: []byte("error\r\n"),
		Before: &initial.Environment{Attributes: []initial.Attribute{{Key: "phase", Attribute: key}}},
		Expected: &cases.Expectation{
			Status: cases.Status{State: "ERROR", Failure: "bad exit", Outcome: "not-found", Message: "<&>"},
			Job:    &cases.JobState{ID: "7", State: "RUNNING", Detail: "RUNNING"},
		},
	}
	require.NoError(t, cases.Write(written))
	read, err := cases.Read(written.Folder)
	require.NoError(t, err)
	require.Equal(t, written, read)

	written.Stderr, written.Before, written.Expected = nil, nil, nil
	require.NoError(t, cases.Write(written))
	read, err = cases.Read(written.Folder)
	require.NoError(t, err)
	require.Equal(t, written, read, "what an earlier case left is gone")
}

func TestOutputsMayBePacked(t *testing.T) {
	folder := writePassing(t, t.TempDir(), nil)
	require.NoError(t, os.Rename(filepath.Join(folder, "stdout"), filepath.Join(folder, "was")))
	require.Equal(t, cases.Differing, run(t, folder).Verdict, "without its output")
	write(t, folder, map[string]string{"stdout.gz": packed(t, running["stdout"])}, nil)
	require.Equal(t, cases.Passed, run(t, folder).Verdict)
}

func TestWhatCannotBeReadIsNamedWithItsPath(t *testing.T) {
	for name, test := range map[string]struct {
		changes map[string]string
		file    string
		says    string
	}{
		"no case":                {map[string]string{"case.toml": ""}, "case.toml", "no such file"},
		"not TOML":               {map[string]string{"case.toml": "definition = 'slurm'\ncommand = get"}, "case.toml", "line 2"},
		"a misspelled setting":   {map[string]string{"case.toml": "definition = 'slurm'\nexti = 1"}, "case.toml", `line 2, column 1: unknown setting ["exti"]`},
		"an exit code of text":   {map[string]string{"case.toml": "exit = 'one'"}, "case.toml", "line 1"},
		"no command":             {map[string]string{"case.toml": "definition = 'slurm'\nexit = 0"}, "case.toml", "no command is named"},
		"a command not in it":    {map[string]string{"case.toml": "definition = 'slurm'\ncommand = 'shut-down-command'"}, "case.toml", "no shut-down-command"},
		"not a command":          {map[string]string{"case.toml": "definition = 'slurm'\ncommand = 'get-status'"}, "case.toml", "get-status"},
		"no definition":          {map[string]string{"case.toml": "command = 'get-job-status'"}, "case.toml", "no definition given"},
		"an unknown definition":  {map[string]string{"case.toml": "definition = 'slrum'\ncommand = 'get-job-status'"}, "case.toml", "neither a shipped definition"},
		"a missing definition":   {map[string]string{"case.toml": "definition = './my.xml'\ncommand = 'get-job-status'"}, "case.toml", "my.xml"},
		"an invalid definition":  {map[string]string{"case.toml": "definition = './my.xml'\ncommand = 'get-job-status'", "my.xml": "<x/>"}, "case.toml", "my.xml"},
		"no expectation":         {map[string]string{"expected.json": ""}, "expected.json", "--update"},
		"not JSON":               {map[string]string{"expected.json": "{\n\n{"}, "expected.json", "line 3"},
		"JSON of something else": {map[string]string{"expected.json": `{"states": {}}`}, "expected.json", "states"},
		"two expectations":       {map[string]string{"expected.json": `{} {}`}, "expected.json", "more than one"},
		"attributes not JSON":    {map[string]string{"before.json": `{"attributes": [{"vlaue": 1}]}`}, "before.json", "vlaue"},
		"two outputs":            {map[string]string{"stdout.gz": packed(t, "x")}, "stdout", "both packed and unpacked"},
		"not packed":             {map[string]string{"stderr.gz": "plain"}, "stderr.gz", "unpacking"},
		"cut while packed":       {map[string]string{"stderr.gz": packed(t, "some text")[:20]}, "stderr.gz", "unpacking"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, t.TempDir(), running, test.changes)
			result := run(t, folder)
			require.Equal(t, cases.Broken, result.Verdict)
			require.ErrorContains(t, result.Err, filepath.Join(folder, test.file)+": ")
			require.ErrorContains(t, result.Err, test.says)
		})
	}
}

// requireNamed demands an error that names a file.
func requireNamed(t *testing.T, path string, err error) {
	t.Helper()
	require.Error(t, err)
	require.True(t, strings.HasPrefix(err.Error(), path+": "), "%v", err)
}

func TestAFolderInsteadOfAFileIsNamed(t *testing.T) {
	folder := write(t, t.TempDir(), running, nil)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "stderr"), 0o700))
	_, err := cases.Read(folder)
	requireNamed(t, filepath.Join(folder, "stderr"), err)
}

func TestFindLooksBelowAndLeavesTheCommandsOfFlowsAlone(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"b", "a/2", "a/1"} {
		write(t, filepath.Join(root, name), running, nil)
	}
	write(t, filepath.Join(root, "a/3/01-first"), running, nil)
	write(t, filepath.Join(root, "a/3"), map[string]string{"flow.toml": ""}, map[string]string{"flow.toml": "#"})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	below := func(root string) []string {
		return []string{filepath.Join(root, "a/1"), filepath.Join(root, "a/2"), filepath.Join(root, "a/3"), filepath.Join(root, "b")}
	}
	found, err := cases.Find(root, filepath.Join(root, "a"))
	require.NoError(t, err)
	require.Equal(t, below(root), found, "none twice")
	found, err = cases.Find(link)
	require.NoError(t, err)
	require.Equal(t, below(link), found)

	_, err = cases.Find(t.TempDir())
	require.ErrorContains(t, err, "no cases")
	_, err = cases.Find(filepath.Join(root, "c"))
	require.ErrorContains(t, err, "no such file")
}

func TestRecordedArgumentsMayHavePlaceholders(t *testing.T) {
	for _, test := range []struct {
		recorded, actual []string
		match            bool
	}{
		{[]string{"qstat", "-f"}, []string{"qstat", "-f"}, true},
		{[]string{"qstat"}, []string{"qstat", "-f"}, false},
		{[]string{"qstat", "-f"}, []string{"qstat", "-x"}, false},
		{[]string{"{script}"}, []string{"/tmp/1.sh"}, true},
		{[]string{"{script}"}, []string{""}, true},
		{[]string{"/tmp/{script}.sh"}, []string{"/tmp/1.sh"}, true},
		{[]string{"/tmp/{script}.sh"}, []string{"/tmp/1.py"}, false},
		{[]string{"/tmp/{a}-{b}-x"}, []string{"/tmp/1-2-x"}, true},
		{[]string{"/tmp/{a}-{b}-x"}, []string{"/tmp/1-x"}, false},
		{[]string{"a{x}a"}, []string{"a"}, false},
		{[]string{"{Not One}"}, []string{"x"}, false},
		{[]string{"{ x; }"}, []string{"{ x; }"}, true},
	} {
		require.Equal(t, test.match, cases.MatchArguments(test.recorded, test.actual), "%q %q", test.recorded, test.actual)
	}
}

// FuzzReadNeverFailsWithoutNamingAFile puts hostile text into the files of a case.
func FuzzReadNeverFailsWithoutNamingAFile(f *testing.F) {
	f.Add([]byte(running["case.toml"]), []byte(`{"attributes": [{"name": "x", "value": {"a": null}}]}`), []byte(running["expected.json"]))
	f.Add([]byte("command = ''\nargv = [[]]"), []byte(`{"uuid": null}`), []byte(`{"job": null, "attributes": {"x": null}}`))
	f.Add([]byte("\xff"), []byte("[]"), []byte(`{"status": 1e999}`))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, description, before, expected []byte) {
		write(t, folder, map[string]string{"case.toml": string(description), "before.json": string(before), "expected.json": string(expected)}, nil)
		read, err := cases.Read(folder)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), folder), "%v", err)
			return
		}
		read.Folder = filepath.Join(folder, "again")
		require.NoError(t, cases.Write(read))
		again, err := cases.Read(read.Folder)
		require.NoError(t, err)
		require.Equal(t, read.Arguments, again.Arguments)
		require.Equal(t, read.Expected, again.Expected)
	})
}

func TestALongOutputIsStoredPacked(t *testing.T) {
	folder := t.TempDir()
	packed, plain := filepath.Join(folder, "stdout.gz"), filepath.Join(folder, "stdout")
	long := bytes.Repeat([]byte("a line of output\n"), 5000)
	require.NoError(t, cases.Write(&cases.Case{Folder: folder, Command: "get-job-status", Stdout: long, Stderr: []byte("short\n")}))
	require.NoFileExists(t, plain)
	require.FileExists(t, filepath.Join(folder, "stderr"))
	info, err := os.Stat(packed)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(1000))
	read, err := cases.Read(folder)
	require.NoError(t, err)
	require.Equal(t, string(long), string(read.Stdout))

	require.NoError(t, cases.Write(&cases.Case{Folder: folder, Command: "get-job-status", Stdout: []byte("short\n")}))
	require.NoFileExists(t, packed)
	require.FileExists(t, plain)
}

func TestAFileOfACaseMayBeALinkToThatOfAnotherCase(t *testing.T) {
	root := t.TempDir()
	first := writePassing(t, filepath.Join(root, "first"), nil)
	second := write(t, filepath.Join(root, "second"), running, map[string]string{"stdout": "", "expected.json": ""})
	for _, name := range []string{"stdout", "expected.json"} {
		require.NoError(t, os.Symlink(filepath.Join("..", "first", name), filepath.Join(second, name)))
	}
	require.Equal(t, cases.Passed, run(t, second).Verdict)

	read, err := cases.Read(second)
	require.NoError(t, err)
	read.Stdout, read.Expected = []byte("something else\n"), nil
	require.NoError(t, cases.Write(read))
	again, err := cases.Read(second)
	require.NoError(t, err)
	require.Equal(t, read, again)
	require.Equal(t, cases.Passed, run(t, first).Verdict, "the file that the link leads to stays as it is")
}

func TestALinkOutOfTheCasesIsNeitherReadNorWritten(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(running["expected.json"]), 0o600))
	missing := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"case.toml", "stdout", "stderr", "before.json", "expected.json", "stdout.gz"} {
		folder := write(t, t.TempDir(), running, map[string]string{name: "", "stdout": ""})
		require.NoError(t, os.Symlink(secret, filepath.Join(folder, name)))
		_, err := cases.Read(folder)
		requireNamed(t, filepath.Join(folder, name), err)
		require.ErrorContains(t, err, "something other than a file of a case")
	}
	folder := write(t, t.TempDir(), running, map[string]string{"expected.json": ""})
	require.NoError(t, os.Symlink(missing, filepath.Join(folder, "expected.json")))
	updating := &cases.Runner{Update: true}
	require.Equal(t, cases.Updated, updating.RunFolder(t.Context(), folder).Verdict)
	require.NoFileExists(t, missing)
	require.Equal(t, cases.Passed, run(t, folder).Verdict)
}

func TestWhatIsNoFileIsNotRead(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a folder":          func(path string) error { return os.Mkdir(path, 0o700) },
		"a named pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to no file": func(path string) error { return os.Symlink("nothing", path) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, t.TempDir(), running, map[string]string{"stdout": ""})
			path := filepath.Join(folder, "stdout")
			require.NoError(t, make(path))
			_, err := cases.Read(folder)
			requireNamed(t, path, err)
		})
	}
}
