package rms_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

func TestLoadLevelerEveryAttributeMakesItsKeyword(t *testing.T) {
	definition := shippedDefinition(t, "loadleveler")
	covered := map[string]bool{"join": true, "shell": true, "launcher": true}
	for pair, keyword := range map[string]string{
		"job-name=a.b-c": "job_name = a.b-c", "class=night-1.long": "class = night-1.long", "job-type=MPICH": "job_type = MPICH", "node=2,4": "node = 2,4",
		"tasks-per-node=8": "tasks_per_node = 8", "total-tasks=12": "total_tasks = 12", "task-geometry={(0,1)(2)}": "task_geometry = {(0,1)(2)}", "blocking=unlimited": "blocking = unlimited",
		"resources=ConsumableCpus(2) ConsumableMemory(4gb)": "resources = ConsumableCpus(2) ConsumableMemory(4gb)", "node-resources=ConsumableMemory(16 gb)": "node_resources = ConsumableMemory(16 gb)",
		"wall-clock-limit=1:30:00,1:29:00": "wall_clock_limit = 1:30:00,1:29:00", "job-cpu-limit=600": "job_cpu_limit = 600", "cpu-limit=10:00": "cpu_limit = 10:00",
		"data-limit=500mb,400mb": "data_limit = 500mb,400mb", "stack-limit=64mb": "stack_limit = 64mb", "core-limit=0,0": "core_limit = 0,0",
		`requirements=(Memory >= 16000) && (Feature == "large")`: `requirements = (Memory >= 16000) && (Feature == "large")`, "preferences=(Feature == large)": "preferences = (Feature == large)",
		"node-usage=not_shared": "node_usage = not_shared", "network-mpi=sn_all,not_shared,US": "network.MPI = sn_all,not_shared,US", "network-lapi=sn_single,,IP": "network.LAPI = sn_single,,IP",
		"network-mpi-lapi=sn_all,shared,US": "network.MPI_LAPI = sn_all,shared,US", "bulkxfer=yes": "bulkxfer = yes", "large-page=M": "large_page = M", "rset=rset_mcm_affinity": "rset = rset_mcm_affinity",
		"mcm-affinity=mcm_accumulate mcm_mem_pref": "mcm_affinity_options = mcm_accumulate mcm_mem_pref", "task-affinity=core(2)": "task_affinity = core(2)", "cpus-per-core=2": "cpus_per_core = 2",
		"parallel-threads=4": "parallel_threads = 4", "smt=as_is": "smt = as_is", "island-count=1,2": "island_count = 1,2", "bg-size=512": "bg_size = 512", "bg-shape=1x2x2x1": "bg_shape = 1x2x2x1",
		"bg-block=R00-M0": "bg_block = R00-M0", "bg-connectivity=torus": "bg_connectivity = torus", "bg-requirements=(Memory == 16384)": "bg_requirements = (Memory == 16384)",
		"account=p": "account_no = p", "group=g": "group = g", "reservation=ll1.5.r": "ll_res_id = ll1.5.r", "comment=my job": "comment = my job", "startdate=12/24/2027 18:00": "startdate = 12/24/2027 18:00",
		"hold=true": "hold = user", "user-priority=70": "user_priority = 70", "restart=no": "restart = no", "checkpoint=interval": "checkpoint = interval",
		"environment=COPY_ALL; A=b c": "environment = COPY_ALL; A=b c", "initialdir=/scratch": "initialdir = /scratch", "input=i": "input = i", "output=o.$(jobid)": "output = o.$(jobid)", "error=e": "error = e",
		"notification=always": "notification = always", "notify-user=ada@example.org": "notify_user = ada@example.org", "keywords=energy_policy_tag = x": "energy_policy_tag = x",
	} {
		name, value, _ := strings.Cut(pair, "=")
		covered[name] = true
		script, err := renderGridEngine(t, definition, name, value)
		require.NoError(t, err, pair)
		directives, _, found := strings.Cut(script, "\n# @ queue\n")
		require.True(t, found)
		require.Contains(t, strings.Split(directives, "\n"), "# @ "+keyword, pair)
	}
	for _, defined := range definition.Attributes {
		require.True(t, covered[defined.Name()] || !defined.Visible(), "attribute %s", defined.Name())
	}
	script, err := renderGridEngine(t, definition, "join", "y", "shell", "/bin/bash -l", "launcher", "poe", "hold", "false")
	require.NoError(t, err)
	script, _, _ = strings.Cut(script, "\ncode=")
	require.Equal(t, "#!/bin/bash -l\n# @ output = true.o$(jobid)\n# @ error = true.o$(jobid)\n# @ notification = never\n# @ job_name = true\n# @ queue\npoe true", script)
}

func TestLoadLevelerSetsVariablesBehindTheKeywords(t *testing.T) {
	local, err := remote.NewLocal()
	require.NoError(t, err)
	rendering, err := control.New(control.Options{Definition: shippedDefinition(t, "loadleveler"), Connection: local}).Render(job.Submission{
		Executable: "true", Environment: job.Environment{Variables: []job.Variable{{Name: "A", Value: "1"}}},
	})
	require.NoError(t, err)
	require.Contains(t, rendering.Script, "\n# @ queue\nexport A=\"1\"\n")
}

// Each example of the page makes a definition without problems.
func TestLoadLevelerIsAdaptedInALine(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "schedulers", "loadleveler.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Adapt it\n")
	require.True(t, found)
	examples := regexp.MustCompile("`(<[^`]+>)`").FindAllStringSubmatch(section, -1)
	require.Len(t, examples, 2)
	for _, example := range examples {
		source := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site" x:extends="loadleveler"><control-data>` +
			example[1] + `</control-data></resource-manager-builder>`
		definition, problems := check.Load("site.xml", []byte(source), func(name, _ string) (string, []byte, error) {
			base, _ := rms.Source(name)
			return name + ".xml", base, nil
		})
		require.Empty(t, problems, example[1])
		got := replay(t, definition, exchange{selector: "fallback:get-job-status-raw", job: "ll1.1", stdout: "ll1.1.0!QU!normal!01/10 17:50!!\n"})
		require.Equal(t, strings.Contains(example[1], "QU"), got.State == "QUEUED_ACTIVE", example[1])
	}
}

// A value stands in a line of keywords as it is: none may end it, join the next one or stand for something else.
func TestLoadLevelerRefusesValuesThatItsKeywordsCannotHold(t *testing.T) {
	definition := shippedDefinition(t, "loadleveler")
	for _, defined := range definition.Attributes {
		if !defined.Visible() {
			continue
		}
		for _, value := range []string{"x\n# @ queue", `a\`, "a\x00b"} {
			_, err := renderGridEngine(t, definition, defined.Name(), value)
			require.Error(t, err, "%s=%q", defined.Name(), value)
		}
	}
	for name, value := range map[string]string{
		"job-name": "a b", "node": "1 -q", "output": "a b", "wall-clock-limit": "1h", "resources": "much", "startdate": "tomorrow", "task-geometry": "(0)", "hold": "maybe",
		"initialdir": "relative", "keywords": "rm -rf", "join": "yes", "user-priority": "101", "notification": "often", "comment": "it's $HOME", "environment": "A='b'",
	} {
		_, err := renderGridEngine(t, definition, name, value)
		require.Error(t, err, "%s=%q", name, value)
	}
}
