package coalloc_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/coalloc"
)

func TestF1OneSubmissionFails(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here", "broken")
	s.refuses(func(target string, words []string) error {
		if target == "broken" && does(words, "submit") {
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", marks), part("b", marks, on("broken"), kind(coalloc.Optional)), part("c", marks))
	e.reaches("b", coalloc.PartFailed)
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("c", coalloc.PartCheckedIn)
	require.Contains(t, e.part("b").Reason, errBroken.Error())
	e.commits()
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)

	e = s.starts(part("d", marks), part("e", marks, on("broken")))
	status := e.ends(coalloc.Failed)
	require.Contains(t, status.Reason, `part "e"`)
	require.Contains(t, status.Reason, errBroken.Error())
	require.Equal(t, coalloc.PartDeleted, status.Parts[0].State)
	require.Empty(t, s.marksOf("d"))
	s.isEmpty()
}

func TestF2AllSubmissionsFail(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	s.refuses(func(_ string, words []string) error {
		if does(words, "submit") {
			return errBroken
		}
		return nil
	})
	e := s.starts(part("a", marks), part("b", marks))
	status := e.ends(coalloc.Failed)
	require.NotEqual(t, coalloc.PartSubmitting, status.Parts[0].State)
	require.ErrorIs(t, e.Commit(t.Context(), false), coalloc.ErrEnded)
	s.isEmpty()
}

func TestF3TheOutcomeOfASubmissionIsUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var submissions atomic.Int64
	s.loses(func(_ string, words []string) error {
		if does(words, "submit") && submissions.Add(1) == 1 {
			return errLost // after the scheduler took the job
		}
		return nil
	})
	e := s.starts(part("a", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	e.commits()
	e.ends(coalloc.Done)
	require.Equal(t, 1, s.jobsMade())
	require.Len(t, s.marksOf("a"), 1)
}

// Until rmctl runs a command of the scheduler, it can repeat the preparation of a submission.
func TestALinkThatIsLostBeforeASubmissionIsReplaced(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var writes, submissions atomic.Int64
	s.refuses(func(_ string, words []string) error {
		if strings.HasSuffix(words[0], "/part-1.json") && writes.Add(1) <= 2 {
			return errLost
		}
		if does(words, "submit") {
			submissions.Add(1)
		}
		return nil
	})
	e := s.starts(part("a", marks), part("b", marks))
	e.commits()
	e.ends(coalloc.Done)
	require.Equal(t, int64(3), writes.Load())
	require.Equal(t, int64(2), submissions.Load())
	require.Len(t, s.marksOf("a"), 1)
	require.Len(t, s.marksOf("b"), 1)
}

func TestPartsOnATargetShareASessionAndItsLossFailsNone(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var sessions atomic.Int64
	s.refuses(func(_ string, words []string) error {
		if strings.Join(words, " ") == "echo local" && sessions.Add(1) <= 2 {
			return errLost
		}
		return nil
	})
	e := s.starts(part("a", marks), part("b", marks), part("c", marks))
	e.commits()
	e.ends(coalloc.Done)
	require.Equal(t, int64(3), sessions.Load())
}

func TestALinkThatIsLostWhileItIsMadeIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	var used atomic.Int64
	s.refuses(func(_ string, words []string) error {
		if used.Add(1) <= 2 {
			return errLost
		}
		return nil
	})
	e := s.starts(part("a", marks))
	e.commits()
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
}

func TestALinkThatIsAlwaysLostBeforeASubmissionFailsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	s.refuses(func(_ string, words []string) error {
		if strings.HasSuffix(words[0], "/part-1.json") {
			return errLost
		}
		return nil
	})
	e := s.starts(part("a", marks))
	status := e.ends(coalloc.Failed)
	require.Contains(t, status.Reason, "writing the pass of part a: "+errLost.Error())
	s.isEmpty()
}

func TestATargetWhoseConnectionIsAlwaysLostFailsItsPart(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	s.refuses(func(string, []string) error { return errLost })
	status := s.starts(part("a", marks)).ends(coalloc.Failed)
	require.Contains(t, status.Reason, errLost.Error())
	require.NotContains(t, status.Reason, "node_directory")
}

func TestF4ARequiredPartEndsBeforeTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks), part("b", marks))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	e.kills("b")
	status := e.ends(coalloc.Failed)
	require.Contains(t, status.Reason, `part "b"`)
	require.Contains(t, status.Reason, "before its release")
	require.Empty(t, s.marksOf("a"))
	s.isEmpty()
}

func TestF5AnInteractivePartEndsBeforeTheRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, "here")
	e := s.starts(part("a", marks), part("b", marks, kind(coalloc.Interactive)))
	e.reaches("a", coalloc.PartCheckedIn)
	e.reaches("b", coalloc.PartCheckedIn)
	e.kills("b")
	e.reaches("b", coalloc.PartFailed)
	e.has("part b FAILED")
	e.commits()
	require.Equal(t, coalloc.Waiting, e.status().State)
	require.NoError(t, e.Substitute(t.Context(), "b", part("b", marks)))
	e.ends(coalloc.Done)
	require.Len(t, s.marksOf("a"), 1)
	require.Equal(t, []string{"3 0"}, s.marksOf("b"))
}
