package importer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/importer"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// invocations are the command lines of a definition, by element.
func invocations(t *testing.T, d *config.Definition) map[config.CommandElement]*command.Invocation {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Target: "t", Definition: d, Connection: local}).
		Render(job.Submission{Executable: "./a.out", Directory: "/work"})
	require.NoError(t, err)
	byElement := map[config.CommandElement]*command.Invocation{}
	for _, each := range rendering.Commands {
		byElement[each.Command.Element] = each
	}
	return byElement
}

func TestAClusterOfOpenOnDemandBecomesATarget(t *testing.T) {
	const text = `---
v2:
  metadata:
    title: "Owens Cluster"
    hidden: false
  login:
    host: "owens.example.org"
  job:
    adapter: "slurm"
    cluster: owens
    bin: "/opt/slurm/bin"
    conf: "/etc/slurm/slurm.conf"
    copy_environment: true
    bin_overrides:
      sbatch: "/usr/local/bin/sbatch_wrapper"
      sinfo: "/usr/local/bin/our_sinfo"
  acls:
    - adapter: "group"
  batch_connect: &bc
    basic: {}
`
	result, err := importer.Import("owens.yml", []byte(text), "", "")
	require.NoError(t, err)
	require.Equal(t, importer.OpenOnDemand, result.Format)
	require.Equal(t, []importer.Target{{Name: "Owens-Cluster", Definition: "Owens-Cluster.xml", Transport: "ssh", Host: "owens.example.org", Attributes: map[string]string{"clusters": "owens"}, Environment: map[string]string{
		"PATH": "/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin", "SLURM_CLUSTERS": "owens", "SLURM_CONF": "/etc/slurm/slurm.conf",
	}}}, result.Targets)
	definition, problems := load(t, result)
	require.Empty(t, problems)
	ran := invocations(t, definition)
	submit := ran[config.SubmitBatch]
	require.Equal(t, "/usr/local/bin/sbatch_wrapper", submit.Arguments[0])
	require.NotContains(t, result.Files[0].Text, "<environment", "the target has the variables for all commands")
	require.Equal(t, "/usr/local/bin/our_sinfo", ran[config.ListNodes].Arguments[0])
	require.ElementsMatch(t, []string{"v2.metadata.hidden", "v2.job.copy_environment", "v2.acls", "v2.batch_connect"}, kinds(result, importer.Lost))

	// A site without differences needs no definition; submit_host is the host for submitting
	// jobs.
	result, err = importer.Import("small.yml", []byte("v2:\n  login: {host: a.example.org}\n  job: {adapter: pbspro, submit_host: b.example.org}\n"), "", "")
	require.NoError(t, err)
	require.Empty(t, result.Files)
	require.Equal(t, []importer.Target{{Name: "small", Definition: "pbs", Transport: "ssh", Host: "b.example.org"}}, result.Targets)
}

func TestEachAdapterOfOpenOnDemandLeadsToItsDefinition(t *testing.T) {
	for adapter, definition := range map[string]string{
		"slurm": "slurm", "pbspro": "pbs", "torque": "torque", "sge": "gridengine", "lsf": "lsf", "htcondor": "htcondor", "fujitsu_tcs": "pjm", "flux": "flux",
	} {
		result, err := importer.Import("c.yml", []byte("v2:\n  login: {host: a.example.org}\n  job: {adapter: "+adapter+"}\n"), "", "")
		require.NoError(t, err)
		require.Equal(t, []importer.Target{{Name: "c", Definition: definition, Transport: "ssh", Host: "a.example.org"}}, result.Targets)
	}
}

