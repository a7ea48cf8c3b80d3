package views_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// recordSubmission puts a job on record with what was submitted.
func (d *desk) recordSubmission(id string, s job.Submission, more ...func(*job.Job)) job.Job {
	request, err := requested.Encode("site", s)
	require.NoError(d.t, err)
	recorded := job.Job{Target: "site", Definition: "site.xml", ID: id, Request: request, Directory: "/home/me"}
	for _, change := range more {
		change(&recorded)
	}
	adopted, err := d.store.Adopt(d.t.Context(), recorded)
	require.NoError(d.t, err)
	return adopted
}

// submitted waits until a job has an attribute, and returns all that say what was submitted.
func (d *desk) submitted(id, awaited string) map[string]string {
	d.t.Helper()
	for snapshot := d.Model().Snapshot(); ; {
		manager, _ := snapshot.Manager("site")
		if element, known := manager.Get(model.Job, id); known {
			given := map[string]string{}
			for definition, value := range element.Attributes() {
				text := value.Text()
				if value.Type() == model.Array {
					text = strings.Join(value.Array(), "|")
				}
				given[definition.ID] = text
			}
			if _, isGiven := given[awaited]; isGiven {
				for _, other := range []string{vocabulary.AttributeJobState, vocabulary.AttributeJobDetail, vocabulary.AttributeJobStatus, vocabulary.AttributeJobLaunched,
					vocabulary.AttributeJobQueue, vocabulary.AttributeJobUser, vocabulary.AttributeJobSubmitted, vocabulary.AttributeJobUnconfirmed} {
					delete(given, other)
				}
				return given
			}
		}
		var err error
		snapshot, err = d.Model().Next(d.t.Context(), snapshot)
		require.NoError(d.t, err)
	}
}

func TestAJobShowsWhatWasSubmitted(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	simulated := d.recordSubmission("7", job.Submission{
		Executable: "/opt/bin/simulate", Arguments: []string{"-v", "a b"}, Directory: "/work", Debug: true,
		Values:      []job.Assignment{{Name: "nodes", Value: "2"}, {Name: "tasksPerNode", Value: "4"}, {Name: "debuggerExecutablePath", Value: "/opt/ptp/sdm"}, {Name: "debuggerArgs", Value: "--port 7"}, {Name: "debuggerId", Value: "gdb"}},
		Environment: job.Environment{Variables: []job.Variable{{Name: "LEVEL", Value: "3"}, {Name: "GITHUB_TOKEN", Value: "hidden"}, {Name: "db_Password", Value: "hidden"}}},
	})
	scripted := d.recordSubmission("8", job.Submission{Script: "job.sh", Values: []job.Assignment{{Name: "tasks", Value: "16"}}})
	d.recordSubmission("9", job.Submission{Executable: "true", Arguments: []string{"first", strings.Repeat("x", 1<<20), "last"}})
	require.NoError(t, d.Start("site"))
	d.whileTimePasses(func() {
		require.Equal(t, map[string]string{
			"jobId": "7", "jobSubId": simulated.Tag, "jobTag": simulated.Tag, "jobNumProcs": "8", "execName": "simulate", "execPath": "/opt/bin", "workingDir": "/work",
			"progArgs": "-v|a b", "env": "GITHUB_TOKEN|LEVEL=3|db_Password",
			"debug": "true", "debugExecName": "sdm", "debugExecPath": "/opt/ptp", "debugArgs": "--port|7", "debugerId": "gdb",
		}, d.submitted("7", "execName"))
		require.Equal(t, map[string]string{
			"jobId": "8", "jobSubId": scripted.Tag, "jobTag": scripted.Tag, "jobNumProcs": "16", "execName": "job.sh", "workingDir": "/home/me",
		}, d.submitted("8", "execName"))
		require.Equal(t, "first|…", d.submitted("9", "execName")["progArgs"])
	})
}

func TestOfManyJobsWhatWasSubmittedIsShownBitByBit(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	const jobs = 700
	for i := range jobs {
		d.recordSubmission(fmt.Sprint(i), job.Submission{Executable: "true"})
	}
	require.NoError(t, d.Start("site"))
	d.whileTimePasses(func() {
		for i := range jobs {
			d.submitted(fmt.Sprint(i), "execName")
		}
	})
}

func TestProcessesOnRecordShowTheEndsOfWhatTheyPrinted(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	recorded := d.record("site", "7")
	require.NoError(t, d.store.RecordProcesses(t.Context(), recorded.Tag, []job.Process{{State: "RUNNING"},
		{Rank: 1, State: "RUNNING", Output: strings.Repeat("x", 1000) + "step 2\n", ErrorOutput: "oops\n"}}))
	require.NoError(t, d.Start("site"))
	d.whileTimePasses(func() {
		for snapshot := d.Model().Snapshot(); ; {
			manager, _ := snapshot.Manager("site")
			if process, isShown := manager.Get(model.Process, "7.1"); isShown {
				stdout, _ := process.Value("processStdout")
				stderr, _ := process.Value("processStderr")
				require.Equal(t, []string{strings.Repeat("x", 505) + "step 2\n", "oops\n"}, []string{stdout.Text(), stderr.Text()})
				return
			}
			var err error
			snapshot, err = d.Model().Next(t.Context(), snapshot)
			require.NoError(t, err)
		}
	})
}
