package jobstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stored"
	"github.com/rmctl/rmctl/job"
)

// A truth is everything in a record, and where it is: found with SQLite alone.
type truth struct {
	file   []byte
	jobs   map[string]job.Job // complete, by tag
	events map[int64]job.Event
	pages  map[string]map[string][]int // the pages of each row, by table and tag or number
}

const testedPage = 4096

// recordedTruth makes a record of jobs in all states.
func recordedTruth(t *testing.T) *truth {
	t.Helper()
	directory := t.TempDir()
	store := recordOf(t, directory, 40)
	old := time.Now().Add(-24 * time.Hour)
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		return strings.Repeat("text "+strconv.Itoa(random.IntN(1000)), random.IntN(most)/8+1)
	}
	for i := range 102 {
		tag := fmt.Sprintf("job-%d", i)
		require.NoError(t, store.Intend(t.Context(), job.Job{
			Tag: tag, Target: "big", Definition: "slurm", Connection: "local", Script: text(9000), Attributes: map[string]any{"nodes": i}, Created: old.Add(time.Duration(i) * time.Minute),
			Observation: job.Observation{Name: text(40), Owner: "alice"},
		}, Staged{Path: "/tmp/" + tag}))
		switch i % 7 {
		case 5:
			require.NoError(t, store.Reject(t.Context(), tag, text(300)))
			continue
		case 6:
			continue
		}
		_, err := store.Accept(t.Context(), tag, job.Job{ID: fmt.Sprint(1000 + i), Observation: job.Observation{Detail: job.QueuedActive, Native: "PENDING", Evidence: text(4000), Observed: old}})
		require.NoError(t, err)
		_, err = store.Observe(t.Context(), tag, job.Observation{Detail: []job.Detail{job.Running, job.Completed, job.Failed}[i%3], Native: "WORD", Nodes: "n1", Reason: text(200), Evidence: text(6000), ExitCode: &i, Observed: old.Add(time.Hour)})
		require.NoError(t, err)
		require.NoError(t, store.Unstaged(t.Context(), tag))
	}
	// Rows that are removed leave pages with what they were.
	for i := range 40 {
		_, err := store.Observe(t.Context(), fmt.Sprintf("tag-%d", i), job.Observation{Detail: job.Completed, Evidence: text(4000)})
		require.NoError(t, err)
	}
	require.NoError(t, store.execute(t.Context(), "UPDATE jobs SET created = replace(created, '202', '199'), observed = replace(observed, '202', '199'), brief_sum = -1, listed_sum = -1, full_sum = -1 WHERE tag LIKE 'tag-%'"))
	count, err := store.Prune(t.Context(), old.Add(-24*time.Hour), "")
	require.NoError(t, err)
	require.Equal(t, 40, count)
	known := truthOf(t, store)
	require.NoError(t, store.Close())
	known.file, err = os.ReadFile(filepath.Join(directory, databaseName))
	require.NoError(t, err)
	return known
}

func truthOf(t *testing.T, store *Store) *truth {
	t.Helper()
	known := &truth{jobs: map[string]job.Job{}, events: map[int64]job.Event{}, pages: map[string]map[string][]int{}}
	jobs, err := store.List(t.Context(), Filter{All: true})
	require.NoError(t, err)
	for _, j := range jobs {
		known.jobs[j.Tag], err = store.ByTag(t.Context(), j.Tag)
		require.NoError(t, err)
	}
	events, err := store.Events(t.Context(), 0)
	require.NoError(t, err)
	require.Less(t, len(events), maximumEvents)
	for _, event := range events {
		known.events[event.Sequence] = event
	}
	for table, key := range map[string]string{"jobs": "tag", "submissions": "tag", "events": "sequence"} {
		known.pages[table] = pagesOf(t, store, table, key)
	}
	return known
}

