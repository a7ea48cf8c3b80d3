package model_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/state"
)

func TestResourceManagersGoThroughTheirLife(t *testing.T) {
	legal := [][2]model.State{
		{"STOPPED", "STARTING"}, {"STARTING", "STARTED"}, {"STARTING", "ERROR"}, {"STARTING", "STOPPED"}, {"STARTING", "STOPPING"},
		{"STARTED", "STOPPING"}, {"STARTED", "SUSPENDED"}, {"STARTED", "ERROR"}, {"SUSPENDED", "STARTED"}, {"SUSPENDED", "STOPPING"}, {"SUSPENDED", "ERROR"},
		{"STOPPING", "STOPPED"}, {"STOPPING", "ERROR"}, {"ERROR", "STOPPED"}, {"ERROR", "STARTING"},
	}
	for _, from := range model.States(model.ResourceManager) {
		for _, to := range model.States(model.ResourceManager) {
			err := model.CheckTransition(model.ResourceManager, from, to)
			if from == to || slices.Contains(legal, [2]model.State{from, to}) {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, model.ErrTransition, "%s to %s", from, to)
			}
		}
	}
}

func TestWhatHasEndedDoesNotGoOn(t *testing.T) {
	for _, kind := range []model.Kind{model.Job, model.Process} {
		for _, from := range model.States(kind) {
			for _, to := range model.States(kind) {
				if model.Ended(kind, from) && !model.Ended(kind, to) {
					require.ErrorIs(t, model.CheckTransition(kind, from, to), model.ErrTransition, "%s from %s to %s", kind, from, to)
				}
			}
		}
	}
	require.NoError(t, model.CheckTransition(model.Job, model.StateTerminated, model.StateError))
	require.ErrorIs(t, model.CheckTransition(model.Job, model.StateError, model.StateTerminated), model.ErrTransition)
	require.ErrorIs(t, model.CheckTransition(model.Process, model.StateRunning, model.StateStarting), model.ErrTransition)
}

func TestMachinesQueuesAndNodesChangeAsTheyLike(t *testing.T) {
	for _, kind := range []model.Kind{model.Machine, model.Queue, model.Node} {
		for _, from := range model.States(kind) {
			for _, to := range model.States(kind) {
				require.NoError(t, model.CheckTransition(kind, from, to))
			}
		}
	}
}

// What the control layer believes of a job, the model must be able to show.
func TestTransitionsThatControlBelievesAreLegal(t *testing.T) {
	for _, from := range state.All() {
		for _, to := range state.All() {
			err := model.CheckTransition(model.Job, model.JobState(from), model.JobState(to))
			switch transition := state.TransitionOf(from, to); {
			case from.Ended() && to.Ended():
			case transition == state.Follows || transition == state.Returns:
				require.NoError(t, err, "%s to %s", from, to)
			case transition == state.Contradicts:
				require.ErrorIs(t, err, model.ErrTransition, "%s to %s", from, to)
			}
		}
	}
}

// The table of the documentation is the mapping.
func TestTheDocumentedMappingOfJobStatesIsTheOne(t *testing.T) {
	page, err := os.ReadFile("../docs/model.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Job states of the control layer\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[state.Detail]model.State{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		mapped := model.State(strings.Trim(cells[len(cells)-1], " `"))
		if len(cells) != 2 || !slices.Contains(model.States(model.Job), mapped) {
			continue
		}
		for word := range strings.SplitSeq(cells[0], ",") {
			documented[state.Detail(strings.Trim(word, " `"))] = mapped
		}
	}
	require.Len(t, documented, len(state.All()))
	for _, detail := range state.All() {
		require.Equal(t, model.JobState(detail), documented[detail], detail)
	}
	require.Equal(t, model.StateUnknown, model.JobState("HELD"))
}

func TestTheHierarchyIsThatOfTheRuntimeModel(t *testing.T) {
	require.Equal(t, []model.Kind{model.ResourceManager}, model.Universe.Children())
	require.Equal(t, []model.Kind{model.Machine, model.Queue}, model.ResourceManager.Children())
	require.Equal(t, []model.Kind{model.Node}, model.Machine.Children())
	require.Equal(t, []model.Kind{model.Job}, model.Queue.Children())
	require.Equal(t, []model.Kind{model.Process}, model.Job.Children())
	require.Empty(t, model.Process.Children())
	require.Equal(t, model.Queue, model.Job.Parent())
	require.Equal(t, "resource manager", model.ResourceManager.String())
}
