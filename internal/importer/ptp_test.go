package importer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/importer"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// load reads the first definition of a result with its bases.
func load(t *testing.T, result *importer.Result) (*config.Definition, config.Diagnostics) {
	t.Helper()
	require.NotEmpty(t, result.Files)
	return check.Load(result.Files[0].Name, []byte(result.Files[0].Text), func(name, from string) (string, []byte, error) {
		for _, file := range result.Files {
			if file.Name == name {
				return name, []byte(file.Text), nil
			}
		}
		return check.ReadBase(name, from)
	})
}

// rendered shows the script, the files and the commands of a definition, without those that
// only the other one has.
func rendered(t *testing.T, d, other *config.Definition) string {
	t.Helper()
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Target: "t", Definition: d, Connection: local}).
		Render(job.Submission{Executable: "./a.out", Arguments: []string{"x y"}, Directory: "/work"})
	require.NoError(t, err)
	var text strings.Builder
	fmt.Fprintln(&text, rendering.Script)
	for _, file := range rendering.Files {
		fmt.Fprintf(&text, "%+v\n", file)
	}
	for _, each := range rendering.Commands {
		if other.Command(each.Command.Element) != nil {
			fmt.Fprintf(&text, "%s %q: %q %q %q\n", each.Command.Element, each.Command.Name, each.Arguments, each.Input, each.Directory)
		}
	}
	return text.String()
}

// The definition's own parts stay: no script or command changes.
func TestPTPDefinitionsAreImportedAndRenderTheSame(t *testing.T) {
	shared := os.Getenv("RMCTL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(shared, "definitions", "*.xml"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("the definitions from the field are not in %s; RMCTL_SHARED names the folder that holds them", shared)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".xml"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			original, problems := check.Load("original.xml", source, nil)
			require.NoError(t, problems.Err())
			result, err := importer.Import(file, source, "", "")
			require.NoError(t, err)
			require.Equal(t, importer.PTP, result.Format)
			require.Equal(t, string(source), result.Files[1].Text, "the original stays as it is")
			imported, after := load(t, result)
			require.NoError(t, after.Err())
			require.LessOrEqual(t, len(after), len(problems), "no problem is new: %v", after)
			require.Equal(t, rendered(t, original, original), rendered(t, imported, original))
			require.NotEmpty(t, result.Report)
			for _, remark := range result.Report {
				require.LessOrEqual(t, remark.Line, strings.Count(string(source), "\n")+1)
			}
		})
	}
}