// pagesOf returns the pages of each row of a table, by a column: SQLite's own statistics list the
// cells of its leaves in the order of the rows, each with its overflow pages.
func pagesOf(t *testing.T, store *Store, table, key string) map[string][]int {
	t.Helper()
	var keys []string
	var text string
	require.NoError(t, stored.Each(t.Context(), store.database, []any{&text}, func() error {
		keys = append(keys, text)
		return nil
	}, "SELECT CAST("+key+" AS TEXT) FROM "+table+" NOT INDEXED ORDER BY rowid"))
	pages, cells := map[string][]int{}, 0
	var path, kind string
	var number, count int
	first := map[string]int{} // the number of the first cell of a leaf
	require.NoError(t, stored.Each(t.Context(), store.database, []any{&path, &number, &kind, &count}, func() error {
		switch kind {
		case "leaf":
			first[path] = cells
			for _, row := range keys[cells : cells+count] {
				pages[row] = append(pages[row], number)
			}
			cells += count
		case "overflow":
			leaf, place, _ := strings.Cut(path, "+")
			leaf, cell := leaf[:len(leaf)-3], leaf[len(leaf)-3:]
			index, err := strconv.ParseInt(cell, 16, 32)
			require.NoError(t, err, place)
			row := keys[first[leaf]+int(index)]
			pages[row] = append(pages[row], number)
		}
		return nil
	}, "SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ? ORDER BY pagetype = 'overflow', path", table))
	require.Len(t, keys, cells)
	return pages
}

// damage returns a damaged copy of the file, what was done to it, and the pages that it touched.
func (known *truth) damage(random *rand.Rand) (file []byte, what string, touched map[int]bool) {
	file = bytes.Clone(known.file)
	touched = map[int]bool{}
	spoil := func(start, length int, each func(i int) byte) {
		for i := start; i < min(start+length, len(file)); i++ {
			file[i] = each(i)
			touched[i/testedPage+1] = true
		}
	}
	at := random.IntN(len(file))
	switch kind := random.IntN(7); kind {
	case 0:
		bit := byte(1) << random.IntN(8)
		spoil(at, 1, func(i int) byte { return file[i] ^ bit })
		what = fmt.Sprintf("bit flipped at %d", at)
	case 1:
		length := random.IntN(64) + 1
		spoil(at, length, func(int) byte { return byte(random.Uint32()) })
		what = fmt.Sprintf("%d random bytes at %d", length, at)
	case 2, 3:
		size := []int{512, testedPage}[kind-2]
		at -= at % size
		spoil(at, size, func(int) byte { return 0 })
		what = fmt.Sprintf("%d zeros at %d", size, at)
	case 4:
		at -= at % testedPage
		spoil(at, testedPage, func(int) byte { return byte(random.Uint32()) })
		what = fmt.Sprintf("random page at %d", at)
	case 5:
		other := random.IntN(len(file) / testedPage)
		at -= at % testedPage
		copy(file[at:at+testedPage], known.file[other*testedPage:])
		touched[at/testedPage+1] = true
		what = fmt.Sprintf("page at %d replaced by number %d", at, other+1)
	case 6:
		spoil(at, len(file)-at, func(int) byte { return 0 })
		file = file[:at]
		what = fmt.Sprintf("cut at %d", at)
	}
	return file, what, touched
}

// The test uses SQLite to find which rows a damage touches, so what must survive does not depend
// on the code that recovers it. RMCTL_DAMAGES is how many damages are tried.
func TestWhatIsReadableSurvivesDamageAndNothingWrongIsShown(t *testing.T) {
	t.Parallel()
	count := 100
	if text := os.Getenv("RMCTL_DAMAGES"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	known := recordedTruth(t)
	var total outcome
	for i := range count {
		random := rand.New(rand.NewPCG(22, uint64(i)))
		file, what, touched := known.damage(random)
		t.Run(fmt.Sprintf("%d %s", i, what), func(t *testing.T) {
			directory := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(directory, databaseName), file, 0o600))
			read := known.readsDamaged(t, directory)
			total.add(known.rebuilds(t, directory, read, touched))
		})
	}
	t.Logf("%d damages of a record of %d jobs and %d events in %d pages: %+v", count, len(known.jobs), len(known.events), len(known.file)/testedPage, total)
	require.Positive(t, total.whole)
}

