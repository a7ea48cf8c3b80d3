package agentclient

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// following returns a state within a session.
func following() *State {
	s := newState("agent")
	s.begin("7f3a2c41", &reporter{log: slog.New(slog.DiscardHandler)})
	s.announce()
	return s
}

// contents describes all elements of the model.
func contents(s *State) map[string]string {
	manager, _ := s.model.Snapshot().Manager(s.manager)
	all := map[string]string{}
	for _, kind := range []model.Kind{model.Machine, model.Queue, model.Node, model.Job, model.Process} {
		for element := range manager.All(kind) {
			text := element.Parent()
			for definition, value := range element.Attributes() {
				text += fmt.Sprintf(" %s=%s", definition.ID, value.Text())
			}
			all[kind.String()+" "+element.ID()] = text
		}
	}
	return all
}

// randomEvent returns an event about few elements, so that ids are reused, parents are missing, and
// elements are announced twice.
func randomEvent(random *rand.Rand) proxy.Update {
	kinds := []model.Kind{model.Machine, model.Queue, model.Node, model.Job, model.Process, model.Process}
	event := proxy.Update{Kind: kinds[random.IntN(len(kinds))], Parent: fmt.Sprint(random.IntN(6))}
	ids, err := proxy.ParseIDs([]string{"0", "1", "2", "3", "4", "0-2", "3-5", "a", "1,4"}[random.IntN(9)])
	if err != nil {
		panic(err)
	}
	var attributes proxy.Attributes
	for _, attribute := range []proxy.Attribute{{ID: "name", Value: fmt.Sprint("n", random.IntN(4))}, {ID: "jobId", Value: fmt.Sprint("j", random.IntN(4))},
		{ID: "jobState", Value: []string{"STARTING", "RUNNING", "COMPLETED"}[random.IntN(3)]}, {ID: "jobStatus", Value: []string{"STARTED", "x"}[random.IntN(2)]},
		{ID: "processState", Value: []string{"RUNNING", "COMPLETED"}[random.IntN(2)]}, {ID: "processSignalName", Value: "TERM"},
		{ID: "processNodeId", Value: fmt.Sprint(random.IntN(6))}, {ID: "queueId", Value: fmt.Sprint(random.IntN(6))}} {
		if random.IntN(3) == 0 {
			attributes = append(attributes, attribute)
		}
	}
	switch choice := random.IntN(40); {
	case choice < 20:
		event.Change = proxy.New
	case choice < 30:
		event.Change = proxy.Changed
	case choice < 39:
		event.Change, attributes = proxy.Removed, nil
	default:
		event.Change = proxy.RemovedAll
	}
	if event.Kind == model.Process && event.Change != proxy.New && random.IntN(3) == 0 {
		event.Parent = "" // like agents before May 2010
	}
	event.Groups = []proxy.Group{{IDs: ids, Attributes: attributes}}
	return event
}

// The grouping of events into updates must not affect the model or the records.
func TestUpdatesOfManyEventsEqualUpdatesOfOne(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		events := make([]proxy.Update, 60)
		for i := range events {
			events[i] = randomEvent(random)
		}
		together, each := following(), following()
		require.NoError(t, together.apply(events))
		for i := range events {
			require.NoError(t, each.apply(events[i:i+1]))
		}
		require.Equal(t, contents(each), contents(together), "seed %d", seed)
		for _, s := range []*State{together, each} {
			checkRecords(t, s)
			s.announce()
			require.NoError(t, s.apply(events[:20]))
			s.settle(seed%2 == 0)
			checkRecords(t, s)
		}
		require.Equal(t, contents(each), contents(together), "seed %d", seed)
	}
}

// checkRecords checks that the records match the elements of the model.
func checkRecords(t *testing.T, s *State) {
	t.Helper()
	manager, _ := s.model.Snapshot().Manager(s.manager)
	for _, kind := range kinds {
		alive := 0
		for id, element := range s.index[kind].byID {
			if !element.isAlive() {
				continue
			}
			alive++
			shown, known := manager.Get(kind, id)
			require.True(t, known, "%s %s", kind, id)
			require.Equal(t, id, element.id)
			if element.parent != nil {
				require.Equal(t, element.parent.id, shown.Parent())
			}
		}
		require.Equal(t, manager.Len(kind), alive, kind.String())
		for _, element := range s.index[kind].byWire {
			require.True(t, !element.isAlive() || s.index[kind].byID[element.id] == element)
		}
	}
}

func announced(kind model.Kind, parent, ids string) proxy.Update {
	parsed, err := proxy.ParseIDs(ids)
	if err != nil {
		panic(err)
	}
	return proxy.Update{Change: proxy.New, Kind: kind, Parent: parent, Groups: []proxy.Group{{IDs: parsed}}}
}

func TestMoreElementsThanTheLimitEndASession(t *testing.T) {
	s := following()
	s.most = 100
	require.NoError(t, s.apply([]proxy.Update{announced(model.Queue, "0", "1"), announced(model.Job, "1", "1-50"), announced(model.Process, "1", "0-48")}))
	require.NoError(t, s.apply([]proxy.Update{announced(model.Job, "1", "1-50"), announced(model.Process, "1", "0-48")}), "these are known")
	removed := announced(model.Job, "", "2-50")
	removed.Change = proxy.Removed
	require.NoError(t, s.apply([]proxy.Update{removed, announced(model.Job, "1", "2-50")}), "others made room")
	require.ErrorIs(t, s.apply([]proxy.Update{announced(model.Job, "1", "51")}), errElements)
	require.Equal(t, 100, s.total())
}

func TestRecordsOfRemovedElementsAreDropped(t *testing.T) {
	s := following()
	removed := announced(model.Queue, "", "1")
	removed.Change = proxy.Removed
	for range 100 {
		require.NoError(t, s.apply([]proxy.Update{announced(model.Queue, "0", "1"), announced(model.Job, "1", "1-1000")}))
		require.NoError(t, s.apply([]proxy.Update{removed}))
		require.Less(t, s.records(), 5000)
	}
}

func TestAttributesOfAKindAreFew(t *testing.T) {
	s := following()
	for i := range 300 {
		event := announced(model.Queue, "0", "1")
		event.Groups[0].Attributes = proxy.Attributes{{ID: fmt.Sprint("a", i), Value: "x"}}
		require.NoError(t, s.apply([]proxy.Update{event}))
	}
	manager, _ := s.model.Snapshot().Manager(s.manager)
	queue, _ := manager.Get(model.Queue, "1")
	_, given := queue.Value("a127")
	require.True(t, given)
	_, given = queue.Value("a128")
	require.False(t, given)
	require.Equal(t, []Oddity{{oddAttributes, 172}}, s.report.snapshot().Oddities)
}

// Commands wait for queued events, so the queue must hold only few slow ones.
func TestEventsAboutManyElementsFillTheQueue(t *testing.T) {
	frame := proxy.Frame{ID: 0xe6, Arguments: []string{"1", "1-900000", "1", "jobState=RUNNING"}}
	update, err := proxy.ParseUpdate(frame)
	require.NoError(t, err)
	q := newQueue()
	require.True(t, q.offer(update, weightOf(frame, update)))
	require.False(t, q.offer(update, weightOf(frame, update)))
}
