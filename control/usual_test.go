package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// withUsual returns a site whose definition stands in a file, of whose cases is
// known what is usual, and a job of it.
func withUsual(t *testing.T, usual control.UsualOutput) (*site, job.Job, *[]jobstore.Drift) {
	t.Helper()
	s, job, told := drifting(t)
	path := filepath.Join(t.TempDir(), "site.xml")
	require.NoError(t, os.WriteFile(path, s.options.Definition.Source(), 0o600))
	definition, problems := config.Load(path, s.options.Definition.Source())
	require.NoError(t, problems.Err())
	require.NoError(t, control.WriteUsual(definition, map[string]control.UsualOutput{"get-job-status:get-job-status": usual}))
	s.options.Definition = definition
	s.Controller = control.New(s.options)
	return s, job, told
}

func TestWhatCasesShowIsUsualFromTheFirstRunOn(t *testing.T) {
	s, job, told := withUsual(t, control.UsualOutput{Outputs: 3, Unmatched: 0.5})
	s.prints(t, job, 3, 8)
	require.Empty(t, *told, "a third was understood, where half is usual")
	s.prints(t, job, 1, 9)
	require.Len(t, *told, 1)
	require.Equal(t, "10 of 12 lines were not understood; in the cases of the definition never more than 50% were not", (*told)[0].Seen)
}

func TestRunsTeachNothingWhereCasesShowWhatIsUsual(t *testing.T) {
	s, job, told := withUsual(t, control.UsualOutput{Outputs: 1, Unmatched: 0.1})
	for range 25 {
		s.ahead += 25 * time.Hour
		s.prints(t, job, 1, 30)
	}
	require.Len(t, *told, 25)
}

func TestAWordThatACaseShowsIsNoDrift(t *testing.T) {
	s, job, told := withUsual(t, control.UsualOutput{Words: []string{"NOVEL"}})
	s.answering(t, `echo native NOVEL`)
	s.status(t, job)
	require.Empty(t, *told)
	s.answering(t, `echo native NEWER`)
	s.status(t, job)
	require.Len(t, *told, 1)
}

func TestWhatIsUsualOfAnotherStateOfADefinitionDoesNotCount(t *testing.T) {
	for name, test := range map[string]struct{ text, seen string }{
		"a definition that has changed since": {`{"definition": "1", "commands": {"get-job-status:get-job-status": {"outputs": 9, "unmatched": 0}}}`, "the definition has changed since it was written"},
		"no JSON":                             {`{"definition": `, "unexpected end of JSON input"},
		"too long":                            {strings.Repeat(" ", 1<<20+1), "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			s, job, told := withUsual(t, control.UsualOutput{Outputs: 3})
			path := control.UsualFile(s.options.Definition)
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			s.Controller = control.New(s.options)
			s.prints(t, job, 1, 9)
			require.Empty(t, *told, "it is learned from runs")
			finding := examined(t, s, "output")
			require.Equal(t, control.Warning, finding.Verdict)
			require.Contains(t, finding.Seen, path)
			require.Contains(t, finding.Seen, test.seen)
			require.Contains(t, finding.Mend, "rmctl test --write-usual")
		})
	}
}

func TestWhatIsUsualStandsBesideTheDefinition(t *testing.T) {
	s, _, _ := withUsual(t, control.UsualOutput{Outputs: 3})
	file := s.options.Definition.File
	require.Equal(t, strings.TrimSuffix(file, "site.xml")+"site.usual.json", control.UsualFile(s.options.Definition))
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, entries, 2, "and nothing is left beside it")
}

func TestWhatIsTakenOverFromAShippedDefinitionIsAsUsualAsThere(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "site.xml")
	require.NoError(t, os.WriteFile(path, []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site" x:extends="slurm"><control-data/></resource-manager-builder>`), 0o600))
	definition, _, err := control.UsableDefinition(path)
	require.NoError(t, err)
	bin := filepath.Join(folder, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "scontrol"), []byte("#!/bin/sh\necho 'JobId=7 JobName=x'\necho '   JobState=RUNNING Reason=None Dependency=(null)'\n"+
		"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo \"   New$i=value\"; done\n"), 0o700))
	var told []jobstore.Drift
	s := newSite(t, definition, func(o *control.Options) { o.OnDrift = func(drift jobstore.Drift) { told = append(told, drift) } })
	_, err = s.Status(t.Context(), job.Job{ID: "7", ShortID: "7"}, control.Fresh)
	require.NoError(t, err)
	require.Len(t, told, 1)
	require.Contains(t, told[0].Seen, "lines were not understood; in the cases")
}