// An outcome counts what became of records.
type outcome struct {
	whole, jobsTouched, jobsLost, jobsRestored, eventsLost, outdated int
}

func (o *outcome) add(other outcome) {
	o.whole += other.whole
	o.jobsTouched += other.jobsTouched
	o.jobsLost += other.jobsLost
	o.jobsRestored += other.jobsRestored
	o.eventsLost += other.eventsLost
	o.outdated += other.outdated
}

// A reading is what a damaged store shows.
type reading struct {
	jobs, submissions map[string]bool
	events            map[int64]bool
}

// readsDamaged demands that what a damaged store shows is true, and returns what it shows.
func (known *truth) readsDamaged(t *testing.T, directory string) reading {
	t.Helper()
	read := reading{map[string]bool{}, map[string]bool{}, map[int64]bool{}}
	copied := t.TempDir()
	file, err := os.ReadFile(filepath.Join(directory, databaseName))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(copied, databaseName), file, 0o600))
	store, err := Open(t.Context(), copied)
	if err != nil {
		require.True(t, isNamed(err), "%v", err)
		return read
	}
	defer func() { require.NoError(t, store.Close()) }()
	jobs, err := store.List(t.Context(), Filter{All: true})
	require.True(t, isNamed(err), "%v", err)
	for _, j := range jobs {
		known.isTrue(t, j, false)
		read.jobs[j.Tag] = true
	}
	err = store.EachListed(t.Context(), Filter{}, func(j *job.Job) error {
		expected := known.jobs[j.Tag]
		require.Equal(t, expected.Document(), j.Document())
		return nil
	})
	require.True(t, isNamed(err), "%v", err)
	for tag := range known.jobs {
		j, err := store.ByTag(t.Context(), tag)
		require.True(t, isNamed(err) || errors.Is(err, ErrNotFound), "%v", err)
		if j.Tag != "" {
			known.isTrue(t, j, err == nil)
			read.submissions[tag] = err == nil
		}
	}
	events, err := store.Events(t.Context(), 0)
	require.True(t, isNamed(err), "%v", err)
	for _, event := range events {
		if same, found := known.events[event.Sequence]; found {
			require.Equal(t, same, event)
		}
		read.events[event.Sequence] = true
	}
	return read
}

// isNamed reports whether an error, if any, names the remedy.
func isNamed(err error) bool {
	return err == nil || strings.Contains(err.Error(), "rmctl recover --rebuild")
}

// isTrue demands that a job is as it was recorded.
func (known *truth) isTrue(t *testing.T, j job.Job, isComplete bool) {
	t.Helper()
	expected, isKnown := known.jobs[j.Tag]
	require.True(t, isKnown, "no such job: %q", j.Tag)
	if !isComplete {
		expected.Attributes, expected.Arguments, expected.Script, expected.Request = nil, nil, "", ""
		j.Attributes, j.Arguments, j.Script, j.Request = nil, nil, "", ""
	}
	require.Equal(t, expected, j)
}

