package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

// shipped loads a definition of this project.
func shipped(t testing.TB, name string) *config.Definition {
	t.Helper()
	definition, _, err := check.UsableDefinition(name)
	require.NoError(t, err)
	return definition
}

func aSubmission() job.Submission {
	return job.Submission{
		Executable: "./a.out", Arguments: []string{"input file", "-x"}, Directory: "/scratch",
		Values: values("partition", "debug", "nodes", "2", "wallTime", "1h30m"),
	}
}

// BenchmarkRender resolves a submission to Slurm and all commands of the definition.
func BenchmarkRender(b *testing.B) {
	site := newRenderer(b, shipped(b, "slurm"))
	s := aSubmission()
	b.ReportAllocs()
	for b.Loop() {
		_, err := site.Render(s)
		require.NoError(b, err)
	}
}

// BenchmarkPrepare resolves an interactive submission to Slurm with a recorded session, up to
// the point of recording it.
func BenchmarkPrepare(b *testing.B) {
	site := newSite(b, shipped(b, "slurm-interactive"), func(o *control.Options) {
		o.Connection = playedConnection{o.Connection, nil}
	})
	site.stopClock()
	s := aSubmission()
	require.NoError(b, site.CheckInteractive(b.Context(), s), "starts the session")
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, site.CheckInteractive(b.Context(), s))
	}
}
