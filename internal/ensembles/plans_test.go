package ensembles

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/control"
)

func plans() []coalloc.PartPlan {
	return []coalloc.PartPlan{
		{Part: coalloc.Part{Label: "a", Target: "slurm", Kind: coalloc.Required, Gate: coalloc.Held, Count: 2}, Rendering: &control.Rendering{Script: "x"}, Start: time.Date(2031, 2, 3, 4, 5, 6, 0, time.Local)},
		{Part: coalloc.Part{Label: "b", Target: "pbs", Kind: coalloc.Optional, Gate: coalloc.NoGate, Count: 1}, Rendering: &control.Rendering{}},
		{Part: coalloc.Part{Label: "c", Target: "sge\x1b[2J", Count: 1}, Problem: errors.New("no such queue\x1b[31m\nchoose another one")},
		{Part: coalloc.Part{Label: "d", Target: "slurm", Kind: coalloc.Interactive, Count: 1}, NoStart: errors.New("no answer")},
	}
}

// printed returns plans as they are printed.
func printed(t *testing.T, plans []coalloc.PartPlan, isJSON, whole, isPossible bool) string {
	t.Helper()
	var text strings.Builder
	is, err := printPlans(&text, plans, isJSON, whole)
	require.NoError(t, err)
	require.Equal(t, isPossible, is)
	return text.String()
}

func TestAPlanHasALineForEachPart(t *testing.T) {
	text := printed(t, plans(), false, false, false)
	require.NotContains(t, text, "\x1b")
	require.Contains(t, text, "a on slurm: 2 processes, required, expected start 2031-02-03 04:05:06\nb on pbs: 1 process, optional\nc on sge")
	require.Contains(t, text, "cannot be submitted: no such queue")
	require.Contains(t, text, "; choose another one\nd on slurm: 1 process, interactive, expected start unknown: no answer\n")
	whole := printed(t, plans()[:2], false, true, true)
	require.Contains(t, whole, "==> a on slurm: 2 processes")
	require.Contains(t, whole, " <==\n# the definition has no submit command\n\n==> b on pbs: 1 process, optional <==\n")
}

func TestPlansInJSONHaveWhatIsKnown(t *testing.T) {
	lines := strings.Split(printed(t, plans(), true, false, false), "\n")
	require.JSONEq(t, `{"label": "a", "target": "slurm", "kind": "required", "barrier": "held", "count": 2, "start": "`+plans()[0].Start.Format(time.RFC3339)+`", "submission": {"script": "x", "files": [], "commands": []}}`, lines[0])
	require.JSONEq(t, `{"label": "b", "target": "pbs", "kind": "optional", "barrier": "none", "count": 1, "submission": {"script": "", "files": [], "commands": []}}`, lines[1])
	require.Contains(t, lines[2], `"problem":"no such queue`)
	require.Contains(t, lines[3], `"noStart":"no answer"`)
}
