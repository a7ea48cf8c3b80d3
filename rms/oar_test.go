package rms_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// extendOAR returns a definition of a site that adds elements to that of OAR.
func extendOAR(t *testing.T, elements string) *config.Definition {
	t.Helper()
	definition, problems := check.Load("mysite.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1"
		name="mysite" x:extends="oar"><control-data>`+elements+`</control-data></resource-manager-builder>`), check.ReadBase)
	require.Empty(t, problems, "%s", elements)
	return definition
}

// The examples of the page for sites are valid, and do what the page says.
func TestOARPageHasExamplesThatWork(t *testing.T) {
	page, err := os.ReadFile("../docs/schedulers/oar.md")
	require.NoError(t, err)
	_, adapting, _ := strings.Cut(string(page), "## Adapt it")
	examples := regexp.MustCompile("`(<[^`]*>)`").FindAllStringSubmatch(adapting, -1)
	require.Len(t, examples, 6)
	var attributes, portable, readers string
	for _, example := range examples {
		extendOAR(t, example[1])
		switch {
		case strings.HasPrefix(example[1], "<attribute"):
			attributes += example[1]
		case strings.HasPrefix(example[1], "<x:portable"):
			portable += example[1]
		default:
			readers += example[1]
		}
	}
	local, err := remote.NewLocal()
	require.NoError(t, err)
	script := func(definition *config.Definition, values ...job.Assignment) string {
		rendering, err := control.New(control.Options{Definition: definition, Connection: local}).Render(job.Submission{Executable: "true", Values: values})
		require.NoError(t, err)
		return rendering.Script
	}
	require.Contains(t, script(extendOAR(t, attributes), job.Assignment{Name: "import-job-key", Value: "key"}), "\n#OAR -q production\n#OAR -i key\n")
	require.Contains(t, script(extendOAR(t, portable), job.Assignment{Name: "tasks", Value: "4"}), "\n#OAR -l /core=4\n")
	require.Contains(t, script(extendOAR(t, portable), job.Assignment{Name: "gpus", Value: "2"}, job.Assignment{Name: "nodes", Value: "1"}), "\n#OAR -l /nodes=1/gpu=2\n")

	running := recordedExchange(t, "../testdata/oar/status-running")
	running.selector = "get-job-status:oarstat" // whose id is part of a condition
	running.stdout = strings.NewReplacer(`"Running"`, `"Draining"`, `"project" : "default"`, `"project" : "fusion"`).Replace(running.stdout)
	got := replay(t, extendOAR(t, readers), running)
	require.Equal(t, "RUNNING", got.State)
	require.Equal(t, "fusion", got.Facts["job.queue"])
}
