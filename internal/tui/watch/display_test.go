package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/tui"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// noon is the time at which screens are drawn.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A user sits at a screen without a terminal. It notes each request.
type user struct {
	*display
	t       testing.TB
	pending []func() tui.Apply // what was begun in the background
	quit    bool

	lock    sync.Mutex // several things may be done at the same time
	did     []string
	refuses map[string]error // by request
	history []job.Event
	output  string
	kept    []string // saved submissions

	ensembles     []coalloc.Status
	ensemblesFail error

	skips int64 // bytes before the output
}

func (u *user) do(format string, arguments ...any) error {
	what := fmt.Sprintf(format, arguments...)
	u.lock.Lock()
	defer u.lock.Unlock()
	u.did = append(u.did, what)
	return u.refuses[what]
}

func (u *user) Available() []string          { return []string{"far", "local", "lsf", "pbs", "slurm"} }
func (u *user) Start(manager string) error   { return u.do("start %s", manager) }
func (u *user) Stop(manager string) error    { return u.do("stop %s", manager) }
func (u *user) Refresh(manager string) error { return u.do("refresh %s", manager) }

func (u *user) Retry(string) time.Time { return noon.Add(90 * time.Second) }

func (u *user) Operate(_ context.Context, manager, job string, operation control.Operation) error {
	return u.do("%s %s/%s", operation, manager, job)
}

func (u *user) History(_ context.Context, manager, job string, each func(job.Event) error) error {
	for _, event := range u.history {
		if err := each(event); err != nil {
			return err
		}
	}
	return u.do("history %s/%s", manager, job)
}

func (u *user) Follow(_ context.Context, manager, job string, stderr bool, skipped func(int64), w io.Writer) error {
	if u.skips > 0 {
		skipped(u.skips)
	}
	_, err := io.WriteString(w, u.output)
	return errors.Join(err, u.do("follow %s/%s %t", manager, job, stderr))
}

func (u *user) Ensembles(context.Context) ([]coalloc.Status, error) {
	return u.ensembles, u.ensemblesFail
}

func (u *user) LaunchConfigurations() ([]string, error) {
	return u.kept, u.do("saved submissions")
}

func (u *user) Submit(_ context.Context, manager, configuration string, _ io.Reader, _ io.Writer) (string, error) {
	return "", u.do("submit %s to %s", configuration, manager)
}

// sit sits down at a screen of a model.
func sit(t testing.TB, m *model.Model) *user {
	t.Helper()
	u := &user{t: t, refuses: map[string]error{}}
	u.display = newDisplay(t.Context(), Options{Model: m, Controls: u, User: "ann"}, func() time.Time { return noon })
	u.background = func(work func() tui.Apply) { u.pending = append(u.pending, work) }
	u.sees(m)
	return u
}

// sees shows the model as it is now.
func (u *user) sees(m *model.Model) {
	u.Update(pulseMsg{snapshot: m.Snapshot(), now: noon, retries: u.retriesOf(m.Snapshot())})
	u.settle()
}

// settle waits for what was begun.
func (u *user) settle() {
	for len(u.pending) > 0 {
		work := u.pending[0]
		u.pending = u.pending[1:]
		u.Update(work())
	}
}

var namedKeys = map[string]tea.KeyPressMsg{
	"tab": {Code: tea.KeyTab}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "space": {Code: ' ', Text: " "},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
	"end": {Code: tea.KeyEnd}, "home": {Code: tea.KeyHome}, "backspace": {Code: tea.KeyBackspace}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl},
}

