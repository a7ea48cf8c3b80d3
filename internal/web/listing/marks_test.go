package listing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

var kindsWithStates = []model.Kind{model.ResourceManager, model.Machine, model.Queue, model.Node, model.Job, model.Process}

func TestEveryStateHasASignAndAWordOfItsOwn(t *testing.T) {
	for _, kind := range kindsWithStates {
		signs, words := map[string]model.State{}, map[string]model.State{}
		for _, state := range model.States(kind) {
			m := MarkOfState(kind, state)
			require.NotEqual(t, NotSeen, m, "%s %s", kind, state)
			same, taken := signs[m.Sign]
			require.False(t, taken, "without colours, %s %s and %s look alike", kind, state, same)
			require.NotContains(t, words, m.Word)
			signs[m.Sign], words[m.Word] = state, state
		}
	}
}

func TestBothStatesOfANodeShow(t *testing.T) {
	drawn, words := map[string]string{}, map[string]bool{}
	for l := range NumberOfLooks {
		m := l.Mark()
		require.False(t, words[m.Word], "two looks have the same word: %v", m)
		words[m.Word] = true
		state, use, _ := strings.Cut(m.Word, ", ")
		if gross, extra := l.States(); gross == vocabulary.StateUp {
			state = m.Word
		} else if extra != vocabulary.NodeNone {
			state, use = string(gross), "used" // of a node that cannot be used it matters only that somebody has it
		}
		same, taken := drawn[m.Sign+m.Tone]
		require.True(t, !taken || same == state+use, "two looks are drawn alike: %v", m)
		drawn[m.Sign+m.Tone] = state + use
	}
	require.Equal(t, "down, in use", lookFor(vocabulary.StateDown, vocabulary.NodeOtherExclusive).Mark().Word)
	require.Equal(t, "yours", lookFor(vocabulary.StateUp, vocabulary.NodeUserExclusive).Mark().Word)
}

func TestTextsAreSpelledOutForPeople(t *testing.T) {
	require.Equal(t, "plain <b>text</b>", Printable("plain <b>text</b>", 100), "markup is for the templates to escape")
	require.Equal(t, "a␛[31mb␇", Printable("a\x1b[31mb\x07", 100))
	require.Equal(t, `a\u202eb`, Printable("a\u202eb", 100), "nothing turns the text around")
	require.Equal(t, "äöü…", Printable("äöüß", 3))
	require.Equal(t, "two lines", Printable("two\nlines", 100))
	require.Equal(t, "a\tb\nc␀", Output("a\tb\r\nc\x00"))
}

func TestAJobsMarkHasTheWordOfItsDetail(t *testing.T) {
	m := model.New()
	m.Update(func(u *model.Update) {
		require.NoError(t, u.Define(model.Definition{ID: vocabulary.AttributeJobDetail, Type: model.String, Default: []string{""}}))
		u.Put(model.Row{Kind: model.ResourceManager, ID: "rm"})
		u.Put(model.Row{Manager: "rm", Kind: model.Queue, ID: "q"})
		for id, states := range map[string][2]string{"held": {"PENDING", "USER_ON_HOLD"}, "cancelled": {"TERMINATED", "CANCELED"}, "torn": {"RUNNING", "USER_ON_HOLD"}} {
			u.Put(model.Row{Manager: "rm", Kind: model.Job, Parent: "q", ID: id, Attributes: webtest.Attributes(vocabulary.AttributeJobState, states[0], vocabulary.AttributeJobDetail, states[1])})
		}
	})
	manager, _ := m.Snapshot().Manager("rm")
	word := func(id string) string {
		job, _ := manager.Get(model.Job, id)
		return JobMark(job).Word
	}
	require.Equal(t, "held", word("held"))
	require.Equal(t, "canceled", word("cancelled"))
	require.Equal(t, "running", word("torn"), "a detail of another state counts for nothing")
}
