package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
)

// folders returns configuration folders with the texts of both targets files.
func folders(t *testing.T, site, user string) settings.Folders {
	t.Helper()
	f := settings.Folders{Site: t.TempDir(), User: t.TempDir()}
	require.NoError(t, os.Chmod(f.Site, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(f.Site, settings.TargetsFile), []byte(site), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(f.User, settings.TargetsFile), []byte(user), 0o600))
	return f
}

func load(t *testing.T, f settings.Folders) *settings.Targets {
	t.Helper()
	targets, err := settings.LoadTargets(f)
	require.NoError(t, err)
	return targets
}

func find(t *testing.T, targets *settings.Targets, name string) settings.Target {
	t.Helper()
	target, err := targets.Find(name)
	require.NoError(t, err)
	return target
}

func TestTheUsersFileExtendsAndOverridesTheSitesFile(t *testing.T) {
	f := folders(t, `
default = "big"
background = false
[targets.big]
definition = "big.xml"
transport = "ssh"
host = "login.example.org"
[targets.big.attributes]
account = "all"
partition = "batch"
[targets.small]
definition = "pbs"
`, `
background = true
[targets.big]
host = "ada@login.example.org"
[targets.big.attributes]
account = "ada"
[targets.mine]
definition = "mine.xml"
`)
	targets := load(t, f)
	require.Equal(t, "big", targets.Default)
	require.True(t, targets.Background)
	require.Equal(t, settings.Target{
		Name: "big", Definition: filepath.Join(f.Site, "big.xml"), Transport: "ssh", Host: "ada@login.example.org",
		Attributes: map[string]string{"account": "ada", "partition": "batch"}, From: []settings.Origin{settings.OriginSite, settings.OriginUser},
	}, find(t, targets, ""))
	require.Equal(t, []settings.Origin{settings.OriginSite}, find(t, targets, "small").From)
	require.Equal(t, filepath.Join(f.User, "mine.xml"), find(t, targets, "mine").Definition)
	require.True(t, find(t, targets, "slurm").Shipped)
	require.Empty(t, targets.Refused())
}

func TestAUserCanMoveATargetOfTheSiteToThisMachine(t *testing.T) {
	targets := load(t, folders(t, "[targets.big]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\nssh_config = \"config\"\n", "[targets.big]\ntransport = \"local\"\n"))
	big := find(t, targets, "big")
	require.Equal(t, settings.TransportLocal, big.Transport)
	require.Empty(t, big.Host+big.SSHConfig)
}

func TestLockedSettingsOfTheUsersFileHaveNoEffect(t *testing.T) {
	const site = `
default = "big"
background = false
%s
[targets.big]
definition = "slurm"
transport = "ssh"
host = "login"
[targets.big.attributes]
account = "all"
`
	for locked, c := range map[string]struct{ user, refused string }{
		"default":    {`default = "local"`, "default has no effect"},
		"background": {`background = true`, "background has no effect"},
		"definition": {"[targets.big]\ndefinition = \"pbs\"", `target "big": definition has no effect`},
		"transport":  {"[targets.big]\ntransport = \"local\"", `target "big": transport has no effect`},
		"host":       {"[targets.big]\nhost = \"other\"", `target "big": host has no effect`},
		"ssh_config": {"[targets.big]\nhost = \"other\"", `target "big": host has no effect`},
		"attributes": {"[targets.big.attributes]\naccount = \"all\"\npartition = \"x\"", `target "big": attributes.partition has no effect`},
	} {
		t.Run(locked, func(t *testing.T) {
			f := folders(t, fmt.Sprintf(site, `locked = ["`+locked+`"]`), c.user)
			targets := load(t, f)
			require.Len(t, targets.Refused(), 1)
			for _, part := range []string{filepath.Join(f.User, settings.TargetsFile) + ": ", c.refused, ": locked by " + filepath.Join(f.Site, settings.TargetsFile)} {
				require.Contains(t, targets.Refused()[0], part)
			}
			require.Equal(t, "big", targets.Default)
			require.False(t, targets.Background)
			big := find(t, targets, "big")
			require.Equal(t, "slurm ssh login", big.Definition+" "+big.Transport+" "+big.Host)
			require.Equal(t, map[string]string{"account": "all"}, big.Attributes)

			free := load(t, folders(t, fmt.Sprintf(site, ""), c.user))
			require.Empty(t, free.Refused())
			changed := find(t, free, "big")
			require.False(t, free.Default == "big" && !free.Background && settings.HaveSamePlace(changed, big) && len(changed.Attributes) == 1, "without the lock it has an effect")
		})
	}
}

func TestRepeatingALockedSettingIsAllowed(t *testing.T) {
	const text = "default = \"big\"\nbackground = false\n[targets.big]\ndefinition = \"slurm\"\n[targets.big.attributes]\naccount = \"all\"\n"
	require.Empty(t, load(t, folders(t, "locked = [\"default\", \"background\", \"definition\", \"transport\", \"attributes\"]\n"+text, text)).Refused())
}

