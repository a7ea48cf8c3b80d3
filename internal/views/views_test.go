package views_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
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
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// A timer is what somebody waits for.
type timer struct {
	length time.Duration
	fire   chan time.Time
}

// A desk is a user with targets and a platform.
type desk struct {
	*views.Views
	t      *testing.T
	folder string
	store  *jobstore.Store
	timers chan timer // of those who wait

	mu      sync.Mutex
	ahead   time.Duration // how far the clock is ahead of the real one
	open    func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error)
	targets int // that were opened
	closed  int
}

func newDesk(t *testing.T, targets string) *desk {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.TargetsFile), []byte(targets), 0o600))
	store, err := jobstore.Open(t.Context(), filepath.Join(folder, "state"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return newDeskOver(t, folder, store, false)
}

// newDeskOver returns another desk of a user, whose platform may keep listings.
func newDeskOver(t *testing.T, folder string, store *jobstore.Store, keeps bool) *desk {
	d := &desk{t: t, folder: folder, store: store, timers: make(chan timer, 100)}
	loaded, err := settings.LoadTargets(settings.Folders{User: d.folder})
	require.NoError(t, err)
	d.open = d.openHere
	d.Views, err = views.New(views.Options{
		Targets: loaded, Folders: settings.Folders{User: d.folder}, Store: d.store, Jitter: func() float64 { return 0 }, KeepListings: keeps,
		Open: func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error) {
			d.mu.Lock()
			open := d.open
			d.targets++
			d.mu.Unlock()
			return open(ctx, target)
		},
		Now: d.now, After: d.after,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Add(d.ahead)
}

func (d *desk) after(length time.Duration) <-chan time.Time {
	fire := make(chan time.Time, 1)
	d.timers <- timer{length, fire}
	return fire
}

func (d *desk) pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-d.after(length):
		return nil
	}
}

// openHere opens a target of this machine.
func (d *desk) openHere(_ context.Context, target settings.Target) (*control.Controller, func() error, error) {
	definition, _, err := check.UsableDefinition(target.Definition)
	if err != nil {
		return nil, nil, err
	}
	connection, err := remote.NewLocal()
	if err != nil {
		return nil, nil, err
	}
	controller := control.New(control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: d.store, Now: d.now, Pause: d.pause})
	return controller, func() error {
		d.mu.Lock()
		d.closed++
		d.mu.Unlock()
		return connection.Close()
	}, nil
}

func (d *desk) openWith(open func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = open
}

// sees waits until a resource manager is in a state.
func (d *desk) sees(name string, state model.State) views.Manager {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	for {
		snapshot := d.Model().Snapshot()
		element, known := snapshot.Manager(name)
		if known && element.Element().State() == state {
			reported, err := d.Manager(name)
			require.NoError(d.t, err)
			return reported
		}
		_, err := d.Model().Next(ctx, snapshot)
		require.NoError(d.t, err, "waiting for %s to be %s", name, state)
	}
}

const onSite = "[targets.site]\ndefinition = \"site.xml\"\n"

// writeHourlySite writes a definition whose jobs may be listed once in an hour, and
// returns its path.
func (d *desk) writeHourlySite() string {
	d.writeSite()
	site := filepath.Join(d.folder, "site.xml")
	text, err := os.ReadFile(site)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(site, []byte(strings.ReplaceAll(string(text), `"jobs">`, `"jobs" x:interval="1h">`)), 0o600))
	return site
}

