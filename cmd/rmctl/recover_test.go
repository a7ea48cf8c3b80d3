package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// Without -t, recover looks up submissions of all targets and removes their files there.
func TestRecoveryTidiesEachTarget(t *testing.T) {
	h := newChaos(t, "CHAOS_CALM=1")
	targets := h.path(".config/rmctl/targets.toml")
	text, err := os.ReadFile(targets)
	require.NoError(t, err)
	definition := text[len("[targets.chaos]\n"):]
	require.NoError(t, os.WriteFile(targets, append(append([]byte("default = \"chaos\"\n"), text...), append([]byte("[targets.other]\n"), definition...)...), 0o600))
	store, err := jobstore.Open(t.Context(), h.path(".local/state/rmctl"))
	require.NoError(t, err)
	tags := map[string]string{"chaos": "2f4bb9f2-9a5e-4ad4-8f0a-0d0c2f4bb9f2", "other": "11111111-2222-3333-4444-555555555555"}
	for target, tag := range tags {
		script := h.path("script-for-" + target)
		require.NoError(t, os.WriteFile(script, nil, 0o600))
		cutOff := job.Job{Tag: tag, Target: target, Created: time.Now().Add(-time.Hour), Submitter: "0 gone nowhere"}
		require.NoError(t, store.Intend(t.Context(), cutOff, jobstore.Staged{Path: script}))
	}
	require.NoError(t, store.Close())
	h.run("recover")
	for target := range tags {
		require.NoFileExists(t, h.path("script-for-"+target))
	}
}
