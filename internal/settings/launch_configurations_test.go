package settings_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/job"
)

// everything is a saved submission that leaves out nothing.
func everything() *settings.LaunchConfiguration {
	return &settings.LaunchConfiguration{
		Name: "everything", Target: "slurm",
		Debugging: settings.Debugging{Copy: "build/a.out", Debugger: "/opt/gdb/bin/gdb", Stop: "entry", Mode: "attach"},
		Submission: job.Submission{
			Tab: "Basic", Executable: "./a.out", Arguments: []string{"", "a b", "$(x)\n\"'"},
			Directory: "/tmp/x y", Script: "/home/job.sh", Debug: true,
			Values: values("", "no name", "list", "a", "list", "", "list", "b", "none", "", "number", "-7", "text", "5", "with.dots", "x", "ümläut", "\u0001\t"),
			Environment: job.Environment{Variables: []job.Variable{
				{Name: "A.B"}, {Name: "PATH", Value: "/x:$PATH"}, {Name: "QUOTES", Value: `"'\`},
			}},
		},
	}
}

func TestALaunchConfigurationIsReadAsItWasSaved(t *testing.T) {
	folder := t.TempDir()
	saved := everything()
	require.NoError(t, saved.Save(folder, false))
	loaded, err := settings.LoadLaunchConfiguration(folder, "everything")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "launch", "everything.toml"), loaded.File)
	again, err := loaded.TOML()
	require.NoError(t, err)
	first, err := saved.TOML()
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
	require.Equal(t, saved.Submission, loaded.Submission)
	require.Equal(t, saved.Debugging, loaded.Debugging)
}

func TestValuesOfAFileKeepTheirKinds(t *testing.T) {
	text := "[attributes]\nlist = ['a']\nnone = []\nnumber = 0x1f\ntext = '5'\nyes = true\n"
	l, err := settings.ReadLaunchConfiguration("x", "x.toml", []byte(text))
	require.NoError(t, err)
	require.Equal(t, values("list", "a", "none", "", "number", "31", "text", "5", "yes", "true"), l.Values)
	saved, err := l.TOML()
	require.NoError(t, err)
	require.Equal(t, strings.Replace(text, "0x1f", "31", 1), string(saved))
	shown, err := json.Marshal(l)
	require.NoError(t, err)
	require.Equal(t, `{"name":"x","file":"x.toml","attributes":{"list":["a"],"none":[],"number":31,"text":"5","yes":true}}`, string(shown))

	l.Submission = job.Submission{Values: values("number", "32", "yes", "true")}.Over(l.Submission)
	saved, err = l.TOML()
	require.NoError(t, err)
	require.Equal(t, "[attributes]\nlist = ['a']\nnone = []\nnumber = '32'\ntext = '5'\nyes = true\n", string(saved))
}

func TestLaunchConfigurationsAreForTheirOwnerOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "config")
	require.NoError(t, everything().Save(folder, false))
	for name, mode := range map[string]os.FileMode{"launch": 0o700, "launch/everything.toml": 0o600} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

func TestALaunchConfigurationIsReplacedOnRequestOnly(t *testing.T) {
	folder := t.TempDir()
	l := &settings.LaunchConfiguration{Name: "x", Submission: job.Submission{Executable: "first"}}
	require.NoError(t, l.Save(folder, false))
	l.Executable = "second"
	var exists *settings.LaunchConfigurationExistsError
	require.ErrorAs(t, l.Save(folder, false), &exists)
	loaded, err := settings.LoadLaunchConfiguration(folder, "x")
	require.NoError(t, err)
	require.Equal(t, "first", loaded.Executable)
	require.NoError(t, l.Save(folder, true))
	loaded, err = settings.LoadLaunchConfiguration(folder, "x")
	require.NoError(t, err)
	require.Equal(t, "second", loaded.Executable)
	entries, err := os.ReadDir(filepath.Join(folder, "launch"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "drafts are left behind")
}

func TestALinkedLaunchConfigurationStaysLinked(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "mine.toml")
	require.NoError(t, os.WriteFile(elsewhere, []byte(`executable = "first"`), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "launch"), 0o700))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(folder, "launch", "x.toml")))
	require.NoError(t, (&settings.LaunchConfiguration{Name: "x", Submission: job.Submission{Executable: "second"}}).Save(folder, true))
	text, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Contains(t, string(text), "second")
}

func TestNamesOfLaunchConfigurationsAreSafeNamesOfFiles(t *testing.T) {
	for _, name := range []string{"x", "big-run_2.5+a@b", "größe", strings.Repeat("x", 100)} {
		require.NoError(t, settings.CheckLaunchConfigurationName(name), name)
	}
	for _, name := range []string{"", ".", "..", ".x", "-x", "a/b", `a\b`, "a b", "a\nb", "a\x00b", "\xff", "*", "a;b", "\u202ex", strings.Repeat("x", 101)} {
		var wrong *settings.LaunchConfigurationNameError
		require.ErrorAs(t, settings.CheckLaunchConfigurationName(name), &wrong, "%q", name)
		l := settings.LaunchConfiguration{Name: name}
		require.ErrorAs(t, l.Save(t.TempDir(), false), &wrong, "%q", name)
		_, err := settings.LoadLaunchConfiguration(t.TempDir(), name)
		require.ErrorAs(t, err, &wrong, "%q", name)
	}
}

func TestUnrepresentableSubmissionsAreNotSaved(t *testing.T) {
	for reason, l := range map[string]*settings.LaunchConfiguration{
		`arguments: "\xff" is not UTF-8`:           {Submission: job.Submission{Executable: "x", Arguments: []string{"\xff"}}},
		`environment "A": "\xff" is not UTF-8`:     {Submission: job.Submission{Environment: variables("A", "\xff")}},
		"holds a zero byte":                        {Submission: job.Submission{Executable: "a\x00b"}},
		"target and definition exclude each other": {Target: "a", Definition: "b"},
		"require an executable":                    {Submission: job.Submission{Arguments: []string{"a"}}},
		`"A=B" cannot name a variable`:             {Submission: job.Submission{Environment: variables("A=B", "")}},
		"larger than 1048576 bytes":                {Submission: job.Submission{Executable: strings.Repeat("x", 1<<20)}},
	} {
		l.Name = "x"
		folder := t.TempDir()
		require.ErrorContains(t, l.Save(folder, false), reason)
		require.NoDirExists(t, filepath.Join(folder, "launch"))
	}
}

func TestAllErrorsOfALaunchConfigurationHaveTheirPosition(t *testing.T) {
	text := `target = 5
executables = "x"
arguments = [1, 2.5, ["a"]]
debug = "true"
directory.x = "y"
definition = "a"

[attributes]
walltime = 01:30:00
a.b = 1
"a.b" = 2
t = { x = inf }

[enviroment]
X = "1"

[[attribute]]
y = 1
`
	_, err := settings.ReadLaunchConfiguration("x", "x.toml", []byte(text))
	require.Error(t, err)
	require.Equal(t, strings.TrimSpace(`
x.toml:1:10: "target" is an integer, but must be a string
x.toml:2:1: unknown setting "executables"
did you mean "executable"?
x.toml:3:1: a value cannot be a list here
x.toml:3:17: a value cannot be a number with a fraction: write it in quotes, "2.5"
x.toml:4:9: "debug" is a string, but must be true or false
x.toml:5:1: "directory" is a table, but must be a string
x.toml:9:12: a value cannot be a date or time: write it in quotes, "01:30:00"
x.toml:11:1: attribute "a.b" has a value already, on line 10
x.toml:12:11: a value cannot be a number with a fraction: write it in quotes, "inf"
x.toml:14:2: unknown setting "enviroment"
did you mean "environment"?
x.toml:17:3: unknown setting "attribute"
did you mean "attributes"?
`), err.Error())
	var wrong *settings.ConfigurationError
	require.ErrorAs(t, err, &wrong)
}

func TestInvalidTOMLIsRefused(t *testing.T) {
	for text, place := range map[string]string{
		"target = ":                       "x.toml:1:",
		"\xff":                            "x.toml:1:1",
		"a = 99999999999999999999":        "x.toml:1:5: decimal number is too large",
		"a = 1\na = 2":                    "x.toml:2:1",
		"[attributes]\n[attributes]\n":    "x.toml:2:",
		"target = \"a\nb\"":               "x.toml:1:",
		"a = " + strings.Repeat("[", 5e5): "x.toml:1:",
	} {
		_, err := settings.ReadLaunchConfiguration("x", "x.toml", []byte(text))
		require.ErrorContains(t, err, place, "%.40q", text)
	}
}

func TestFilesWithoutALaunchConfigurationAreRefused(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "launch", "folder.toml"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "launch", "large.toml"), make([]byte, 2<<20), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "launch", "other.txt"), nil, 0o600))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(folder, "launch", "dangling.toml")))
	for name, reason := range map[string]string{"folder": "not a regular file", "large": "larger than 1048576 bytes", "dangling": "broken symbolic link"} {
		_, err := settings.LoadLaunchConfiguration(folder, name)
		var wrong *settings.ConfigurationError
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, reason)
	}
	names, err := settings.LaunchConfigurationNames(folder)
	require.NoError(t, err)
	require.Equal(t, []string{"dangling", "large"}, names)
}

func TestAnUnknownLaunchConfigurationGetsASuggestion(t *testing.T) {
	folder := t.TempDir()
	_, err := settings.LoadLaunchConfiguration(folder, "small")
	require.EqualError(t, err, `unknown saved submission "small"
run rmctl config save to create one`)
	for _, name := range []string{"large", "medium"} {
		require.NoError(t, (&settings.LaunchConfiguration{Name: name}).Save(folder, false))
	}
	_, err = settings.LoadLaunchConfiguration(folder, "small")
	require.EqualError(t, err, `unknown saved submission "small"
choose one of large, medium`)
	var unknown *settings.UnknownLaunchConfigurationError
	require.ErrorAs(t, settings.RemoveLaunchConfiguration(folder, "lage"), &unknown)
	require.ErrorContains(t, unknown, `did you mean "large"?`)
	require.NoError(t, settings.RemoveLaunchConfiguration(folder, "large"))
	names, err := settings.LaunchConfigurationNames(folder)
	require.NoError(t, err)
	require.Equal(t, []string{"medium"}, names)
}

func TestErrorsOfValuesHaveTheirPlaceInTheFile(t *testing.T) {
	l, err := settings.ReadLaunchConfiguration("x", "x.toml", []byte("[attributes]\ncolour = \"red\"\n  size =   5\n"))
	require.NoError(t, err)
	colour := &control.ValueError{Attribute: "colour", Reason: "no such attribute"}
	size := &attribute.InvalidError{Attribute: "size", Value: "5", Reason: "too small"}
	other := errors.New("something else")
	located := l.Locate(errors.Join(colour, size, other), job.Submission{})
	require.EqualError(t, located, "x.toml:2:1: "+colour.Error()+"\nx.toml:3:12: "+size.Error()+"\nsomething else")
	require.ErrorIs(t, located, error(size))
	require.Equal(t, size, l.Locate(size, job.Submission{Values: values("size", "9")}), "the value is not of the file")
	require.NoError(t, l.Locate(nil, job.Submission{}))
	require.Equal(t, other, (&settings.LaunchConfiguration{}).LocateSetting("target", other), "there is no file")
}

func TestErrorsOfSettingsHaveTheirPlaceInTheFile(t *testing.T) {
	l, err := settings.ReadLaunchConfiguration("x", "x.toml", []byte("executable = \"x\"\n target = \"nowhere\"\ntab = \"X\"\n"))
	require.NoError(t, err)
	unknown := &settings.UnknownTargetError{Name: "nowhere"}
	located := l.LocateSetting("target", unknown)
	require.EqualError(t, located, "x.toml:2:2: "+unknown.Error())
	require.ErrorIs(t, located, error(unknown))
	require.NoError(t, l.LocateSetting("target", nil))
	tab := &form.UnknownPageError{Title: "X"}
	require.EqualError(t, l.Locate(tab, job.Submission{}), "x.toml:3:1: "+tab.Error())
	require.Equal(t, tab, l.Locate(tab, job.Submission{Tab: "X"}), "the tab is not of the file")
}

// variables returns variables of an environment from names and values.
func variables(pairs ...string) job.Environment {
	var environment job.Environment
	for _, value := range values(pairs...) {
		environment.Variables = append(environment.Variables, job.Variable(value))
	}
	return environment
}

func FuzzLaunchConfiguration(f *testing.F) {
	f.Add([]byte("target = \"slurm\"\narguments = ['a', \"b\\n\", 5]\nexecutable = 'x'\n[attributes]\na.b = [true]\nc = { d = 0x1f }\n[environment]\nX = ''"))
	f.Add([]byte("definition = 'a'\nset = ['a=1', 'b=2', 'a=3']\ntab = \"\"\"\nx\"\"\"\n[[attributes]]\n[attributes.a]\nb = 1979-05-27"))
	f.Add([]byte("set = ['a=1', 'b=2', 'a=3']\nattributes.a = 4"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := settings.ReadLaunchConfiguration("x", "x.toml", text)
		if err != nil {
			var wrong *settings.ConfigurationError
			require.ErrorAs(t, err, &wrong)
			return
		}
		for _, value := range l.Values {
			located := l.Locate(&control.ValueError{Attribute: value.Name}, job.Submission{})
			require.ErrorContains(t, located, "x.toml:")
		}
		saved, err := l.TOML()
		require.NoError(t, err)
		again, err := settings.ReadLaunchConfiguration("x", "x.toml", saved)
		require.NoError(t, err, "%s", saved)
		once, err := again.TOML()
		require.NoError(t, err)
		require.Equal(t, string(saved), string(once))
	})
}

// values returns assignments from names and values in turn.
func values(pairs ...string) []job.Assignment {
	var list []job.Assignment
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, job.Assignment{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}
