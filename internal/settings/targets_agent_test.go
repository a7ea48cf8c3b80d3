package settings_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/settings"
)

func TestATargetMayNameAnAgentInPlaceOfADefinition(t *testing.T) {
	targets := load(t, folders(t, "", `
[targets.pe]
agent = ["/opt/ptp/bin/ptp_ibmpe_proxy", "--debug=1"]
proxy = "tcp"
[targets.other]
agent = "rmctl"
transport = "ssh"
host = "login"
[targets.slurm]
agent = ["wrapped"]
`))
	pe := find(t, targets, "pe")
	require.Equal(t, settings.Agent{"/opt/ptp/bin/ptp_ibmpe_proxy", "--debug=1"}, pe.Agent)
	require.Equal(t, settings.ProxyTCP, pe.Proxy)
	require.Empty(t, pe.Definition)
	require.Equal(t, settings.OwnAgent(), find(t, targets, "other").Agent)
	require.Empty(t, find(t, targets, "slurm").Definition, "the agent replaces the shipped definition")
	require.False(t, settings.HaveSamePlace(pe, find(t, targets, "slurm")))
}

func TestAnAgentThatContradictsTheTargetIsReportedWithItsPosition(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		line       int
	}{
		"beside a definition":    {"[targets.big]\ndefinition = \"slurm\"\nagent = [\"a\"]\n", "targets.toml:3:1: target \"big\": definition and agent exclude each other", 3},
		"neither":                {"[targets.big]\ntransport = \"local\"\n", "targets.toml:1:2: target \"big\": definition or agent is missing", 1},
		"a proxy alone":          {"[targets.big]\nproxy = \"tcp\"\n", "targets.toml:2:1: target \"big\": proxy requires an agent", 2},
		"a proxy of a shipped":   {"[targets.slurm]\nproxy = \"tcp\"\n", "targets.toml:2:1: target \"slurm\": proxy requires an agent", 2},
		"an unknown proxy":       {"[targets.big]\nagent = [\"a\"]\nproxy = \"udp\"\n", "targets.toml:3:1: target \"big\": unknown proxy \"udp\": use \"stdio\" or \"tcp\"", 3},
		"without a program":      {"[targets.big]\nagent = []\n", "targets.toml:2:1: target \"big\": the agent has no program", 2},
		"an option as program":   {"[targets.big]\nagent = [\"-x\"]\n", "invalid program \"-x\" of the agent", 2},
		"a NUL":                  {"[targets.big]\nagent = [\"a\", \"b\\u0000\"]\n", "or a NUL", 2},
		"another text":           {"[targets.big]\nagent = \"ptp\"\n", "invalid agent \"ptp\": use \"rmctl\", or a list", 2},
		"rmctl over TCP":         {"[targets.big]\nagent = \"rmctl\"\nproxy = \"tcp\"\n", "invalid proxy \"tcp\": agent = \"rmctl\" supports only \"stdio\"", 3},
		"in an inline table":     {"targets.big = {agent = [\"a\"], proxy = \"udp\"}\n", "unknown proxy", 0},
		"a number":               {"[targets.big]\nagent = 3\n", "invalid agent \"3\"", 0},
		"dotted keys at the top": {"[targets]\nbig.agent = [\"a\"]\nbig.proxy = \"udp\"\n", "targets.toml:3:1:", 3},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := targets(t, c.text)
			var wrong *settings.ConfigurationError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, c.line, wrong.Line)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestLockingTheDefinitionLocksTheAgent(t *testing.T) {
	targets := load(t, folders(t, `
locked = ["definition"]
[targets.big]
definition = "slurm"
[targets.pe]
agent = ["pe"]
proxy = "tcp"
`, `
[targets.big]
agent = ["mine"]
proxy = "tcp"
[targets.pe]
definition = "slurm"
`))
	require.Equal(t, "slurm", find(t, targets, "big").Definition)
	require.False(t, find(t, targets, "big").Agent != nil)
	require.Equal(t, settings.Agent{"pe"}, find(t, targets, "pe").Agent)
	require.Equal(t, settings.ProxyTCP, find(t, targets, "pe").Proxy)
	require.Len(t, targets.Refused(), 3)
	for _, document := range targets.Documents() {
		if document.Name == "big" || document.Name == "pe" {
			require.Equal(t, []string{"definition", "agent", "proxy"}, document.Locked)
		}
	}
}

func TestTheUsersFileReplacesADefinitionByAnAgentAndBack(t *testing.T) {
	targets := load(t, folders(t, `
[targets.big]
definition = "slurm"
[targets.pe]
agent = ["pe"]
proxy = "tcp"
`, `
[targets.big]
agent = ["mine"]
[targets.pe]
definition = "slurm"
`))
	require.Equal(t, settings.Agent{"mine"}, find(t, targets, "big").Agent)
	require.Empty(t, find(t, targets, "big").Definition)
	require.Equal(t, "slurm", find(t, targets, "pe").Definition)
	require.Empty(t, find(t, targets, "pe").Proxy)
}

func TestAnAgentIsWrittenAndReadBack(t *testing.T) {
	folder, read := targetsFile(t, "")
	wanted := settings.Target{Name: "pe", Agent: settings.Agent{"/opt/pe", "a b"}, Proxy: settings.ProxyTCP}
	require.NoError(t, settings.AddTargets(t.Context(), settings.Folders{User: folder}, wanted))
	require.Equal(t, "[targets.pe]\nagent = ['/opt/pe', 'a b']\nproxy = 'tcp'\n", read())
	targets, err := settings.LoadTargets(settings.Folders{User: folder})
	require.NoError(t, err)
	document, err := json.Marshal(targets.Documents())
	require.NoError(t, err)
	require.Contains(t, string(document), `"agent":["/opt/pe","a b"],"proxy":"tcp"`)
}

func TestAnAgentInJSONIsATextOrAList(t *testing.T) {
	var target settings.Target
	require.NoError(t, json.Unmarshal([]byte(`{"agent":"rmctl"}`), &target))
	require.Equal(t, settings.OwnAgent(), target.Agent)
	require.NoError(t, json.Unmarshal([]byte(`{"agent":["a","b"]}`), &target))
	require.Equal(t, settings.Agent{"a", "b"}, target.Agent)
	require.Error(t, json.Unmarshal([]byte(`{"agent":"a"}`), &target))
}
