package monitor_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// Fake programs of Slurm. The output of squeue is recorded, with
// --format=%i|%F|%K|%j|%u|%P|%t|%T|%r|%R|%M|%l|%D|%C|%S|%e|%V|%Z|%o, from a real one with
// 4,268 jobs, in the format of the listing.
const (
	replayedSqueue = `#!/bin/sh
for argument; do case $argument in --Format=*) mark=${argument##*:};; --format=*) mark=;; esac; done
exec awk -F '|' -v m="$mark" '
	m == "" { print $6 "|" $8; next }
	{ nodes = $10 ~ /^\(/ || $8 == "PENDING" ? "" : $10
	  print $1 m $8 m $9 m $6 m nodes m $17 m $15 m $16 m $5 m $14 m "0" m $19 m $4 m }' RECORDED
`
	replayedSinfo = `#!/bin/sh
case "$*" in
*--Node*) mark=${*##*%E}
	printf 'rmn1|debug|mixed|6/2/0/8|0.42|1024|none|\nrmn1|long|mixed|6/2/0/8|0.42|1024|none|\nrmn2|maint|drained*|0/0/8/8|N/A|1024|kept back|\n' | sed "s/|/$mark/g" ;;
*%R) printf 'debug\nlong\nmaint\n' ;;
*) printf 'debug|debug*|up|infinite|1\nlong|long|up|1-00:00:00|1\nmaint|maint|down|infinite|1\n' ;;
esac
`
)

// A slurm is a monitor's source over rms/slurm.xml.
type slurm struct{ controller *control.Controller }

func (s slurm) Rows(ctx context.Context, kind model.Kind, each func(string, monitor.Facts) error) (monitor.Outcome, error) {
	element := map[model.Kind]config.CommandElement{model.Queue: config.ListQueues, model.Node: config.ListNodes, model.Job: config.ListJobs}[kind]
	listed, err := s.controller.Rows(ctx, element, config.AllJobs, func(row command.Row) error { return each(row.ID, row) })
	// The time limit of a command that is repeated soon.
	return monitor.Outcome{Took: time.Millisecond, NotUnderstood: listed.NotUnderstood}, err
}

func newReplayedSlurm(t *testing.T) (source slurm, recorded string) {
	folder := t.TempDir()
	recorded = filepath.Join(folder, "recorded")
	packed, err := os.Open(filepath.Join("testdata", "squeue.gz"))
	require.NoError(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	require.NoError(t, err)
	rows, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(recorded, rows, 0o600))
	programs := map[string]string{"squeue": strings.ReplaceAll(replayedSqueue, "RECORDED", recorded), "sinfo": replayedSinfo, "scontrol": "#!/bin/sh\necho 'slurm 22.05.8'\n"}
	for name, script := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700))
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))

	definition, _, err := check.UsableDefinition("slurm")
	require.NoError(t, err)
	local, err := remote.NewLocal()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	store, err := jobstore.Open(t.Context(), filepath.Join(folder, "state"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	source.controller = control.New(control.Options{Target: "slurm", Definition: definition, Connection: local, Store: store})
	require.NoError(t, source.controller.Start(t.Context(), false))
	return source, recorded
}

func TestTheListingOfARealSlurmIsShown(t *testing.T) {
	source, recorded := newReplayedSlurm(t)
	m := model.New()
	m.Update(func(u *model.Update) { u.Put(model.Row{Kind: model.ResourceManager, ID: "slurm"}) })
	w := monitor.New(monitor.Options{Model: m, Manager: "slurm", Machine: "cluster", User: "rmtest", Rows: source.Rows, Location: time.UTC,
		Intervals: map[model.Kind]time.Duration{model.Job: time.Millisecond, model.Node: time.Millisecond, model.Queue: time.Millisecond}})
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	until := func(is func(*model.Manager) bool) *model.Manager {
		for snapshot := m.Snapshot(); ; {
			if rm, _ := snapshot.Manager("slurm"); is(rm) {
				return rm
			}
			var err error
			snapshot, err = m.Next(ctx, snapshot)
			require.NoError(t, err)
		}
	}
	rm := until(func(rm *model.Manager) bool {
		value, _ := rm.Element().Value(vocabulary.AttributeListedJobs)
		return value.Text() != ""
	})
	require.Equal(t, 4268, rm.Len(model.Job))
	require.Equal(t, 3, rm.Len(model.Queue))
	require.Equal(t, 2, rm.Len(model.Node))
	states, details := map[model.State]int{}, map[string]int{}
	for job := range rm.All(model.Job) {
		states[job.State()]++
		detail, _ := job.Value(vocabulary.AttributeJobDetail)
		details[detail.Text()]++
	}
	// counted in the recorded output with cut, sort and uniq
	require.Equal(t, map[model.State]int{vocabulary.StatePending: 2114, vocabulary.StateRunning: 6, vocabulary.StateTerminated: 2144, vocabulary.StateError: 4}, states)
	require.Equal(t, 1814, details["USER_ON_HOLD"])
	node, _ := rm.Get(model.Node, "rmn1")
	extra, _ := node.Value(vocabulary.AttributeNodeExtraState)
	require.Equal(t, vocabulary.NodeUserShared, extra.Text())
	require.Empty(t, w.Problems())

	// One job of the recorded ones is released, one is forgotten.
	rows, err := os.ReadFile(recorded)
	require.NoError(t, err)
	moved := bytes.Replace(rows, []byte("4362|4362|N/A|wrap|rmtest|debug|PD|PENDING|JobHeldUser|"), []byte("4362|4362|N/A|wrap|rmtest|debug|PD|PENDING|Priority|"), 1)
	require.NotEqual(t, rows, moved)
	_, moved, _ = bytes.Cut(moved, []byte("\n"))
	require.NoError(t, os.WriteFile(recorded+".new", moved, 0o600))
	require.NoError(t, os.Rename(recorded+".new", recorded))
	var changes []model.Change
	until(func(now *model.Manager) bool {
		changes = slices.Collect(now.Changes(model.Job, rm))
		return len(changes) == 2
	})
	require.Equal(t, "2216", changes[0].Before.ID())
	require.Nil(t, changes[0].After)
	require.Equal(t, "4362", changes[1].After.ID())
	require.Equal(t, []string{"jobDetail", "jobStatusMessage"}, changes[1].Attributes(), "of 4,268 jobs no more changed")
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