// rebuilds demands that a rebuilt store has what is readable, and nothing wrong.
func (known *truth) rebuilds(t *testing.T, directory string, read reading, touched map[int]bool) (o outcome) {
	t.Helper()
	_, report, err := Rebuild(t.Context(), directory)
	require.NoError(t, err)
	hasOld := strings.Contains(strings.Join(report, "\n"), "may be out of date")
	store, err := Open(t.Context(), directory)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	jobs, err := store.List(t.Context(), Filter{All: true})
	require.NoError(t, err)
	found, restored := map[string]job.Job{}, map[string]bool{}
	for _, j := range jobs {
		found[j.Tag], err = store.ByTag(t.Context(), j.Tag)
		require.NoError(t, err)
		if _, isKnown := known.jobs[j.Tag]; !isKnown {
			require.True(t, hasOld, "no such job: %q", j.Tag)
			o.outdated++
			continue
		}
		if restored[j.Tag] = isRestored(j); restored[j.Tag] {
			o.jobsRestored++
			require.Equal(t, known.jobs[j.Tag].Target, j.Target)
			require.Contains(t, []string{"", known.jobs[j.Tag].ID}, j.ID)
			if j.Detail.Ended() {
				require.Equal(t, []any{known.jobs[j.Tag].Detail, known.jobs[j.Tag].ExitCode}, []any{j.Detail, j.ExitCode})
			}
			continue
		}
		known.isTrue(t, found[j.Tag], false)
	}
	for tag, expected := range known.jobs {
		j, isFound := found[tag]
		isReadable := known.isUntouched("jobs", tag, touched) || read.jobs[tag]
		require.True(t, isFound && !restored[tag] || !isReadable, "job %s is lost", tag)
		if !isReadable {
			o.jobsTouched++
		}
		if !isFound {
			o.jobsLost++
		}
		if isFound && (known.isUntouched("submissions", tag, touched) || read.submissions[tag]) {
			require.Equal(t, []any{expected.Script, expected.Attributes}, []any{j.Script, j.Attributes}, "what %s submitted is lost", tag)
		} else if j.Script != "" {
			require.Equal(t, expected.Script, j.Script)
		}
	}
	o.eventsLost = known.hasEvents(t, store, read, touched, hasOld)
	require.Equal(t, "ok", textOf(t.Context(), t, store, "PRAGMA integrity_check"))
	require.NoError(t, store.Intend(t.Context(), job.Job{Tag: "new", Target: "big"}))
	if len(found) == len(known.jobs) && o.jobsRestored == 0 && o.eventsLost == 0 {
		o.whole++
	}
	return o
}

// isRestored reports whether a job was put together from its events.
func isRestored(j job.Job) bool {
	return strings.Contains(j.StaleReason+j.Error, "the record was damaged") || j.IsOver() && j.Name == ""
}

// isUntouched reports whether no page of a row is damaged.
func (known *truth) isUntouched(table, key string, touched map[int]bool) bool {
	for _, page := range known.pages[table][key] {
		if touched[page] {
			return false
		}
	}
	return true
}

// hasEvents demands the readable events of a rebuilt store, and returns how many are lost.
func (known *truth) hasEvents(t *testing.T, store *Store, read reading, touched map[int]bool, hasOld bool) (lost int) {
	t.Helper()
	events := map[int64]job.Event{}
	var after int64
	for {
		some, err := store.Events(t.Context(), after)
		require.NoError(t, err)
		if len(some) == 0 {
			break
		}
		for _, event := range some {
			after = event.Sequence
			events[event.Sequence] = event
		}
	}
	for number, event := range events {
		expected, isKnown := known.events[number]
		if !isKnown {
			require.True(t, hasOld || known.hasContent(event), "event %d", number)
			continue
		}
		require.Equal(t, expected, event)
	}
	for number := range known.events {
		if _, isFound := events[number]; !isFound {
			lost++
			require.False(t, known.isUntouched("events", fmt.Sprint(number), touched) || read.events[number], "event %d is lost", number)
		}
	}
	return lost
}

// hasContent reports whether an event is on record under another number.
func (known *truth) hasContent(event job.Event) bool {
	for _, each := range known.events {
		if each.Tag == event.Tag && each.Kind == event.Kind && each.Recorded.Equal(event.Recorded) {
			return true
		}
	}
	return false
}

func textOf(ctx context.Context, t *testing.T, store *Store, query string) (text string) {
	t.Helper()
	require.NoError(t, store.database.QueryRowContext(ctx, query).Scan(&text))
	return text
}