// press presses keys by name; other words are typed.
func (u *user) press(keys ...string) {
	u.t.Helper()
	for _, name := range keys {
		if key, ok := namedKeys[name]; ok {
			u.one(key)
			continue
		}
		for _, r := range name {
			u.one(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// one presses a key, and waits for what it has begun.
func (u *user) one(key tea.KeyPressMsg) {
	_, cmd := u.Update(key)
	if cmd != nil {
		_, quit := cmd().(tea.QuitMsg)
		u.quit = u.quit || quit
	}
	u.settle()
}

func (u *user) resize(width, height int) {
	u.Update(tea.WindowSizeMsg{Width: width, Height: height})
	u.settle()
}

// screen is what is shown, without styles. It must fit.
func (u *user) screen() string {
	u.t.Helper()
	content := u.View().Content
	lines := strings.Split(content, "\n")
	require.LessOrEqual(u.t, len(lines), u.height, "%s", content)
	for i, line := range lines {
		require.LessOrEqual(u.t, ansi.StringWidth(line), u.width, "line %d: %q", i, line)
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.Join(lines, "\n")
}

// shows demands texts of the screen in their order.
func (u *user) shows(texts ...string) {
	u.t.Helper()
	shown := u.screen()
	rest := shown
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		require.True(u.t, found, "%q is not in this, or not in this order:\n%s", text, shown)
		rest = after
	}
}

func (u *user) lacks(texts ...string) {
	u.t.Helper()
	for _, text := range texts {
		require.NotContains(u.t, u.screen(), text)
	}
}

// draws compares the screen with one of testdata; RMCTL_UPDATE=1 rewrites that.
func (u *user) draws(name string) {
	u.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	shown := u.screen() + "\n"
	if os.Getenv("RMCTL_UPDATE") == "1" {
		require.NoError(u.t, os.WriteFile(file, []byte(shown), 0o644))
	}
	kept, err := os.ReadFile(file)
	require.NoError(u.t, err)
	require.Equal(u.t, string(kept), shown)
}

func attributes(pairs ...string) []model.Attribute {
	var list []model.Attribute
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, model.Attribute{ID: pairs[i], Text: pairs[i+1]})
	}
	return list
}

// attributeTypes are those of what the monitor adds to the predefined attributes.
var attributeTypes = map[string]model.Type{
	"rmProblems": model.Array, "rmListedJobs": model.Date, "rmSince": model.Date, "jobSubmitted": model.Date, "jobStarted": model.Date, "jobEnded": model.Date,
	"queueDefault": model.Boolean, "queueRunning": model.Integer, "queueWaiting": model.Integer, "queueNodes": model.Integer,
	"nodeCPUs": model.Integer, "nodeCPUsUsed": model.Integer, "nodeMemory": model.Integer, "nodeLoad": model.Double, "jobExitCode": model.Integer,
}

// change changes a model, which must take everything.
func change(t testing.TB, m *model.Model, do func(u *model.Update)) {
	t.Helper()
	require.Empty(t, m.Update(do))
}

func at(before time.Duration) string { return noon.Add(-before).Format(time.RFC3339) }

// cluster is a model of two targets that are used, one that is lost and
// one that is stopped.
func cluster(t testing.TB) *model.Model {
	t.Helper()
	m := model.New()
	change(t, m, func(u *model.Update) {
		defaults := map[model.Type]string{model.Date: "1970-01-01T00:00:00Z", model.Boolean: "false", model.Integer: "0", model.Double: "0"}
		for id, valueType := range attributeTypes {
			require.NoError(t, u.Define(model.Definition{ID: id, Type: valueType, Default: []string{defaults[valueType]}, Display: true}))
		}
		manager := func(id string, states []string, pairs ...string) {
			for _, word := range states {
				u.Put(model.Row{Kind: model.ResourceManager, ID: id, Attributes: attributes("rmState", word, "rmSince", at(15*time.Minute))})
			}
			u.Put(model.Row{Kind: model.ResourceManager, ID: id, Attributes: attributes(pairs...)})
		}
		manager("slurm", []string{"STARTING", "STARTED"}, "rmHost", "login.example.org", "rmListedJobs", at(7*time.Second))
		manager("local", []string{"STARTING", "STARTED"}, "rmHost", "localhost", "rmListedJobs", at(time.Second), "rmStale", "ps: the command took too long")
		manager("far", []string{"STARTING", "ERROR"}, "rmHost", "far.example.org", "rmCause", "connecting to far.example.org: connection refused")
		manager("pbs", nil, "rmHost", "localhost")
		u.Put(model.Row{Manager: "slurm", Kind: model.Queue, ID: "batch", Attributes: attributes("queueState", "NORMAL", "queueStatus", "up", "queueDefault", "true", "queueRunning", "2", "queueWaiting", "140", "queueNodes", "30", "queueTimeLimit", "2-00:00:00")})
		u.Put(model.Row{Manager: "slurm", Kind: model.Queue, ID: "debug", Attributes: attributes("queueState", "COLLECTING", "queueStatus", "down", "queueRunning", "0", "queueWaiting", "9", "queueNodes", "2")})
		u.Put(model.Row{Manager: "local", Kind: model.Queue, ID: "local"})
		u.Put(model.Row{Manager: "slurm", Kind: model.Machine, ID: "login.example.org"})
		for i := range 100 {
			pairs := []string{"nodeState", "UP", "nodeExtraState", "NONE", "nodeStatus", "idle", "nodeCPUs", "64", "nodeCPUsUsed", "0", "nodeMemory", "257000", "nodeLoad", "0.01", "nodeQueues", "batch"}
			switch {
			case i < 4:
				pairs[3], pairs[5], pairs[9] = "USER_ALLOC_EXCL", "alloc", "64"
			case i < 60:
				pairs[3], pairs[5], pairs[9] = "OTHER_ALLOC_SHARED", "mixed", "17"
			case i == 70:
				pairs[1], pairs[5] = "DOWN", "drained"
				pairs = append(pairs, "nodeReason", "disk check")
			case i == 71:
				pairs[1], pairs[3] = "DOWN", "OTHER_ALLOC_EXCL"
			case i == 72:
				pairs[1] = "ERROR"
			}
			u.Put(model.Row{Manager: "slurm", Kind: model.Node, Parent: "login.example.org", ID: fmt.Sprintf("n%03d", i+1), Attributes: attributes(pairs...)})
		}
		u.Put(model.Row{Manager: "local", Kind: model.Machine, ID: "localhost"})
		u.Put(model.Row{Manager: "local", Kind: model.Node, Parent: "localhost", ID: "localhost", Attributes: attributes("nodeState", "UP", "nodeExtraState", "USER_ALLOC_SHARED", "nodeCPUs", "8", "nodeCPUsUsed", "1")})
		j := func(manager, queue, id string, detail job.Detail, pairs ...string) {
			pairs = append(pairs, "jobDetail", string(detail), "jobState", string(model.JobState(&job.Observation{Detail: detail, ExitCode: new(1)})), "queueId", queue)
			u.Put(model.Row{Manager: manager, Kind: model.Job, Parent: queue, ID: id, Attributes: attributes(pairs...)})
		}
		j("slurm", "batch", "4711", job.Running, "userId", "ann", "name", "train", "jobSubmitted", at(3*time.Hour), "jobStarted", at(125*time.Minute), "jobNodes", "n[001-004]", "launchedByPTP", "true")
		j("slurm", "batch", "4712", job.QueuedActive, "userId", "bob", "name", "fluid dynamics", "jobSubmitted", at(26*time.Hour), "jobStatusMessage", "Priority")
		j("slurm", "batch", "4713", job.UserOnHold, "userId", "bob", "name", "held back", "jobSubmitted", at(50*time.Minute), "jobStatusMessage", "JobHeldUser")
		j("slurm", "debug", "4714", job.Failed, "userId", "eve", "name", "crash", "jobSubmitted", at(10*time.Minute), "jobStarted", at(9*time.Minute), "jobEnded", at(8*time.Minute), "jobExitCode", "139", "jobStatusMessage", "RaisedSignal:11")
		j("slurm", "batch", "10001", job.Suspended, "userId", "ann2", "name", "sleep", "jobSubmitted", at(time.Minute), "jobStarted", at(59*time.Second))
		j("local", "local", "5", job.Completed, "userId", "ann", "name", "hello", "jobSubmitted", at(2*time.Minute), "jobStarted", at(2*time.Minute), "jobEnded", at(time.Minute), "launchedByPTP", "true")
	})
	return m
}

func TestTheListsAreDrawn(t *testing.T) {
	for name, keys := range map[string][]string{
		"managers": {"1"}, "queues": {"2"}, "nodes": {"3"}, "nodes-table": {"3", "v"}, "jobs": {"4"}, "help": {"?"},
		"jobs-mine": {"m"}, "jobs-search": {"/", "bob", "enter"}, "jobs-marked": {"space", "down", "space"}, "cancel": {"space", "space", "c"},
		"job": {"end", "enter"}, "node": {"3", "enter"}, "submit": {"n"},
	} {
		t.Run(name, func(t *testing.T) {
			u := sit(t, cluster(t))
			u.press(keys...)
			u.draws(name)
		})
	}
}

// A reply is an answer to a question of a connection.
type reply struct {
	answer string
	err    error
}

// into returns what replies into a channel.
func into(replies chan<- reply) func(string, error) {
	return func(answer string, err error) { replies <- reply{answer, err} }
}