const ptpDefinition = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- Copyright of somebody -->
<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="My Cluster">
  <site-data><control-connection>ssh://ada@login.example.org:22/</control-connection></site-data>
  <control-data>
    <attribute name="wall" type="string"/><attribute name="minutes" type="integer"/><attribute name="p" type="string"/><attribute name="dep"/>
    <script><line><arg>#!/bin/sh</arg></line>
      <line><arg isUndefinedIfMatches="#SBATCH -t">#SBATCH -t ${ptp_rm:wall#value}</arg></line>
      <line><arg isUndefinedIfMatches="#SBATCH --mem=">#SBATCH --mem=${ptp_rm:minutes#value}</arg></line>
      <line><arg isUndefinedIfMatches="#SBATCH --dependency=">#SBATCH --dependency=${ptp_rm:dep#value}</arg></line>
      <line><arg isUndefinedIfMatches="#SBATCH -p">#SBATCH -p ${ptp_rm:p#value}</arg></line></script>
    <submit-batch name="s" waitForId="true"><arg>sbatch ${ptp_rm:managed_file_for_script#value}</arg>
      <stdout-parser delim="\n"><target ref="@jobId"><match><expression>Submitted batch job (\d+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser></submit-batch>
    <get-job-status name="q"><arg>squeue -h -o %%T -j ${ptp_rm:@jobId#name}</arg>
      <stdout-parser delim="\n"><target ref="@jobId"><match><expression>RUNNING</expression><set field="value"><entry value="RUNNING"/></set></match></target></stdout-parser></get-job-status>
  </control-data>
  <monitor-data schedulerType="SLURM"/>
</resource-manager-builder>
`

func TestWhatPTPIgnoresIsReportedAndIgnored(t *testing.T) {
	const source = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="site">
  <control-data>
    <attribute name="queue" colour="red"/>
    <submit-batch name="submit"><arg>qsub</arg></submit-batch>
    <palette/>
  </control-data>
</resource-manager-builder>`
	result, err := importer.Import("site.xml", []byte(source), importer.PTP, "")
	require.NoError(t, err)
	require.Contains(t, result.Files[0].Text, ` x:lenient="true"`)
	_, problems := load(t, result)
	require.NoError(t, problems.Err())
	remarks := fmt.Sprintf("%+v", result.Report)
	require.Contains(t, remarks, `has no attribute "colour"`)
	require.Contains(t, remarks, `"palette" is not an element of the format`)

	_, err = importer.Import("site.xml", []byte(strings.Replace(source, "<palette/>", "<palette/><script/>", 1)), importer.PTP, "")
	require.ErrorContains(t, err, `has no attribute "colour"`, "a script without lines is an error of another kind")
	result, err = importer.Import("site.xml", []byte(strings.NewReplacer("<palette/>", "", ` colour="red"`, "").Replace(source)), importer.PTP, "")
	require.NoError(t, err)
	require.NotContains(t, result.Files[0].Text, "lenient")
}

func TestADefinitionIsExtendedFromTheShippedOne(t *testing.T) {
	result, err := importer.Import("cluster.xml", []byte(ptpDefinition), "", "")
	require.NoError(t, err)
	require.Equal(t, []importer.Target{{Name: "My-Cluster", Definition: "My-Cluster.xml", Transport: "ssh", Host: "login.example.org"}}, result.Targets)
	definition, problems := load(t, result)
	require.NoError(t, problems.Err())
	require.NotNil(t, definition.Command(config.FindJob))
	require.NotNil(t, definition.Command(config.ListJobs))
	require.NotEmpty(t, definition.Outcomes)
	require.NotEmpty(t, definition.Probes)
	require.NotNil(t, definition.Command(config.ListEnded))
	require.Equal(t, "wall", definition.PortableLinks("wallTime")[0].Attribute)
	require.Equal(t, "p", definition.PortableLinks("queue")[0].Attribute)
	require.Len(t, definition.PortableLinks("after"), 2)
	require.Empty(t, definition.PortableLinks("memory"), "a number without a unit")
	require.Empty(t, definition.Proofs, "nobody has tried this one")
	// Attributes of the shipped definition are not offered to users of this one.
	for _, a := range definition.Attributes {
		if a.Visible() {
			require.Contains(t, []string{"wall", "minutes", "p", "dep"}, a.Name())
		}
	}
	require.Contains(t, kinds(result, importer.Lost), "portable name memory")
	require.Contains(t, kinds(result, importer.Lost), "x:fallback")

	// Submissions that the shipped definition would not find are not looked up.
	for from, to := range map[string]string{"<arg>sbatch ": "<arg>our-sbatch ", "${ptp_rm:managed_file_for_script#value}": "job.sh"} {
		result, err = importer.Import("cluster.xml", []byte(strings.Replace(ptpDefinition, from, to, 1)), "", "x")
		require.NoError(t, err)
		definition, _ = load(t, result)
		require.Nil(t, definition.Command(config.FindJob))
		require.Contains(t, kinds(result, importer.Lost), "x:find-job")
	}
}

// kinds returns the subjects of the remarks of a kind.
func kinds(result *importer.Result, kind importer.Kind) []string {
	var subjects []string
	for _, remark := range result.Report {
		if remark.Kind == kind {
			subjects = append(subjects, remark.Subject)
		}
	}
	return subjects
}
