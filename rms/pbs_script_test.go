package rms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// PBS stops reading directives at the first command of a script.
func TestPBSScriptPutsTheEnvironmentBehindAllDirectives(t *testing.T) {
	script := shippedDefinition(t, "pbs").Script
	for i, line := range script.Lines {
		if i == 0 {
			continue
		}
		require.Equal(t, i <= script.InsertEnvironmentAfter, strings.HasPrefix(line.Arguments[0].Text, "#PBS "), "line %d", i)
	}
}

// pbsDirectives holds a value for every attribute that a user may set, and the
// directive that it makes.
var pbsDirectives = []struct{ name, value, directive string }{
	{"shell", "/bin/tcsh", "-S /bin/tcsh"},
	{"job-name", "Run_1.a+b-c", "-N Run_1.a+b-c"},
	{"queue", "gpu-test@pbs01", "-q gpu-test@pbs01"},
	{"account", "proj7", "-A proj7"},
	{"project", "physics", "-P physics"},
	{"select", "2:ncpus=16:mem=32gb:host=n-1.example.org+1:ncpus=4", "-l select=2:ncpus=16:mem=32gb:host=n-1.example.org+1:ncpus=4"},
	{"place", "scatter:excl:group=rack", "-l place=scatter:excl:group=rack"},
	{"nodes", "2:ppn=8+n01", "-l nodes=2:ppn=8+n01"},
	{"ncpus", "12", "-l ncpus=12"},
	{"mem", "4gb", "-l mem=4gb"},
	{"walltime", "100:00:00", "-l walltime=100:00:00"},
	{"resources", "cput=01:00:00,nice=10", "-l cput=01:00:00,nice=10"},
	{"array", "1-9:2%2", "-J 1-9:2%2"},
	{"depend", "afterok:34[].pbs01:35,beforeany:36.pbs01", "-W depend=afterok:34[].pbs01:35,beforeany:36.pbs01"},
	{"begin-time", "203012312359.30", "-a 203012312359.30"},
	{"hold", "true", "-h"},
	{"priority", "-1024", "-p -1024"},
	{"rerunable", "n", "-r n"},
	{"run-count", "3", "-W run_count=3"},
	{"checkpoint", "c=10", "-c c=10"},
	{"output-path", "/scratch/run/out.txt", "-o /scratch/run/out.txt"},
	{"error-path", "/scratch/run/err.txt", "-e /scratch/run/err.txt"},
	{"join", "eo", "-j eo"},
	{"keep", "oed", "-k oed"},
	{"remove-files", "oe", "-R oe"},
	{"mail-options", "abe", "-m abe"},
	{"mail-users", "a@example.org,b@example.org", "-M a@example.org,b@example.org"},
	{"user-list", "me@n01,you", "-u me@n01,you"},
	{"group-list", "staff@n01", "-W group_list=staff@n01"},
	{"umask", "0027", "-W umask=0027"},
	{"sandbox", "PRIVATE", "-W sandbox=PRIVATE"},
	{"stagein", "in.dat@files:/data/in.dat", "-W stagein=in.dat@files:/data/in.dat"},
	{"stageout", "out.dat@files:/data/out.dat,log@files:/data/log", "-W stageout=out.dat@files:/data/out.dat,log@files:/data/log"},
	{"export-all", "yes", "-V"},
	{"variables", "A=1,B,C=x:y", "-v A=1,B,C=x:y"},
}

func TestPBSEveryAttributeMakesItsDirective(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	covered := map[string]bool{}
	for _, test := range pbsDirectives {
		covered[test.name] = true
		script, err := renderPBS(t, definition, test.name, test.value)
		require.NoError(t, err, test.name)
		require.Equal(t, 1, strings.Count(script, "\n#PBS "+test.directive+"\n"), "%s in\n%s", test.directive, script)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
}

func TestPBSUnsetAttributesLeaveNoDirective(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	const bare = "#!/bin/bash\n#PBS -N rmctl\n#PBS -S /bin/bash\ncd \"$PBS_O_WORKDIR\" || exit 1\ntrue\n"
	script, err := renderPBS(t, definition, "queue", "")
	require.NoError(t, err)
	require.Equal(t, bare, script)
	script, err = renderPBS(t, definition, "hold", "false")
	require.NoError(t, err)
	require.Equal(t, bare, script)
}

func TestPBSPrivateSandboxIsWhereTheCommandRuns(t *testing.T) {
	script, err := renderPBS(t, shippedDefinition(t, "pbs"), "sandbox", "PRIVATE")
	require.NoError(t, err)
	require.Contains(t, script, "\ncd \"$PBS_JOBDIR\" || exit 1\n")
}

// A value stands in a directive as it is: what would make another option, or a
// command, of its end must not get there.
func TestPBSRefusesValuesThatItsDirectivesCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "pbs")
	for _, defined := range definition.Attributes {
		if !defined.Visible() {
			continue
		}
		for _, value := range []string{"1 -q root", "x\nrm -rf /", "a\"b", "a'b"} {
			_, err := renderPBS(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
	}
	for name, value := range map[string]string{
		"walltime": "abc", "array": "1", "depend": "foo:1", "join": "true", "checkpoint": "u", "mem": "4x", "output-path": "relative",
		"job-name": "größe", "begin-time": "99999999999999", "priority": "1025", "umask": "0888",
	} {
		_, err := renderPBS(t, definition, name, value)
		var refused *attribute.InvalidError
		require.ErrorAs(t, err, &refused, "%s=%q", name, value)
	}
}

// renderPBS returns the script of a submission with one attribute set.
func renderPBS(t *testing.T, definition *config.Definition, name, value string) (string, error) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	controller := control.New(control.Options{Definition: definition, Connection: local})
	rendering, err := controller.Render(job.Submission{
		Executable: "true", Directory: "/scratch/run", Values: []job.Assignment{{Name: name, Value: value}},
	})
	if err != nil {
		return "", err
	}
	return rendering.Script, nil
}
