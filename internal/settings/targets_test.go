package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/rms"
)

// targets loads a configuration of that text.
func targets(t *testing.T, text string) (*settings.Targets, string, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.TargetsFile), []byte(text), 0o600))
	loaded, err := settings.LoadTargets(settings.Folders{User: folder})
	return loaded, folder, err
}

func TestShippedDefinitionsAreTargetsWithoutConfiguration(t *testing.T) {
	loaded, err := settings.LoadTargets(settings.Folders{User: filepath.Join(t.TempDir(), "missing")})
	require.NoError(t, err)
	require.ElementsMatch(t, rms.Names(), loaded.Names())
	target, err := loaded.Find("")
	require.NoError(t, err)
	require.Equal(t, settings.Target{Name: "local", Definition: "local", Transport: "local", Shipped: true}, target)
}

func TestTargetsAreReadFromTheConfiguration(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	loaded, folder, err := targets(t, `
default = "big"
[targets.big]
definition = "slurm"
transport = "ssh"
host = "login.example.org"
ssh_config = "~/.ssh/other"
[targets.big.attributes]
account = "proj7"
[targets.big.environment]
SLURM_CONF = "/etc/slurm/big.conf"
[targets.mine]
definition = "site/mine.xml"
[targets.elsewhere]
definition = "/etc/rmctl/site.xml"
[targets.slurm]
definition = "slurm"
[targets.slurm.attributes]
partition = "debug"
`)
	require.NoError(t, err)
	big, err := loaded.Find("")
	require.NoError(t, err)
	require.Equal(t, settings.Target{Name: "big", Definition: "slurm", Transport: "ssh", Host: "login.example.org", SSHConfig: "/home/ada/.ssh/other", Attributes: map[string]string{"account": "proj7"}, Environment: map[string]string{"SLURM_CONF": "/etc/slurm/big.conf"}, From: []settings.Origin{settings.OriginUser}}, big)
	mine, err := loaded.Find("mine")
	require.NoError(t, err)
	require.Equal(t, settings.Target{Name: "mine", Definition: filepath.Join(folder, "site/mine.xml"), Transport: "local", From: []settings.Origin{settings.OriginUser}}, mine, "files are relative to the configuration")
	elsewhere, err := loaded.Find("elsewhere")
	require.NoError(t, err)
	require.Equal(t, "/etc/rmctl/site.xml", elsewhere.Definition)
	slurm, err := loaded.Find("slurm")
	require.NoError(t, err)
	require.False(t, slurm.Shipped, "a target of a shipped definition's name replaces it")
	require.Equal(t, "debug", slurm.Attributes["partition"])
}

func TestAMistypedSettingGetsASuggestion(t *testing.T) {
	for text, want := range map[string]string{
		"defualt = \"local\"": `targets.toml:1:1: unknown setting "defualt"
did you mean "default"?`,
		"[targets.b]\ndefinition = \"local\"\ntransprt = \"ssh\"": `targets.toml:3:1: unknown setting "targets.b.transprt"
did you mean "transport"?`,
		"[targets.b]\ndefinition = \"local\"\ntimeout = 5": `unknown setting "targets.b.timeout"
choose one of definition, transport, host, ssh_config, attributes, environment`,
		"[target.b]\ndefinition = \"local\"": `unknown setting "target.b"
did you mean "targets"?`,
		"colour = true": `unknown setting "colour"
choose one of default, background, interval, share_answers, locked, targets`,
	} {
		_, _, err := targets(t, text)
		require.ErrorContains(t, err, want)
	}
}

func TestInvalidConnectionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ settings, want string }{
		"an unknown transport":          {`transport = "telnet"` + "\n" + `host = "a"`, `unknown transport "telnet": use "local", "ssh" or "openssh"`},
		"no host":                       {`transport = "ssh"`, `transport "ssh" requires a host`},
		"a host without transport":      {`host = "login"`, `host and ssh_config require transport = "ssh"`},
		"an ssh_config for no host":     {`ssh_config = "x"`, `host and ssh_config require`},
		"a host like an option":         {`transport = "openssh"` + "\n" + `host = "-oProxyCommand=id"`, `invalid host name`},
		"a host with a control in it":   {`transport = "ssh"` + "\n" + `host = "a\u001bb"`, `invalid host name`},
		"a name that no variable has":   {"[targets.big.environment]\n\"A=B\" = \"c\"", `target "big": invalid name "A=B" of an environment variable`},
		"a value with a NUL":            {"[targets.big.environment]\nA = \"b\\u0000c\"", `the value of environment variable A has`},
		"a background that is not true": {"[targets.b]\nbackground = true", "unknown setting"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := targets(t, "[targets.big]\ndefinition = \"slurm\"\n"+c.settings)
			var wrong *settings.ConfigurationError
			require.ErrorAs(t, err, &wrong)
			require.ErrorContains(t, err, c.want)
			require.Contains(t, wrong.File, settings.TargetsFile)
		})
	}
}

func TestTheBackgroundProcessCanBeDisabled(t *testing.T) {
	loaded, _, err := targets(t, "")
	require.NoError(t, err)
	require.True(t, loaded.Background)
	loaded, _, err = targets(t, "background = false")
	require.NoError(t, err)
	require.False(t, loaded.Background)
}

