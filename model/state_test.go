package model

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/transition"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/job"
)

func TestTransitionsOfResourceManagers(t *testing.T) {
	legal := [][2]State{
		{"STOPPED", "STARTING"}, {"STARTING", "STARTED"}, {"STARTING", "ERROR"}, {"STARTING", "STOPPED"}, {"STARTING", "STOPPING"},
		{"STARTED", "STOPPING"}, {"STARTED", "SUSPENDED"}, {"STARTED", "ERROR"}, {"SUSPENDED", "STARTED"}, {"SUSPENDED", "STOPPING"}, {"SUSPENDED", "ERROR"},
		{"STOPPING", "STOPPED"}, {"STOPPING", "ERROR"}, {"ERROR", "STOPPED"}, {"ERROR", "STARTING"},
	}
	for _, from := range States(ResourceManager) {
		for _, to := range States(ResourceManager) {
			err := checkTransition(ResourceManager, from, to)
			if from == to || slices.Contains(legal, [2]State{from, to}) {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, errTransition, "%s to %s", from, to)
			}
		}
	}
}

func TestEndedJobsDoNotContinue(t *testing.T) {
	for _, kind := range []Kind{Job, Process} {
		for _, from := range States(kind) {
			for _, to := range States(kind) {
				if Ended(kind, from) && !Ended(kind, to) {
					require.ErrorIs(t, checkTransition(kind, from, to), errTransition, "%s from %s to %s", kind, from, to)
				}
			}
		}
	}
	require.NoError(t, checkTransition(Job, vocabulary.StateTerminated, vocabulary.StateError))
	require.NoError(t, checkTransition(Job, vocabulary.StateError, vocabulary.StateTerminated))
	require.ErrorIs(t, checkTransition(Process, vocabulary.StateRunning, vocabulary.StateStarting), errTransition)
}

func TestMachinesQueuesAndNodesMayChangeToAnyState(t *testing.T) {
	for _, kind := range []Kind{Machine, Queue, Node} {
		for _, from := range States(kind) {
			for _, to := range States(kind) {
				require.NoError(t, checkTransition(kind, from, to))
			}
		}
	}
}

// The model must accept every transition that package control accepts.
func TestTransitionsOfControlAreLegal(t *testing.T) {
	for _, from := range job.Details() {
		for _, to := range job.Details() {
			err := checkTransition(Job, JobState(&job.Observation{Detail: from}), JobState(&job.Observation{Detail: to}))
			switch between := transition.Between(from, to); {
			case from.Ended() && to.Ended():
			case between == transition.Follows || between == transition.Returns:
				require.NoError(t, err, "%s to %s", from, to)
			case between == transition.Contradicts:
				require.ErrorIs(t, err, errTransition, "%s to %s", from, to)
			}
		}
	}
}

// The mapping must equal the table in the documentation.
func TestMappingOfJobStatesIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/model.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Job states of the control layer\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[job.Detail]State{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		mapped := State(strings.Trim(cells[len(cells)-1], " `"))
		if len(cells) != 2 || !slices.Contains(States(Job), mapped) {
			continue
		}
		for word := range strings.SplitSeq(cells[0], ",") {
			documented[job.Detail(strings.Trim(word, " `"))] = mapped
		}
	}
	require.Len(t, documented, len(job.Details()))
	for _, detail := range job.Details() {
		require.Equal(t, JobState(&job.Observation{Detail: detail, ExitCode: new(1)}), documented[detail], detail)
	}
	require.EqualValues(t, vocabulary.StateUnknown, JobState(&job.Observation{Detail: "HELD"}))
}

func TestOnlyAJobThatNeverStartedIsInError(t *testing.T) {
	for name, c := range map[string]struct {
		seen job.Observation
		want State
	}{
		"nothing is said":       {job.Observation{Detail: job.Failed}, vocabulary.StateError},
		"exit code 0":           {job.Observation{Detail: job.Failed, ExitCode: new(0), Signal: new(0)}, vocabulary.StateError},
		"a code below 0":        {job.Observation{Detail: job.Failed, ExitCode: new(-1)}, vocabulary.StateError}, // of the scheduler
		"an exit code":          {job.Observation{Detail: job.Failed, ExitCode: new(3)}, vocabulary.StateTerminated},
		"a signal":              {job.Observation{Detail: job.Failed, Signal: new(9)}, vocabulary.StateTerminated},
		"a time":                {job.Observation{Detail: job.Failed, Started: "2026-01-02T03:04:05"}, vocabulary.StateTerminated},
		"canceled while queued": {job.Observation{Detail: job.Canceled}, vocabulary.StateTerminated},
	} {
		require.Equal(t, c.want, JobState(&c.seen), name)
	}
}

func TestHierarchyEqualsTheRuntimeModel(t *testing.T) {
	require.Equal(t, []Kind{ResourceManager}, Universe.Children())
	require.Equal(t, []Kind{Machine, Queue}, ResourceManager.Children())
	require.Equal(t, []Kind{Node}, Machine.Children())
	require.Equal(t, []Kind{Job}, Queue.Children())
	require.Equal(t, []Kind{Process}, Job.Children())
	require.Empty(t, Process.Children())
	require.Equal(t, Queue, Job.parent())
	require.Equal(t, "resource manager", ResourceManager.String())
}