func TestSitesOfTroikaBecomeTargets(t *testing.T) {
	const text = `sites:
    localhost: {type: direct, connection: local, use_shell: true}
    slurm:
        type: slurm
        connection: ssh
        host: hpc-login
        user: ada
        copy_script: true
        at_startup: ["check_connection"]
        sbatch_command: /opt/bin/sbatch
        ssh_options: ["-o", "X=y"]
    odd: {type: abacus, connection: local}
    far: {type: slurm, connection: pigeon}
`
	result, err := importer.Import("troika.yml", []byte(text), "", "")
	require.NoError(t, err)
	require.Equal(t, importer.Troika, result.Format)
	require.Equal(t, []importer.Target{
		{Name: "localhost", Definition: "local", Transport: "local"},
		{Name: "slurm-troika", Definition: "slurm-troika.xml", Transport: "openssh", Host: "hpc-login"},
	}, result.Targets, "a target does not take a shipped name unasked")
	definition, problems := load(t, result)
	require.Empty(t, problems)
	require.Equal(t, "/opt/bin/sbatch", invocations(t, definition)[config.SubmitBatch].Arguments[0])
	lost := kinds(result, importer.Lost)
	for _, subject := range []string{"sites.slurm.user", "sites.slurm.copy_script", "sites.slurm.at_startup", "sites.slurm.ssh_options", "sites.odd", "sites.far", "sites.localhost.use_shell"} {
		require.Contains(t, lost, subject)
	}
}

// Invalid files are refused with the position of the error.
func TestInvalidFilesAreRefusedWithTheirPosition(t *testing.T) {
	for want, text := range map[string]string{
		"f: unknown format":                                             "hello",
		"f:1:1: the file is empty (xml-syntax)":                         "",
		"f:2:3: \"x\" is not an element of the format":                  "<resource-manager-builder xmlns=\"http://eclipse.org/ptp/rm\">\n  <x/></resource-manager-builder>",
		"f:4: did not find expected node content":                       "v2:\n  job:\n  - a: [\n  b: {",
		"f:1:5: v2 must be a mapping":                                   "v2: [1]",
		"f:2:8: v2.job must be a mapping":                               "v2:\n  job: x",
		"f:1:12: v2.job.adapter is missing":                             "v2: { job: {} }",
		"f:3:14: no definition for adapter \"linux_host\"":              "v2:\n  job:\n    adapter: linux_host",
		"f:4:10: v2.job.bin: invalid path \"/a b;rm\"":                  "v2:\n  job:\n    adapter: slurm\n    bin: \"/a b;rm\"",
		"f:2:17: v2.login.host: invalid host name \"-oProxyCommand=x\"": "v2:\n  login: {host: -oProxyCommand=x}\n  job: {adapter: slurm}",
		"unsupported second document":                                   "v2: {}\n---\nv2: {}",
		"f:1:8: sites must be a mapping":                                "sites: 3",
		"f:2:2: sites.a has no type":                                    "sites:\n a: {}",
		"f:2:29: sites.a.host: invalid host name \"x y\"":               "sites:\n a: {connection: ssh, host: 'x y', type: pbs}",
		"larger than 1048576 bytes":                                     "v2: {}" + strings.Repeat("#", 1<<20),
		"not UTF-8":                                                     "v2: {}\xff",
	} {
		format := importer.Format("")
		if text == "" {
			format = importer.PTP
		}
		result, err := importer.Import("f", []byte(text), format, "")
		require.Error(t, err, text[:min(len(text), 80)])
		require.Nil(t, result)
		require.ErrorContains(t, err, want)
	}
	_, err := importer.Import("f", []byte("v2: {}"), "", "../x")
	require.ErrorContains(t, err, "invalid target name")
}

// Any file gives a loadable result or an error.
func FuzzImport(f *testing.F) {
	f.Add([]byte(ptpDefinition))
	f.Add([]byte("v2:\n  login: {host: a}\n  job: {adapter: slurm, bin: /x, bin_overrides: {sbatch: /y}}\n"))
	f.Add([]byte("sites:\n a: &x {type: slurm, sbatch_command: /x}\n b: *x\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		for _, format := range append(importer.Formats(), "") {
			result, err := importer.Import("file.x", source, format, "")
			if (err == nil) == (result == nil) {
				t.Fatal("either a result or an error")
			}
		}
	})
}
