package bothends_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/rms"
)

var listed = map[config.CommandElement]model.Kind{config.ListQueues: model.Queue, config.ListNodes: model.Node, config.ListJobs: model.Job}

// A recording is a recorded listing, or a job after a step of a recorded flow.
type recording struct {
	folder string
	kind   model.Kind
	rows   map[string]facts
	job    *job.Job
}

// recordings returns the recordings of a definition: the rows of each listing, as in its cases, and the
// jobs of its flows.
func recordings(t *testing.T, definition string) (all []recording) {
	folders, err := cases.Find(filepath.Join("..", "..", "..", "testdata"))
	require.NoError(t, err)
	for _, folder := range folders {
		if cases.IsFlow(folder) {
			all = append(all, steps(t, folder, definition)...)
			continue
		}
		c, err := cases.Read(folder)
		require.NoError(t, err)
		kind, isListing := listed[config.CommandElement(c.Command)]
		if c.Definition != definition || !isListing || c.Expected == nil {
			continue
		}
		r := recording{folder: folder, kind: kind, rows: map[string]facts{}}
		for id, changed := range c.Expected.Discovered {
			r.rows[id] = factsOf(t, changed)
		}
		all = append(all, r)
	}
	return all
}

// factsOf returns the facts of a row.
func factsOf(t *testing.T, row cases.Changed) facts {
	values, areFacts := row.Value().(map[string]any)
	require.True(t, areFacts, "%v", row.Value())
	found := facts{}
	for name, value := range values {
		found[name] = fmt.Sprint(value)
	}
	return found
}

// steps returns the expected job after each step of a flow.
func steps(t *testing.T, folder, definition string) (all []recording) {
	var flow cases.Flow
	_, err := toml.DecodeFile(filepath.Join(folder, "flow.toml"), &flow)
	require.NoError(t, err)
	if flow.Definition != definition {
		return nil
	}
	for i, step := range flow.Steps {
		if expect := step.Expect; expect.ID != "" && expect.Detail != "" {
			all = append(all, recording{folder: fmt.Sprint(folder, " step ", i+1), job: &job.Job{
				Tag: folder + expect.ID, ID: expect.ID, Phase: job.PhaseSubmitted, Missing: expect.Missing,
				Observation: job.Observation{Detail: expect.Detail, Native: expect.Native, ExitCode: expect.Exit, Signal: expect.Signal},
			}})
		}
	}
	return all
}

// A client of an agent shows the same as a model without an agent, after each recorded listing of each
// shipped definition and each step of its flows.
func TestClientsShowWhatTheAgentShows(t *testing.T) {
	for _, definition := range rms.Names() {
		t.Run(definition, func(t *testing.T) {
			all := recordings(t, definition)
			if len(all) == 0 {
				t.Skip("nothing was recorded that views show")
			}
			synctest.Test(t, func(t *testing.T) {
				now := map[model.Kind]map[string]facts{}
				p := newPair(t, map[model.Kind]func() map[string]facts{
					model.Queue: func() map[string]facts { return now[model.Queue] },
					model.Node:  func() map[string]facts { return now[model.Node] },
					model.Job:   func() map[string]facts { return now[model.Job] },
				})
				defer p.stop()
				for _, r := range all {
					p.mu.Lock()
					if r.job != nil {
						p.jobs[r.job.Tag] = *r.job
					} else {
						now[r.kind] = r.rows
					}
					p.mu.Unlock()
					time.Sleep(2 * listInterval)
					p.requireSame(r.folder)
				}
			})
		})
	}
}