func TestIntervalsOfBothFiles(t *testing.T) {
	const site = `
interval = "20s"
share_answers = "3s"
%s
[targets.local]
interval = "1s"
[targets.big]
definition = "slurm"
transport = "ssh"
host = "login"
interval = "1m"
`
	const user = `
interval = "10s"
[targets.big]
interval = "30s"
share_answers = "2s"
[targets.mine]
definition = "mine.xml"
transport = "ssh"
host = "login"
[targets.slow]
definition = "slurm"
interval = "5m"
`
	const mine = "[targets.local]\ndefinition = \"mine.xml\"\n"
	for name, c := range map[string]struct {
		locked, user, target string
		interval, answers    time.Duration
		refused              int
	}{
		"a target of the site":                        {"", "", "big", time.Minute, 3 * time.Second, 0},
		"a shipped target":                            {"", "", "slurm", 20 * time.Second, 3 * time.Second, 0},
		"a shipped target with one of its own":        {"", "", "local", time.Second, 3 * time.Second, 0},
		"a shorter one of a user":                     {"", user, "big", 30 * time.Second, 2 * time.Second, 0},
		"a shorter one for all targets":               {"", user, "slurm", 10 * time.Second, 3 * time.Second, 0},
		"a locked one":                                {"interval", user, "big", time.Minute, 2 * time.Second, 2},
		"a locked one for all targets":                {"interval", user, "slurm", 20 * time.Second, 3 * time.Second, 2},
		"a longer one":                                {"interval", user, "slow", 5 * time.Minute, 3 * time.Second, 2},
		"a new target for the same host":              {"interval", user, "mine", time.Minute, 3 * time.Second, 2},
		"locked answers":                              {"share_answers", user, "big", 30 * time.Second, 3 * time.Second, 1},
		"another definition for an exempt target":     {"interval", mine, "local", 20 * time.Second, 3 * time.Second, 0},
		"an exempt target with the same definition":   {"interval", "[targets.local.attributes]\na = \"1\"\n", "local", time.Second, 3 * time.Second, 0},
		"a target with the name of a shipped one":     {"interval", "[targets.slurm]\ninterval = \"1s\"\n", "slurm", 20 * time.Second, 3 * time.Second, 1},
		"another definition for a target of the site": {"interval", "[targets.big]\ndefinition = \"x.xml\"\ntransport = \"local\"\ninterval = \"1s\"\n", "big", 20 * time.Second, 3 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			lock := ""
			if c.locked != "" {
				lock = `locked = ["` + c.locked + `"]`
			}
			targets := load(t, folders(t, fmt.Sprintf(site, lock), c.user))
			target := find(t, targets, c.target)
			require.Equal(t, c.interval, target.LeastInterval())
			require.Equal(t, c.answers, target.SharedAnswers())
			require.Len(t, targets.Refused(), c.refused, "%v", targets.Refused())
		})
	}
	locked := load(t, folders(t, fmt.Sprintf(site, `locked = ["interval"]`), user))
	free := locked.Limited(settings.Target{Name: "x", Definition: "x.xml", Transport: "local"})
	require.Equal(t, 20*time.Second, free.LeastInterval(), "a definition without a target")
}

func TestASitesFileThatOthersCanWriteIsRefused(t *testing.T) {
	for _, mode := range []os.FileMode{0o664, 0o646} {
		f := folders(t, "", "")
		require.NoError(t, os.Chmod(filepath.Join(f.Site, settings.TargetsFile), mode))
		_, err := settings.LoadTargets(f)
		require.ErrorContains(t, err, "chmod go-w "+filepath.Join(f.Site, settings.TargetsFile))
	}
	f := folders(t, "", "")
	require.NoError(t, os.Chmod(f.Site, 0o777))
	_, err := settings.LoadTargets(f)
	require.ErrorContains(t, err, "chmod go-w "+f.Site)
	_, err = settings.InspectSite(f.Site)
	require.ErrorContains(t, err, "chmod go-w "+f.Site)
}

func TestAWorldWritableUsersFileIsRefused(t *testing.T) {
	f := folders(t, "", "[targets.mine]\ndefinition = \"slurm\"\n")
	for _, path := range []string{filepath.Join(f.User, settings.TargetsFile), f.User} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, info.Mode()|0o020))
		load(t, f) // a user may have a private group
		require.NoError(t, os.Chmod(path, info.Mode()|0o002))
		_, err = settings.LoadTargets(f)
		require.ErrorContains(t, err, "chmod o-w "+path)
		require.NoError(t, os.Chmod(path, info.Mode()))
	}
}

