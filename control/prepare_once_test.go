package control_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

// These tests compare the allocations of a submission with those of one of its steps, for
// definitions in which that step is nearly all the work: half as much again means that
// something is done twice.
func requireOnce(t *testing.T, submission, step func()) {
	t.Helper()
	submission() // work that is done once and cached
	step()
	require.Less(t, float64(allocated(submission)), 1.5*float64(allocated(step)))
}

// allocated returns how many bytes a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// numbered repeats a text with the numbers below a bound in place of %.
func numbered(text string, bound int) string {
	var all strings.Builder
	for i := range bound {
		all.WriteString(strings.ReplaceAll(text, "%", fmt.Sprint(i)))
	}
	return all.String()
}

func TestASubmissionBuildsOneForm(t *testing.T) {
	definition := define(t, `<submit-batch name="s"><arg>x</arg></submit-batch>`+
		`<launch-tab><dynamic><title>T</title>`+numbered(`<widget type="checkbox" buttonId="b%"/>`, 5000)+`</dynamic></launch-tab>`)
	s := newRenderer(t, definition)
	requireOnce(t, func() {
		_, err := s.Render(job.Submission{Executable: "x"})
		require.NoError(t, err)
	}, func() {
		_, err := form.Select(definition, attribute.NewEnvironment(), "", false, nil)
		require.NoError(t, err)
	})
}

func TestTheSubmitCommandIsResolvedOnce(t *testing.T) {
	broken := errors.New("broken")
	s := newSite(t, define(t, `<attribute name="word" visible="false"/><submit-batch name="s"><arg>x</arg>`+numbered(`<arg>${ptp_rm:word#value}-%</arg>`, 20000)+`</submit-batch>`),
		func(o *control.Options) {
			o.Connection = &faultyConnection{Connection: o.Connection, start: func(remote.Command) error { return broken }}
		})
	env := attribute.NewEnvironment()
	env.SetVariable("word", nil)
	requireOnce(t, func() {
		_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
		require.ErrorIs(t, err, broken)
	}, func() {
		_, err := command.Resolve(s.Definition.Submit(false), config.Scope{Environment: env, Job: "a tag"}, job.Environment{})
		require.NoError(t, err)
	})
}

func TestTheValuesOfASubmissionAreResolvedOnce(t *testing.T) {
	const attributes = 500
	s := newSite(t, define(t, numbered(`<attribute name="a%"><validator><regex expression="v%"/></validator></attribute>`, attributes)+
		`<submit-interactive name="s"><arg>x</arg></submit-interactive>`), func(o *control.Options) {
		o.Defaults = values("a0", "v0")
	})
	submission := job.Submission{Executable: "x"}
	for i := range attributes {
		submission.Values = append(submission.Values, job.Assignment{Name: fmt.Sprintf("a%d", i), Value: fmt.Sprintf("v%d", i)})
	}
	requireOnce(t, func() {
		require.NoError(t, s.CheckInteractive(t.Context(), submission))
	}, func() {
		_, err := s.Render(submission)
		require.NoError(t, err)
	})
}
