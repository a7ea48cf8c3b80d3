package coalloc_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/job"
)

func TestProcessesWaitLongerThanTheCommitMayTake(t *testing.T) {
	t.Parallel()
	for limit, least := range map[time.Duration]time.Duration{0: 24 * time.Hour, time.Hour: time.Hour, 72 * time.Hour: 72 * time.Hour} {
		s := newSite(t, "here")
		e := s.startsRequest(&coalloc.Request{Limits: coalloc.Limits{Commit: limit}, Parts: []coalloc.Part{part("a", marks)}})
		e.reaches("a", coalloc.PartCheckedIn)
		files, err := filepath.Glob(filepath.Join(s.home, ".local/state/rmctl/node/jobs/*/part-1.json"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		pass, err := rendezvous.ReadPass(files[0])
		require.NoError(t, err)
		require.GreaterOrEqual(t, pass.Wait, least)
	}
}

func TestProgramsRunInTheDirectoryOfTheirPart(t *testing.T) {
	t.Parallel()
	for _, gate := range []coalloc.Gate{coalloc.Held, coalloc.NoGate} {
		s := newSite(t, "here")
		directory := filepath.Join(s.home, "some where")
		require.NoError(t, os.Mkdir(directory, 0o700))
		e := s.starts(part("a", "pwd >>\"$HOME/ran-$COALLOC_LABEL\"", func(p *coalloc.Part) {
			p.Gate, p.Independent, p.Submission.Directory = gate, gate == coalloc.NoGate, "some where"
		}))
		e.commits()
		e.ends(coalloc.Done)
		require.Equal(t, []string{directory}, s.marksOf("a"))
	}
}

func TestF21AWallTimeByTheNameOfTheDefinitionMayBeUsedUpWhileAPartWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.startsRequest(&coalloc.Request{Limits: coalloc.Limits{Commit: time.Hour}, Parts: []coalloc.Part{
		part("a", marks, func(p *coalloc.Part) {
			p.Submission.Values = []job.Assignment{{Name: "time-limit", Value: "1200"}}
		}),
	}})
	e.has("warning a  the commit limit of 1h0m0s exceeds the wall time of 20m0s")
}