func TestErrorsInTheSitesFileNameThatFile(t *testing.T) {
	for text, want := range map[string]string{
		"interval = 5":              `invalid duration "5"`,
		"interval = \"0s\"":         `:1:12: invalid duration`,
		"interval = \"9000h\"":      `:1:12: invalid duration`,
		"share_answers = \"500ms\"": "share_answers must be at least 1s",
		"locked = [\"intervall\"]": `cannot lock "intervall"
did you mean "interval"?`,
		"locked = [\"colour\"]": `cannot lock "colour"
choose one of default, background, interval`,
		"default = \"mine\"":                                             `unknown default target "mine"`,
		"[targets.big]\ninterval = \"1m\"\n":                             `target "big": definition or agent is missing`,
		"[targets.b]\ndefinition = \"slurm\"\nshare_answers = \"1ms\"\n": `target "b": share_answers must be at least 1s`,
	} {
		f := folders(t, text, "[targets.mine]\ndefinition = \"slurm\"\n")
		_, err := settings.LoadTargets(f)
		var wrong *settings.ConfigurationError
		require.ErrorAs(t, err, &wrong, text)
		require.Equal(t, filepath.Join(f.Site, settings.TargetsFile), wrong.File)
		require.ErrorContains(t, err, want)
		_, err = settings.InspectSite(f.Site)
		require.ErrorContains(t, err, want)
	}
}

func TestTheUsersFileCannotLockSettings(t *testing.T) {
	_, err := settings.LoadTargets(folders(t, "", `locked = ["interval"]`))
	require.ErrorContains(t, err, "locked is only allowed in the file for all users")
}

func TestTheUsersFileHasOnlyWhatDiffersFromTheSite(t *testing.T) {
	f := folders(t, "[targets.big]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\ninterval = \"1m\"\n[targets.big.attributes]\naccount = \"all\"\n", "")
	big := find(t, load(t, f), "big")
	big.Attributes["partition"] = "debug"
	require.NoError(t, settings.SaveTargets(t.Context(), f, big))
	text, err := os.ReadFile(filepath.Join(f.User, settings.TargetsFile))
	require.NoError(t, err)
	require.Equal(t, "[targets.big]\n[targets.big.attributes]\npartition = 'debug'\n", string(text))
	require.Equal(t, map[string]string{"account": "all", "partition": "debug"}, find(t, load(t, f), "big").Attributes)

	var exists *settings.TargetExistsError
	require.ErrorAs(t, settings.AddTargets(t.Context(), f, settings.Target{Name: "big", Definition: "pbs"}), &exists)
}

func TestTheEnvironmentOfATargetOfTheSiteCanBeLocked(t *testing.T) {
	const site = "[targets.big]\ndefinition = \"slurm\"\n[targets.big.environment]\nCONF = \"/etc/big\"\nMODE = \"a\"\n"
	const user = "[targets.big.environment]\nCONF = \"/etc/big\"\nMODE = \"b\"\nMINE = \"c\"\n"
	targets := load(t, folders(t, site, user))
	require.Equal(t, map[string]string{"CONF": "/etc/big", "MODE": "b", "MINE": "c"}, find(t, targets, "big").Environment)
	targets = load(t, folders(t, "locked = [\"environment\"]\n"+site, user))
	require.Equal(t, map[string]string{"CONF": "/etc/big", "MODE": "a"}, find(t, targets, "big").Environment)
	require.Len(t, targets.Refused(), 2)
	require.Contains(t, targets.Refused()[0], `target "big": environment.MINE has no effect`)
}

func TestALockedSettingCannotBeSaved(t *testing.T) {
	f := folders(t, "locked = [\"host\", \"interval\"]\n[targets.big]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\ninterval = \"1m\"\n", "# mine\n")
	for setting, change := range map[string]func(*settings.Target){
		"host":     func(target *settings.Target) { target.Host = "other" },
		"interval": func(target *settings.Target) { target.Interval = settings.Duration{Duration: time.Second} },
	} {
		big := find(t, load(t, f), "big")
		change(&big)
		require.ErrorContains(t, settings.SaveTargets(t.Context(), f, big), `target "big": `+setting+" has no effect")
		text, err := os.ReadFile(filepath.Join(f.User, settings.TargetsFile))
		require.NoError(t, err)
		require.Equal(t, "# mine\n", string(text))
	}
}

func TestTargetsSayWhereTheyComeFromAndWhatIsLocked(t *testing.T) {
	targets := load(t, folders(t, "default = \"big\"\ninterval = \"20s\"\nlocked = [\"default\", \"interval\", \"host\", \"background\"]\n[targets.big]\ndefinition = \"slurm\"\n", "[targets.mine]\ndefinition = \"pbs\"\n"))
	documents := map[string]settings.TargetDocument{}
	for _, document := range targets.Documents() {
		documents[document.Name] = document
	}
	require.Equal(t, settings.TargetDocument{
		Name: "big", Definition: "slurm", Transport: "local", Default: true, From: []settings.Origin{settings.OriginSite},
		Interval: settings.Duration{Duration: 20 * time.Second}, Locked: []string{"default", "interval", "transport", "host", "ssh_config"},
	}, documents["big"])
	require.Equal(t, []string{"interval"}, documents["mine"].Locked)
	require.Equal(t, []settings.Origin{settings.OriginUser}, documents["mine"].From)
	require.Equal(t, []settings.Origin{settings.OriginShipped}, documents["slurm"].From)
}
