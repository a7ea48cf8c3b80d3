package planned_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/planned"
)

func plans() []coalloc.PartPlan {
	return []coalloc.PartPlan{
		{Part: coalloc.Part{Label: "a", Target: "slurm", Kind: coalloc.Required, Gate: coalloc.Held, Count: 2}, Rendering: &control.Rendering{Script: "x"}, Start: time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)},
		{Part: coalloc.Part{Label: "b", Target: "pbs", Kind: coalloc.Optional, Gate: coalloc.NoGate, Count: 1}, Rendering: &control.Rendering{}},
		{Part: coalloc.Part{Label: "c", Target: "sge\x1b[2J", Count: 1}, Problem: errors.New("no such queue\x1b[31m\nchoose another one")},
		{Part: coalloc.Part{Label: "d", Target: "slurm", Kind: coalloc.Interactive, Count: 1}, NoStart: errors.New("no answer")},
	}
}

func TestAPlanHasALineForEachPart(t *testing.T) {
	require.True(t, planned.HasProblem(plans()))
	require.False(t, planned.HasProblem(plans()[:2]))
	text := planned.Text(plans(), false)
	require.NotContains(t, text, "\x1b")
	require.Contains(t, text, "a on slurm: 2 processes, required, expected to start at 2031-02-03 04:05:06\nb on pbs: 1 process, optional\nc on sge")
	require.Contains(t, text, "cannot be submitted: no such queue")
	require.Contains(t, text, "; choose another one\nd on slurm: 1 process, interactive, expected start unknown: no answer\n")
	require.Contains(t, planned.Text(plans()[:1], true), "\n    # the definition has no submit command\n")
}

func TestPlansInJSONHaveWhatIsKnown(t *testing.T) {
	encoded, err := json.Marshal(planned.Documents(plans()[:2]))
	require.NoError(t, err)
	require.JSONEq(t, `[{"label": "a", "target": "slurm", "kind": "required", "barrier": "held", "count": 2, "start": "2031-02-03T04:05:06Z", "submission": {"script": "x", "files": [], "commands": []}},
		{"label": "b", "target": "pbs", "kind": "optional", "barrier": "none", "count": 1, "submission": {"script": "", "files": [], "commands": []}}]`, string(encoded))
	documents := planned.Documents(plans()[2:])
	require.Equal(t, "no such queue\x1b[31m\nchoose another one", documents[0].Problem)
	require.Equal(t, "no answer", documents[1].NoStart)
}
