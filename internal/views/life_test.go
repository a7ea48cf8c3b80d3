package views_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// Giving up a connection that is lost may take long, and the user may stop the
// resource manager meanwhile.
func TestAResourceManagerWhoseConnectionWasLostCanBeStoppedWhileThatIsGivenUp(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	cut := &cutConnection{}
	closing, goOn := make(chan struct{}), make(chan struct{})
	d.openWith(func(_ context.Context, target settings.Target) (*control.Controller, func() error, error) {
		definition, _, err := check.UsableDefinition(target.Definition)
		require.NoError(t, err)
		local, err := remote.NewLocal()
		require.NoError(t, err)
		cut.Connection = local
		return control.New(control.Options{Target: target.Name, Definition: definition, Connection: cut, Store: d.store}), func() error {
			close(closing)
			<-goOn
			return local.Close()
		}, nil
	})
	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	d.record("site", "4711")
	cut.set(lost("far"))
	d.whileTimePasses(func() { <-closing })
	require.NoError(t, d.Stop("site"))
	close(goOn)
	d.sees("site", vocabulary.StateStopped)
	require.NoError(t, d.Remove("site"))
	_, shown := d.Model().Snapshot().Manager("site")
	require.False(t, shown)
}

func TestAResourceManagerThatIsStoppingSaysSoToWhoStartsIt(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	opening := make(chan struct{})
	d.openWith(func(ctx context.Context, _ settings.Target) (*control.Controller, func() error, error) {
		<-opening
		return nil, nil, errors.New("too late")
	})
	require.NoError(t, d.Start("site"))
	require.NoError(t, d.Stop("site"))
	var state *views.StateError
	err := d.Start("site")
	close(opening)
	require.ErrorAs(t, err, &state)
	require.EqualValues(t, vocabulary.StateStopping, state.State)
	d.sees("site", vocabulary.StateStopped)
}

func TestAResourceManagerThatIsStartedIsNotSaidToBeStopped(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	require.NoError(t, d.Start("site"))
	reported, err := d.Manager("site")
	require.NoError(t, err)
	require.NotEqualValues(t, vocabulary.StateStopped, reported.State)
	d.sees("site", vocabulary.StateStarted)
}

func TestJobsThatWerePrunedFromTheRecordGo(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	_, err := d.store.Adopt(t.Context(), job.Job{Target: "site", Definition: "site.xml", ID: "9", Observation: job.Observation{Detail: job.Completed}, Created: d.now().Add(-time.Hour)})
	require.NoError(t, err)
	require.NoError(t, d.Start("site"))
	d.whileTimePasses(func() {
		d.shows("site", "9 TERMINATED true")
		pruned, err := d.store.Prune(t.Context(), d.now(), "site")
		require.NoError(t, err)
		require.Equal(t, 1, pruned)
		d.shows("site")
	})
}

func TestATargetThatSomebodyTookOutOfTheFileCanBeRemoved(t *testing.T) {
	d := newDesk(t, onSite)
	d.sees("site", vocabulary.StateStopped)
	require.NoError(t, os.WriteFile(filepath.Join(d.folder, settings.TargetsFile), nil, 0o600))
	require.NoError(t, d.Remove("site"))
	_, shown := d.Model().Snapshot().Manager("site")
	require.False(t, shown)
	require.NotContains(t, d.Available(), "site")
}

func TestATargetThatSomebodyPutIntoTheFileIsNotReplacedByAnAddedOne(t *testing.T) {
	d := newDesk(t, onSite)
	byHand := onSite + "[targets.more]\ndefinition = \"slurm\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(d.folder, settings.TargetsFile), []byte(byHand), 0o600))
	var exists *settings.TargetExistsError
	require.ErrorAs(t, d.Add(settings.Target{Name: "more", Definition: "local"}), &exists)
	text, err := os.ReadFile(filepath.Join(d.folder, settings.TargetsFile))
	require.NoError(t, err)
	require.Equal(t, byHand, string(text))
}