func TestAnUnknownTargetIsReportedWithTheKnownOnes(t *testing.T) {
	loaded, _, err := targets(t, `[targets.big]
definition = "slurm"`)
	require.NoError(t, err)
	_, err = loaded.Find("bigger")
	var unknown *settings.UnknownTargetError
	require.ErrorAs(t, err, &unknown)
	require.ErrorContains(t, err, `unknown target "bigger"`)
	require.ErrorContains(t, err, "big, ")
}

func TestInvalidConfigurationsAreReportedWithTheirPosition(t *testing.T) {
	for name, c := range map[string]struct {
		text, want   string
		line, column int
	}{
		"no TOML":                     {"default = \n", "", 1, 0},
		"a setting that is unknown":   {"[targets.big]\ndefinition = \"slurm\"\nhots = \"x\"\n", `unknown setting "targets.big.hots"`, 3, 1},
		"a setting at the top":        {"defualt = \"big\"\n", `unknown setting "defualt"`, 1, 1},
		"a number instead of a text":  {"[targets.big]\ndefinition = 3\n", "", 2, 0},
		"a list as an attribute":      {"[targets.big]\ndefinition = \"slurm\"\n[targets.big.attributes]\nnodes = [1]\n", "", 4, 0},
		"no definition":               {"[targets.big]\nhost = \"x\"\n", `"big": definition or agent is missing`, 1, 2},
		"a default that is no target": {"default = \"big\"\n", `default target "big"`, 0, 0},
		"a target given twice":        {"[targets.big]\ndefinition = \"slurm\"\n[targets.big]\n", "", 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, folder, err := targets(t, c.text)
			var wrong *settings.ConfigurationError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, filepath.Join(folder, "targets.toml"), wrong.File)
			require.Equal(t, c.line, wrong.Line)
			if c.column > 0 {
				require.Equal(t, c.column, wrong.Column)
			}
			require.ErrorContains(t, err, c.want)
			if c.line > 0 {
				require.ErrorContains(t, err, fmt.Sprintf("targets.toml:%d:", c.line))
			}
		})
	}
}

func TestAConfigurationThatCannotBeReadIsReported(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, settings.TargetsFile), 0o700))
	_, err := settings.LoadTargets(settings.Folders{User: folder})
	var wrong *settings.ConfigurationError
	require.ErrorAs(t, err, &wrong)
}

func FuzzConfiguration(f *testing.F) {
	f.Add("default = \"a\"\n[targets.a]\ndefinition = \"slurm\"\n[targets.a.attributes]\nx = \"1\"\n")
	f.Add("[targets]\na.b = 1\n")
	f.Add("[targets.a]\ndefinition = \"../x.xml\"\ntransport = \"ssh\"\n")
	f.Add("targets = []\n")
	f.Add("[targets.slurm]\nagent = [\"a\"]\nproxy = \"tcp\"\n")
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, settings.TargetsFile), []byte(text), 0o600))
		loaded, err := settings.LoadTargets(settings.Folders{User: folder})
		if err != nil {
			var wrong *settings.ConfigurationError
			require.ErrorAs(t, err, &wrong)
			return
		}
		for _, name := range loaded.Names() {
			target, err := loaded.Find(name)
			require.NoError(t, err)
			require.Equal(t, name, target.Name)
			require.NotEqual(t, target.Definition != "", target.Agent != nil)
			require.NotEmpty(t, target.Transport)
		}
		_, err = loaded.Find("")
		require.NoError(t, err)
	})
}

func TestDefinitionsAreFoundByNameAndByFile(t *testing.T) {
	shipped, problems, err := check.LoadDefinition("slurm")
	require.NoError(t, err)
	require.NoError(t, problems.Err())
	require.Equal(t, "slurm.xml", shipped.File)

	usable, problems, err := check.UsableDefinition("slurm")
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, shipped.Name, usable.Name)

	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("mine.xml", shipped.Sources[0], 0o600))
	require.NoError(t, os.WriteFile("bare", shipped.Sources[0], 0o600))
	for _, name := range []string{"mine.xml", "./mine.xml", "bare"} {
		found, _, err := check.UsableDefinition(name)
		require.NoError(t, err, name)
		require.Equal(t, shipped.Name, found.Name)
		require.Equal(t, name, found.File)
	}
}

func TestDefinitionsThatCannotBeReadAreReported(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("folder.xml", 0o700))
	require.NoError(t, syscall.Mkfifo("pipe.xml", 0o600))
	require.NoError(t, os.WriteFile("broken.xml", []byte("<resource-manager-builder"), 0o600))
	require.NoError(t, os.WriteFile("huge.xml", nil, 0o600))
	require.NoError(t, os.Truncate("huge.xml", 65<<20))
	for name, want := range map[string]string{
		"slrum": "neither a shipped definition", "missing.xml": "no such file", "folder.xml": "not a regular file", "pipe.xml": "not a regular file",
		"huge.xml": "more than 67108864", "broken.xml": "broken.xml:1:",
	} {
		_, _, err := check.UsableDefinition(name)
		require.ErrorContains(t, err, want, name)
	}
}
