// Package webtest is what tests of the server share: invented clusters, definitions
// with everything in them, and streams of events.
package webtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// Noon is when what tests show was seen.
var Noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// Attributes makes attributes of pairs of an id and a text; what is empty is left out.
func Attributes(pairs ...string) []model.Attribute {
	var all []model.Attribute
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, model.Attribute{ID: pairs[i], Text: pairs[i+1]})
		}
	}
	return all
}

// listed are the attributes that listings give, with the types that these have.
var listed = map[model.Type][]string{
	model.Date: {vocabulary.AttributeJobSubmitted, vocabulary.AttributeJobStarted, vocabulary.AttributeJobEnded, vocabulary.AttributeListedJobs, vocabulary.AttributeListedNodes, vocabulary.AttributeListedQueues, views.AttributeSince},
	model.Integer: {vocabulary.AttributeNodeCPUs, vocabulary.AttributeNodeCPUsUsed, vocabulary.AttributeNodeMemory, vocabulary.AttributeQueueRunning, vocabulary.AttributeQueueWaiting,
		vocabulary.AttributeQueueNodes, vocabulary.AttributeJobExitCode},
	model.Boolean: {vocabulary.AttributeQueueDefault},
	model.Double:  {vocabulary.AttributeNodeLoad},
	model.Array:   {vocabulary.AttributeNodeQueues, vocabulary.AttributeProblems, vocabulary.AttributeUnlisted},
}

// DefineAttributes defines what listings give elements beside the predefined attributes.
func DefineAttributes(t testing.TB, m *model.Model) {
	defaults := map[model.Type][]string{model.Integer: {"0"}, model.Boolean: {"false"}, model.Double: {"0"}}
	m.Update(func(u *model.Update) {
		for kind, ids := range listed {
			for _, id := range ids {
				if _, isDefined := m.Snapshot().Definition(id); !isDefined {
					require.NoError(t, u.Define(model.Definition{ID: id, Type: kind, Name: id, Default: defaults[kind], Display: true}))
				}
			}
		}
	})
}

// Demonstrate fills a model with a cluster of invented jobs and nodes, and smaller
// targets in other states.
func Demonstrate(t testing.TB, m *model.Model, jobs, nodes int, now time.Time) {
	DefineAttributes(t, m)
	date := func(ago time.Duration) string { return now.Add(-ago).UTC().Format(time.RFC3339) }
	problems := m.Update(func(u *model.Update) {
		u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster", Attributes: Attributes(vocabulary.AttributeRMState, "STARTING")})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster", Attributes: Attributes(vocabulary.AttributeRMState, "STARTED", views.AttributeHost, "login.example.org", "rmType", "slurm",
			views.AttributeSince, date(3*time.Hour), vocabulary.AttributeListedJobs, date(12*time.Second), vocabulary.AttributeListedNodes, date(31*time.Second), vocabulary.AttributeListedQueues, date(44*time.Second))})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "workshop", Attributes: Attributes(vocabulary.AttributeRMState, "STARTING")})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "workshop", Attributes: Attributes(vocabulary.AttributeRMState, "STARTED", views.AttributeHost, "bench.example.org", "rmType", "slurm", views.AttributeSince, date(40*time.Minute),
			vocabulary.AttributeListedJobs, date(7*time.Minute), vocabulary.AttributeListedNodes, date(7*time.Minute))})
		u.Put(model.Row{Manager: "workshop", Kind: model.Machine, ID: "bench.example.org", Attributes: Attributes(vocabulary.AttributeMachineState, "ALERT")})
		u.Put(model.Row{Manager: "workshop", Kind: model.Queue, ID: "all", Attributes: Attributes(vocabulary.AttributeQueueState, "NORMAL", vocabulary.AttributeQueueDefault, "true")})
		for i := range 12 {
			u.Put(model.Row{Manager: "workshop", Kind: model.Node, Parent: "bench.example.org", ID: fmt.Sprintf("w%02d", i+1), Attributes: Attributes(vocabulary.AttributeNodeState, "UP", vocabulary.AttributeNodeCPUs, "8", vocabulary.AttributeNodeCPUsUsed, "0")})
		}
		u.Put(model.Row{Kind: model.ResourceManager, ID: "workshop", Attributes: Attributes(vocabulary.AttributeRMState, "ERROR", views.AttributeCause, "connecting to bench.example.org: no answer within 10 s; rmctl tries again", views.AttributeSince, date(6*time.Minute))})
		u.Put(model.Row{Kind: model.ResourceManager, ID: "local", Attributes: Attributes(vocabulary.AttributeRMState, "STOPPED", views.AttributeHost, "localhost", "rmType", "local")})
		demonstrateCluster(u, jobs, nodes, date)
	})
	require.Empty(t, problems)
}

// Demonstration returns such a model.
func Demonstration(t testing.TB, jobs, nodes int, now time.Time) *model.Model {
	m := model.New()
	Demonstrate(t, m, jobs, nodes, now)
	return m
}