// Whatever many do at the same time, the model and the platform agree in the end.
func TestManyMayStartAndStopAndChangeAResourceManagerAtTheSameTime(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	target := settings.Target{Name: "site", Definition: filepath.Join(d.folder, "site.xml")}
	d.whileTimePasses(func() {
		var work sync.WaitGroup
		for _, do := range []func() error{
			func() error { return d.Start("site") },
			func() error { return d.Stop("site") },
			func() error { return d.Refresh("site") },
			func() error { return d.Edit(target) },
			func() error { return d.Add(target) },
			func() error { return d.Remove("site") },
			func() error { d.Managers(); return nil },
		} {
			work.Go(func() {
				for range 20 {
					_ = do() // that it cannot be done in a state is no fault
				}
			})
		}
		work.Wait()
		if _, err := d.Manager("site"); err != nil {
			require.NoError(t, d.Add(target))
		}
		require.NoError(t, d.Stop("site"))
		d.sees("site", vocabulary.StateStopped)
	})
	require.NoError(t, d.Remove("site"))
	require.NoError(t, d.Close())
	_, shown := d.Model().Snapshot().Manager("site")
	require.False(t, shown)
	require.Equal(t, d.targets, d.closed, "each connection that was made was given up")
}

// attributes returns attributes of a resource manager.
func (d *desk) attributes(name string, ids ...string) []string {
	manager, known := d.Model().Snapshot().Manager(name)
	require.True(d.t, known)
	var texts []string
	for _, id := range ids {
		value, _ := manager.Element().Value(id)
		texts = append(texts, value.Text())
	}
	return texts
}

func TestAResourceManagerIsSuspendedWhileItsSchedulerDoesNotAnswer(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	d.lists("jobs", "1 RUNNING eve batch\n")
	require.NoError(t, d.Start("site"))
	d.shows("site", "1 RUNNING false")
	silence := func(kinds ...string) {
		for _, kind := range kinds {
			require.NoError(t, os.Remove(filepath.Join(d.folder, kind)))
		}
	}
	silence("queues", "nodes", "jobs")
	reported := d.passes("site", vocabulary.StateSuspended)
	require.ErrorContains(t, reported.Cause, "No such file")
	require.Contains(t, d.attributes("site", views.AttributeCause)[0], "No such file")
	d.shows("site", "1 RUNNING false")
	_, err := d.Controller("site")
	require.NoError(t, err, "it may still take jobs")

	d.lists("nodes", "")
	require.NoError(t, d.passes("site", vocabulary.StateStarted).Cause)
	require.Equal(t, 1, d.targets, "the connection was kept")

	silence("nodes")
	d.passes("site", vocabulary.StateSuspended)
	require.NoError(t, d.Stop("site"))
	d.passes("site", vocabulary.StateStopped)
}

func TestAResourceManagerThatAnswersSomeListingsIsStarted(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	require.NoError(t, os.Remove(filepath.Join(d.folder, "queues")))
	require.NoError(t, os.Remove(filepath.Join(d.folder, "jobs")))
	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	d.whileTimePasses(func() {
		for snapshot := d.Model().Snapshot(); ; {
			manager, _ := snapshot.Manager("site")
			require.EqualValues(t, vocabulary.StateStarted, manager.Element().State())
			if stale, _ := manager.Element().Value(vocabulary.AttributeStale); strings.Contains(stale.Text(), "the jobs could not be listed") {
				return
			}
			var err error
			snapshot, err = d.Model().Next(t.Context(), snapshot)
			require.NoError(t, err)
		}
	})
}

func TestAResourceManagerSaysWhichSchedulerItIs(t *testing.T) {
	d := newDesk(t, "[targets.site]\ndefinition = \"site.xml\"\n[targets.far]\ndefinition = \"slurm\"\ntransport = \"ssh\"\nhost = \"login\"\n[targets.other]\nagent = [\"/opt/agent\"]\n")
	d.writeSite()
	require.Equal(t, []string{"slurm", "slurm on login (ssh)"}, d.attributes("far", views.AttributeType, "rmDescription"))
	require.Equal(t, []string{"agent", "agent on localhost (local)"}, d.attributes("other", views.AttributeType, "rmDescription"))
	text, err := os.ReadFile(filepath.Join(d.folder, "site.xml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(d.folder, "site.xml"), []byte(strings.Replace(string(text), `name="site"`, `name="Grid 7"`, 1)), 0o600))
	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	require.Equal(t, []string{"Grid 7", "Grid 7 on localhost (local)"}, d.attributes("site", views.AttributeType, "rmDescription"))
}
