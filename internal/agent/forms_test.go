package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agent"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

func TestAttributesOfOldFormsAreTranslated(t *testing.T) {
	for given, want := range map[string]string{
		"jobNumNodes=4":                     "nodes=4",
		"jobNumProcs=1":                     "", // the definition has no tasks, and forms always send 1
		"jobNumProcs=8":                     "tasks=8",
		"jobTimeLimit=90":                   "wallTime=90m",
		"jobPartition=debug":                "queue=debug",
		"jobPartition=debug queueId=batch":  "queue=debug",
		"queueId=batch":                     "queue=batch",
		"jobType=batch":                     "",
		"jobType=interactive":               "jobType=interactive", // which the definition refuses
		"jobNodeList=":                      "",
		"Job_Name=x Account_Name=y":         "jobName=x account=y",
		"Resource_List.walltime=1:00:00":    "wallTime=1:00:00",
		"Resource_List.mem=4gb":             "memory=4GiB",
		"Resource_List.nodes=2:ppn=8":       "nodes=2 tasksPerNode=8",
		"Resource_List.nodes=2":             "nodes=2",
		"MP_PROCS=2 MP_INFOLEVEL=3 PE_IT=1": "tasks=2 $MP_INFOLEVEL=3",
		"PE_STDOUT_PATH=/tmp/out":           "stdout=/tmp/out",
		"count=3 class=debug nodes=":        "count=3 class=debug nodes=",
		"debugExecName=sdm":                 "",
		"debug=true debugExecPath=/opt debugExecName=sdm debugArgs=-v": "debuggerExecutablePath=/opt/sdm debuggerArgs=-v debug",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, nil)
			c.scheduler.canDebug = true
			c.put(model.Queue, "", "batch")
			c.start()
			c.send(proxy.SubmitJob, append(strings.Fields(given), "jobSubId=J", "execName=a")...)
			c.got()
			require.Len(t, c.scheduler.submitted, 1, given)
			submission := c.scheduler.submitted[0]
			var words []string
			for _, value := range submission.Values {
				words = append(words, value.Name+"="+value.Value)
			}
			for _, variable := range submission.Environment.Variables {
				words = append(words, "$"+variable.Name+"="+variable.Value)
			}
			if submission.Debug {
				words = append(words, "debug")
			}
			require.Equal(t, want, strings.Join(words, " "), given)
			c.quit()
		})
	}
}

func TestDefinitionsOfSubmissionsHaveLimitsAndChoices(t *testing.T) {
	byID := func(isOwn bool) map[string]proxy.Definition {
		found := map[string]proxy.Definition{}
		synctest.Test(t, func(t *testing.T) {
			c := dial(t, func(o *agent.Options) {
				o.Model.Update(func(u *model.Update) {
					require.NoError(t, u.Define(model.Definition{ID: "nodeQueues", Type: model.Array}))
				})
			})
			if isOwn {
				c.start("details")
			} else {
				c.start()
			}
			for _, update := range c.raw {
				for _, definition := range update.Definitions {
					found[definition.ID] = definition
				}
			}
			c.quit()
		})
		return found
	}
	own, old := byID(true), byID(false)
	require.Equal(t, proxy.Definition{ID: "count", Type: "INTEGER", Name: "count", Description: "Number of nodes", Display: true, Minimum: "1", Maximum: "64"}, own["count"])
	require.Equal(t, "1", old["count"].Default, "clients cannot read a definition without a default")
	require.Equal(t, proxy.Definition{ID: "class", Type: "ENUMERATED", Name: "class", Display: true, Default: "batch", Values: []string{"batch", "debug"}}, own["class"])
	require.Equal(t, "BOOLEAN", own["whole"].Type)
	require.Equal(t, "false", old["whole"].Default)
	require.NotContains(t, own, "hidden")
	require.Equal(t, [2]string{"ARRAY", "STRING"}, [2]string{own["nodeQueues"].Type, old["nodeQueues"].Type})
}