func demonstrateCluster(u *model.Update, jobs, nodes int, date func(time.Duration) string) {
	u.Put(model.Row{Manager: "cluster", Kind: model.Machine, ID: "login.example.org", Attributes: Attributes(vocabulary.AttributeMachineState, "UP", "numNodes", fmt.Sprint(nodes))})
	queues := []string{"short", "normal", "long", "gpu", "night"}
	for i, queue := range queues {
		u.Put(model.Row{Manager: "cluster", Kind: model.Queue, ID: queue, Attributes: Attributes(vocabulary.AttributeQueueState, []string{"NORMAL", "NORMAL", "NORMAL", "DRAINING", "STOPPED"}[i],
			vocabulary.AttributeQueueStatus, []string{"UP", "UP", "UP", "DRAIN", "DOWN"}[i], vocabulary.AttributeQueueDefault, fmt.Sprint(i == 1), vocabulary.AttributeQueueTimeLimit, []string{"1:00:00", "1-00:00:00", "7-00:00:00", "2-00:00:00", "12:00:00"}[i],
			vocabulary.AttributeQueueNodes, fmt.Sprint(nodes/(i+1)))})
	}
	for i := range nodes {
		state, extra, used, reason := "UP", "", 0, ""
		switch hash := (i * 2654435761) >> 7 % 1000; {
		case i/40%9 == 3:
			extra = ""
		case hash < 12:
			state, reason = "DOWN", "not responding since the power cut"
		case hash < 18:
			state, reason = "ERROR", "memory failed a test"
		case hash < 22:
			state = "UNKNOWN"
		case hash < 60:
			extra, used = "USER_ALLOC_EXCL", 64
		case hash < 90:
			extra, used = "USER_ALLOC_SHARED", 32
		case hash < 640:
			extra, used = "OTHER_ALLOC_EXCL", 64
		case hash < 790:
			extra, used = "OTHER_ALLOC_SHARED", 16+hash%40
		}
		u.Put(model.Row{Manager: "cluster", Kind: model.Node, Parent: "login.example.org", ID: fmt.Sprintf("n%05d", i+1), Attributes: Attributes(vocabulary.AttributeNodeState, state, vocabulary.AttributeNodeExtraState, extra,
			vocabulary.AttributeNodeCPUs, "64", vocabulary.AttributeNodeCPUsUsed, fmt.Sprint(used), vocabulary.AttributeNodeMemory, "257000", vocabulary.AttributeNodeLoad, fmt.Sprintf("%.2f", float64(used)*0.98), vocabulary.AttributeNodeReason, reason,
			"nodeNumber", fmt.Sprint(i))})
	}
	for i := range jobs {
		demonstrateJob(u, i, queues[(i*7/3)%4], date)
	}
}

func demonstrateJob(u *model.Update, i int, queue string, date func(time.Duration) string) {
	names := []string{"relax-Si64", "align_reads", "train-resnet", "cfd-wing", "assemble", "render-042", "monte-carlo", "fit-spectra"}
	users := []string{"ada", "grace", "emmy", "lise", "noether", "kathleen", "hedy"}
	state, native, detail, reason, started, ended, exit := "PENDING", "PD", "QUEUED_ACTIVE", "Priority", "", "", ""
	ago := time.Duration(i*37%21600+30) * time.Second
	switch {
	case i%50 == 7:
		detail, reason = "USER_ON_HOLD", "JobHeldUser"
	case i%5 == 0:
		state, native, detail, reason, started = "RUNNING", "R", "RUNNING", "", date(ago)
	case i%41 == 3:
		state, native, detail, reason, started = "SUSPENDED", "S", "SUSPENDED", "", date(ago)
	case i%11 == 4:
		state, native, detail, reason, started, ended, exit = "TERMINATED", "CD", "COMPLETED", "", date(ago+time.Hour), date(ago/2), "0"
	case i%37 == 5:
		state, native, detail, reason, started, ended, exit = "ERROR", "F", "FAILED", "NonZeroExitCode", date(ago+time.Hour), date(ago/2), "1"
	}
	nodes := ""
	if started != "" {
		nodes = fmt.Sprintf("n[%05d-%05d]", i%9000+1, i%9000+4)
	}
	id := fmt.Sprint(4_000_000 + i)
	u.Put(model.Row{Manager: "cluster", Kind: model.Job, Parent: queue, ID: id, Whole: true, Attributes: Attributes(vocabulary.AttributeName, names[i%8], vocabulary.AttributeJobState, state,
		vocabulary.AttributeJobStatus, native, vocabulary.AttributeJobDetail, detail, vocabulary.AttributeJobMessage, reason, vocabulary.AttributeJobUser, users[i%7], "queueId", queue, "jobNumProcs", fmt.Sprint(1<<(i%8)),
		vocabulary.AttributeJobNodes, nodes, vocabulary.AttributeJobSubmitted, date(ago+2*time.Hour), vocabulary.AttributeJobStarted, started, vocabulary.AttributeJobEnded, ended, vocabulary.AttributeJobExitCode, exit, "launchedByPTP", fmt.Sprint(i%70 == 0),
		"workingDir", "/home/"+users[i%7]+"/run")})
	if i == 70 {
		for rank := range 4 {
			u.Put(model.Row{Manager: "cluster", Kind: model.Process, Parent: id, ID: fmt.Sprintf("%s.%d", id, rank), Attributes: Attributes(vocabulary.AttributeProcessState, "RUNNING",
				vocabulary.AttributeProcessIndex, fmt.Sprint(rank), "processPID", fmt.Sprint(3120+rank), vocabulary.AttributeProcessNodeID, fmt.Sprintf("n%05d", rank+1), "processStdout", "step 1\nstep 2\n")})
		}
	}
}

// Put gives a model targets by name.
func Put(m *model.Model, names ...string) {
	m.Update(func(u *model.Update) {
		for _, name := range names {
			u.Put(model.Row{Kind: model.ResourceManager, ID: name})
		}
	})
}