// writeSite writes a definition whose session leaves marks in the folder, and whose
// listings are files there.
func (d *desk) writeSite() {
	listing := func(kind string, keys ...string) string {
		var entries, pattern strings.Builder
		for i, key := range keys {
			fmt.Fprintf(&entries, `<entry key="%s" valueGroup="%d"/>`, key, i+2)
			pattern.WriteString(` (\S+)`)
		}
		require.NoError(d.t, os.WriteFile(filepath.Join(d.folder, kind), nil, 0o600))
		return fmt.Sprintf(`<x:list-%[1]s name="%[1]s"><arg>cat</arg><arg>%[2]s/%[1]s</arg><stdout-parser delim="\n">
			<target><match><expression>(\S+)%[3]s</expression><set field="name"><entry valueGroup="1"/></set><put field="value">%[4]s</put></match></target>
		</stdout-parser></x:list-%[1]s>`, kind, d.folder, pattern.String(), entries.String())
	}
	text := fmt.Sprintf(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site"><control-data>
		<start-up-command name="begin"><arg>touch</arg><arg>%[1]s/begun</arg></start-up-command>
		<get-job-status name="ask"><arg>true</arg></get-job-status>
		<shut-down-command name="end"><arg>touch</arg><arg>%[1]s/ended</arg></shut-down-command>
	</control-data><monitor-data schedulerType="SITE">%[2]s</monitor-data></resource-manager-builder>`,
		d.folder, listing("jobs", "state", "owner", "queue")+listing("nodes", "state")+listing("queues", "state"))
	definition, problems := check.Load("site.xml", []byte(text), nil)
	require.NoError(d.t, problems.Err())
	require.NotNil(d.t, definition)
	require.NoError(d.t, os.WriteFile(filepath.Join(d.folder, "site.xml"), []byte(text), 0o600))
}

// lists sets what a listing of the site prints.
func (d *desk) lists(kind, text string) {
	require.NoError(d.t, os.WriteFile(filepath.Join(d.folder, kind+".new"), []byte(text), 0o600))
	require.NoError(d.t, os.Rename(filepath.Join(d.folder, kind+".new"), filepath.Join(d.folder, kind)))
}

// passes lets time pass until a resource manager is in a state.
func (d *desk) passes(name string, state model.State) views.Manager {
	d.t.Helper()
	var reported views.Manager
	d.whileTimePasses(func() { reported = d.sees(name, state) })
	return reported
}

// whileTimePasses lets all that waits go on at once.
func (d *desk) whileTimePasses(do func()) {
	d.t.Helper()
	over := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case one := <-d.timers:
				d.mu.Lock()
				d.ahead += one.length
				d.mu.Unlock()
				one.fire <- time.Time{}
			case <-over:
				return
			}
		}
	})
	defer work.Wait()
	defer close(over)
	do()
}

// causeOf waits until a resource manager is in ERROR, and returns why it is.
func (d *desk) causeOf(name string) string {
	for snapshot := d.Model().Snapshot(); ; {
		if manager, known := snapshot.Manager(name); known && manager.Element().State() == vocabulary.StateError {
			cause, _ := manager.Element().Value(views.AttributeCause)
			return cause.Text()
		}
		var err error
		snapshot, err = d.Model().Next(d.t.Context(), snapshot)
		require.NoError(d.t, err)
	}
}

// shows waits until the jobs of a resource manager are as they are to be, each in
// words: its id, its state and whether it is one of this user.
func (d *desk) shows(name string, jobs ...string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	var shown []string
	for {
		shown = nil
		snapshot := d.Model().Snapshot()
		manager, known := snapshot.Manager(name)
		require.True(d.t, known)
		for job := range manager.All(model.Job) {
			launched, _ := job.Value(vocabulary.AttributeJobLaunched)
			shown = append(shown, fmt.Sprintf("%s %s %s", job.ID(), job.State(), launched.Text()))
		}
		if slices.Equal(shown, jobs) {
			return
		}
		_, err := d.Model().Next(ctx, snapshot)
		require.NoError(d.t, err, "there are %v", shown)
	}
}

func lost(host string) error {
	return &remote.ConnectError{Host: host, Reason: remote.Disconnected, Err: errors.New("end of file")}
}

func TestAResourceManagerLivesFromStoppedToStoppedWithItsSession(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	require.EqualValues(t, vocabulary.StateStopped, d.sees("site", vocabulary.StateStopped).State)
	_, err := d.Controller("site")
	var state *views.StateError
	require.ErrorAs(t, err, &state)
	require.EqualValues(t, vocabulary.StateStopped, state.State)

	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	require.FileExists(t, filepath.Join(d.folder, "begun"))
	require.NoFileExists(t, filepath.Join(d.folder, "ended"))
	controller, err := d.Controller("site")
	require.NoError(t, err)
	require.Equal(t, "site", controller.Target)

	require.NoError(t, d.Stop("site"))
	d.sees("site", vocabulary.StateStopped)
	require.FileExists(t, filepath.Join(d.folder, "ended"))
	require.Equal(t, 1, d.closed)
}

func TestThePlatformLeavesSessionsWhenItCloses(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	require.NoError(t, d.Close())
	require.NoFileExists(t, filepath.Join(d.folder, "ended"))
	require.Equal(t, 1, d.closed, "the connection is given up")
	require.ErrorIs(t, d.Start("site"), views.ErrClosed)
}

func TestAPlatformShowsAtOnceWhatThatOfAnotherProcessHasListed(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeHourlySite()
	server := newDeskOver(t, d.folder, d.store, true)
	d.lists("jobs", "7 RUNNING eve batch\n8 QUEUED_ACTIVE bob batch\n")
	require.NoError(t, server.Start("site"))
	server.shows("site", "7 RUNNING false", "8 PENDING false")
	d.lists("jobs", "") // which nobody may list before an hour is over
	require.NoError(t, d.Start("site"))
	d.shows("site", "7 RUNNING false", "8 PENDING false")
}

func TestWhatCannotBeReachedIsTriedAgainAndComesBack(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	d.openWith(func(context.Context, settings.Target) (*control.Controller, func() error, error) {
		return nil, nil, &remote.ConnectError{Host: "far", Reason: remote.NoAnswer, Err: errors.New("timed out")}
	})
	require.NoError(t, d.Start("site"))
	reported := d.sees("site", vocabulary.StateError)
	require.ErrorIs(t, reported.Cause, remote.ErrUnreachable)
	require.False(t, reported.Retry.IsZero(), "it says when it tries again")
	element, _ := d.Model().Snapshot().Manager("site")
	cause, _ := element.Element().Value(views.AttributeCause)
	require.Contains(t, cause.Text(), "timed out")

	d.openWith(d.openHere)
	require.NoError(t, d.passes("site", vocabulary.StateStarted).Cause)
}

func TestAConnectionThatAnotherProcessLostDoesNotEndAnyOther(t *testing.T) {
	d := newDesk(t, onSite)
	site := d.writeHourlySite()
	definition, _, err := check.UsableDefinition(site)
	require.NoError(t, err)
	connection, err := remote.NewLocal()
	require.NoError(t, err)
	other := control.New(control.Options{Target: "site", Definition: definition, Connection: &cutConnection{Connection: connection, err: lost("far")}, Store: d.store, Now: d.now, Pause: d.pause})
	jobs := []job.Job{d.record("site", "1"), d.record("site", "2")}
	_, err = other.Update(t.Context(), jobs, false)
	require.ErrorIs(t, err, remote.ErrUnreachable)

	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	controller, err := d.Controller("site")
	require.NoError(t, err)
	_, err = controller.Update(t.Context(), jobs, false)
	require.ErrorIs(t, err, remote.ErrUnreachable, "what the other process met counts for an hour")
	for (<-d.timers).length != ownPace { // until it has queried the jobs, too
	}
	reported, err := d.Manager("site")
	require.NoError(t, err)
	require.EqualValues(t, vocabulary.StateStarted, reported.State)
}

// ownPace is how often a platform looks at the jobs on record.
const ownPace = 2 * time.Second

// A farConnection is one to a place in another time zone.
type farConnection struct{ remote.Connection }

func (f farConnection) Info() remote.Info {
	info := f.Connection.Info()
	info.Zone = "Asia/Tokyo"
	return info
}

func TestTimesOfAPlaceInAnotherTimeZoneAreShownAsTheMomentsThatTheyWere(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	site := filepath.Join(d.folder, "site.xml")
	text, err := os.ReadFile(site)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(site, []byte(strings.ReplaceAll(string(text), `key="owner"`, `key="submitted"`)), 0o600))
	d.lists("jobs", "7 RUNNING 2026-03-04T17:00:00 batch\n")
	d.openWith(func(_ context.Context, target settings.Target) (*control.Controller, func() error, error) {
		definition, _, err := check.UsableDefinition(target.Definition)
		require.NoError(t, err)
		connection, err := remote.NewLocal()
		require.NoError(t, err)
		return control.New(control.Options{Target: target.Name, Definition: definition, Connection: farConnection{connection}, Store: d.store, Now: d.now, Pause: d.pause}), connection.Close, nil
	})
	require.NoError(t, d.Start("site"))
	d.shows("site", "7 RUNNING false")
	manager, _ := d.Model().Snapshot().Manager("site")
	job, _ := manager.Get(model.Job, "7")
	submitted, _ := job.Value(vocabulary.AttributeJobSubmitted)
	require.Equal(t, "2026-03-04T17:00:00+09:00", submitted.Text())
}

func TestASchedulerThatIsAwayWhenItsSessionBeginsIsTriedAgain(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	site := filepath.Join(d.folder, "site.xml")
	text, err := os.ReadFile(site)
	require.NoError(t, err)
	away := strings.Replace(string(text), "<arg>touch</arg>", `<arg resolve="false">sh -c 'test -e "$0.up" || { echo nobody is there >&amp;2; exit 69; }'</arg>`, 1)
	away = strings.Replace(away, "</control-data>", `<x:outcome kind="transient" exit="69"/></control-data>`, 1)
	require.NoError(t, os.WriteFile(site, []byte(away), 0o600))
	require.NoError(t, d.Start("site"))
	reported := d.sees("site", vocabulary.StateError)
	require.ErrorContains(t, reported.Cause, "nobody is there")
	require.False(t, reported.Retry.IsZero(), "it says when it tries again")
	d.lists("begun.up", "") // now it is there
	d.passes("site", vocabulary.StateStarted)
}

func TestWhatOnlyTheUserCanFixIsNotTriedAgainByItself(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	d.openWith(func(context.Context, settings.Target) (*control.Controller, func() error, error) {
		return nil, nil, &remote.ConnectError{Host: "far", Reason: remote.NotAuthenticated, Err: errors.New("wrong password")}
	})
	require.NoError(t, d.Start("site"))
	require.True(t, d.sees("site", vocabulary.StateError).Retry.IsZero())
	require.Empty(t, d.timers)

	d.openWith(d.openHere)
	require.NoError(t, d.Start("site"), "the user says that it is worth another try")
	d.sees("site", vocabulary.StateStarted)
}

func TestALostConnectionIsAnErrorAndIsMadeAgain(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	cut := &cutConnection{}
	d.openWith(func(ctx context.Context, target settings.Target) (*control.Controller, func() error, error) {
		definition, _, err := check.UsableDefinition(target.Definition)
		require.NoError(t, err)
		local, err := remote.NewLocal()
		require.NoError(t, err)
		cut.Connection = local
		return control.New(control.Options{Target: target.Name, Definition: definition, Connection: cut, Store: d.store}), local.Close, nil
	})
	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	d.record("site", "4711")
	cut.set(lost("far"))
	d.whileTimePasses(func() { require.Contains(t, d.causeOf("site"), "connection to far was lost") })
	cut.set(nil)
	d.passes("site", vocabulary.StateStarted)
	require.GreaterOrEqual(t, d.targets, 2)
}

func TestAStartedResourceManagerShowsWhatItsSchedulerLists(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	d.lists("queues", "batch NORMAL\n")
	d.lists("nodes", "n1 UP\nn2 DOWN\n")
	me, err := user.Current() // a row of somebody else's is of no job on record
	require.NoError(t, err)
	d.lists("jobs", "1 RUNNING somebody batch\n2 QUEUED_ACTIVE "+me.Username+" batch\n")
	d.record("site", "2")
	require.NoError(t, d.Start("site"))
	d.whileTimePasses(func() {
		d.shows("site", "1 RUNNING false", "2 PENDING true")
		manager, _ := d.Model().Snapshot().Manager("site")
		require.Equal(t, 2, manager.Len(model.Node))
		machine, known := manager.Get(model.Machine, "localhost")
		require.True(t, known)
		require.Equal(t, "localhost", machine.ID())

		d.lists("jobs", "2 RUNNING "+me.Username+" batch\n")
		d.shows("site", "2 RUNNING true")
	})
	reported, err := d.Manager("site")
	require.NoError(t, err)
	require.Len(t, reported.Listings, 3)
	for _, listing := range reported.Listings {
		require.NoError(t, listing.Err)
		require.False(t, listing.At.IsZero())
	}
}

// record puts a job on record that has not ended.
func (d *desk) record(target, id string) job.Job {
	job, err := d.store.Adopt(d.t.Context(), job.Job{Target: target, Definition: "site.xml", ID: id})
	require.NoError(d.t, err)
	return job
}

// A cutConnection fails where the test wants it to.
type cutConnection struct {
	remote.Connection
	mu  sync.Mutex
	err error
}

func (c *cutConnection) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *cutConnection) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err != nil {
		return nil, &remote.StartError{Program: command.Arguments[0], Err: err}
	}
	return c.Connection.Start(ctx, command)
}

func TestResourceManagersAreAddedEditedAndRemovedWithTheTargetsFile(t *testing.T) {
	d := newDesk(t, onSite)
	d.writeSite()
	added := settings.Target{Name: "more", Definition: filepath.Join(d.folder, "site.xml"), Attributes: map[string]string{"account": "one"}}
	require.NoError(t, d.Add(added))
	d.sees("more", vocabulary.StateStopped)
	var exists *settings.TargetExistsError
	require.ErrorAs(t, d.Add(added), &exists)

	require.NoError(t, d.Start("site"))
	d.sees("site", vocabulary.StateStarted)
	var state *views.StateError
	require.ErrorAs(t, d.Edit(settings.Target{Name: "site", Definition: "local"}), &state)
	require.ErrorAs(t, d.Remove("site"), &state)

	added.Attributes["account"] = "two"
	require.NoError(t, d.Edit(added))
	reported, err := d.Manager("more")
	require.NoError(t, err)
	require.Equal(t, "two", reported.Target.Attributes["account"])

	require.NoError(t, d.Remove("more"))
	_, err = d.Manager("more")
	var unknown *views.UnknownManagerError
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, &views.UnknownManagerError{Name: "more", Known: []string{"a", "b"}}, `no such target: "more"; targets: a, b`)
	_, shown := d.Model().Snapshot().Manager("more")
	require.False(t, shown)
	targets, err := settings.LoadTargets(settings.Folders{User: d.folder})
	require.NoError(t, err)
	require.NotContains(t, targets.Names(), "more")
}

func TestATargetWithoutAUsableDefinitionIsNotAdded(t *testing.T) {
	d := newDesk(t, onSite)
	require.ErrorContains(t, d.Add(settings.Target{Name: "more", Definition: "nothing"}), `"nothing" is neither a shipped definition`)
	require.NotContains(t, d.Available(), "more")
}

func TestShippedTargetsBecomeResourceManagersWhenStarted(t *testing.T) {
	d := newDesk(t, onSite)
	require.Len(t, d.Managers(), 2, "the one of the file, and the default one")
	require.Contains(t, d.Available(), "slurm")
	require.NoError(t, d.Start("fork"))
	d.sees("fork", vocabulary.StateStarted)
	var unknown *settings.UnknownTargetError
	require.ErrorAs(t, d.Start("nothing"), &unknown)
}
