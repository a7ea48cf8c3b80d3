package control_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/rms"
)

// filesOf renders the managed files of a definition.
func filesOf(t *testing.T, files string) (*site, []submission.StagedFile, error) {
	t.Helper()
	s := newRenderer(t, define(t, `<attribute name="a"><default>the text</default></attribute><attribute name="shell"><default>echo ${HOME} ${ptp_rm:a#value}</default></attribute>
		<attribute name="circle"><default>${ptp_rm:circle#value} </default></attribute><managed-files><file-staging-location>stage/${ptp_rm:a#name}</file-staging-location>`+
		files+`</managed-files><submit-batch name="s"><arg>x</arg></submit-batch>`))
	rendering, err := s.Render(job.Submission{Executable: "x"})
	if err != nil {
		return s, nil, err
	}
	return s, rendering.Files, nil
}

func TestManagedFilesAreMadeOfLinesContentsAndPaths(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source.dat")
	require.NoError(t, os.WriteFile(source, []byte("from ${ptp_rm:a#value}"), 0o600))
	for name, c := range map[string]struct{ file, path, content string }{
		"lines without the empty ones": {`<file name="f"><line><arg>${ptp_rm:a#value}</arg></line><line/><line><arg>b</arg><arg>c</arg></line></file>`, "f", "the text\nb c\n"},
		"contents":                     {`<file name="f"><contents>${ptp_rm:a#value} ${HOME}</contents></file>`, "f", "the text ${HOME}"},
		"contents as they are":         {`<file name="f" resolveContents="false"><contents>echo ${HOME}</contents></file>`, "f", "echo ${HOME}"},
		"contents replaced as a whole": {`<file name="f" resolveContents="false"><contents>x ${ptp_rm:shell#value} y</contents></file>`, "f", "echo ${HOME} ${ptp_rm:a#value}"},
		"replaced without a field":     {`<file name="f" resolveContents="false"><contents>${ptp_rm:a}</contents></file>`, "f", "the text"},
		"replaced by nothing":          {`<file name="f" resolveContents="false"><contents>x ${ptp_rm:nobody#value} y</contents></file>`, "f", ""},
		"a path":                       {`<file name="f"><path>` + source + `</path></file>`, "source.dat", "from ${ptp_rm:a#value}"},
		"a name with references":       {`<file name="f-${ptp_rm:a#name}"><contents/></file>`, "f-a", ""},
		"a name that is made unique":   {`<file name="f" uniqueIdPrefix="true"><contents>c</contents></file>`, "UUIDf", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			s, files, err := filesOf(t, c.file)
			require.NoError(t, err)
			require.Len(t, files, 1)
			require.Equal(t, s.path("stage/a/"+c.path), files[0].Path)
			require.Equal(t, c.content, files[0].Content)
			require.Equal(t, fs.FileMode(0o600), files[0].Mode)
		})
	}
}

func TestManagedFilesThatCannotBeMadeAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"a source that is missing":    {`<file name="f"><path>/nonexistent/source</path></file>`, "no such file"},
		"a path that is empty":        {`<file name="f"><path>${ptp_rm:nobody#value}</path></file>`, "empty path"},
		"a path to a folder":          {`<file name="f"><path>/</path></file>`, "is a directory"},
		"a device that never ends":    {`<file name="f"><path>/dev/zero</path></file>`, "larger than 67108864 bytes"},
		"a name with folders":         {`<file name="../f"><contents/></file>`, "invalid file name"},
		"a name that is a folder":     {`<file name=".."><contents/></file>`, "invalid file name"},
		"a name that is this folder":  {`<file name="."><contents/></file>`, "invalid file name"},
		"no name":                     {`<file name="${ptp_rm:nobody#value}"><contents/></file>`, "invalid file name"},
		"a name that does not end":    {`<file name="${ptp_rm:circle#value}"><contents/></file>`, "form a loop"},
		"an invalid mode":             {`<file name="f" mode="rwx"><contents/></file>`, "octal"},
		"a mode with more than modes": {`<file name="f" mode="4755"><contents/></file>`, "octal"},
		"contents that do not end":    {`<file name="f"><contents>${ptp_rm:circle#value}</contents></file>`, "form a loop"},
		"lines that do not end":       {`<file name="f"><line><arg>${ptp_rm:circle#value}</arg></line></file>`, "form a loop"},
		"a path that does not end":    {`<file name="f"><path>${ptp_rm:circle#value}</path></file>`, "form a loop"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := filesOf(t, c.file)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "test.xml:")
			require.ErrorContains(t, err, "managed file")
		})
	}
}

// A program next to the definition is staged from there. A shipped definition uses the shipped
// program, whatever the working directory: a file of that name there must not run.
func TestAFileNextToTheDefinitionIsUsed(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "local.sh"), []byte("here"), 0o600))
	contentBeside := func(file string, source []byte) string {
		definition, problems := check.Load(file, source, check.ReadBase)
		require.Empty(t, problems)
		rendering, err := newRenderer(t, definition).Render(job.Submission{Executable: "x"})
		require.NoError(t, err)
		return rendering.Files[0].Content
	}
	shipped, _ := rms.Source("local")
	program, _ := rms.Beside("local.xml", shipped, "local.sh")
	require.Equal(t, string(program), contentBeside("local.xml", shipped))
	require.Equal(t, "here", contentBeside("local.xml", append(shipped, "<!-- changed -->"...)))

	extending := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="mine" x:extends="local"/>`
	require.Equal(t, string(program), contentBeside(filepath.Join(folder, "mine.xml"), []byte(extending)))
}

const threeFiles = `<managed-files>
	<file name="kept" mode="0750"><contents>k</contents></file>
	<file name="passing" uniqueIdPrefix="true" deleteTargetAfterUse="true"><contents>p</contents></file>
</managed-files>
<managed-files><file-staging-location>HOME/abs</file-staging-location><file name="third" deleteTargetAfterUse="true"><line><arg>t</arg></line></file></managed-files>`

// listing is a submit command that lists existing files and the attributes of files.
const listing = `<submit-batch name="s" waitForId="true"><arg>/bin/sh -c</arg><arg resolve="false">'cd; find . -type f -exec ls -l {} + >seen; printf "%s\n" "$@" >names; echo job 7' sh</arg>
	<arg>"${ptp_rm:kept#value}" "${ptp_rm:passing#value}" "${ptp_rm:third#value}" "${ptp_rm:managed_file_for_script#value}"</arg>` + jobIDParser + `</submit-batch>`

func TestStagedFilesExistOnlyForTheSubmitCommand(t *testing.T) {
	home := newHome(t)
	s := newSite(t, define(t, strings.ReplaceAll(threeFiles, "HOME", home)+`<script><line><arg>#!/bin/sh</arg></line></script>`+listing))
	s.submits(t, job.Submission{Executable: "x"})

	seen := s.read(t, "seen")
	require.Regexp(t, `(?m)^-rwxr-x--- .* \./\.eclipsesettings/kept$`, seen)
	require.Regexp(t, `(?m)^-rw------- .* \./\.eclipsesettings/[0-9a-f-]{36}passing$`, seen)
	require.Regexp(t, `(?m)^-rwx------ .* \./\.eclipsesettings/[0-9a-f-]{36}managed_file_for_script$`, seen)
	names := strings.Split(s.read(t, "names"), "\n")
	require.Equal(t, s.path(".eclipsesettings/kept"), names[0])
	require.Regexp(t, `/\.eclipsesettings/[0-9a-f-]{36}passing$`, names[1])
	require.Equal(t, home+"/abs/third", names[2])
	require.Regexp(t, `managed_file_for_script$`, names[3])

	require.Equal(t, []string{"kept"}, s.files(t, ".eclipsesettings"))
	_, err := os.Stat(home + "/abs/third")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestTheScriptIsKeptWhereTheDefinitionSaysSo(t *testing.T) {
	s := newSite(t, define(t, `<script deleteAfterSubmit="false"><file-staging-location>scripts</file-staging-location><line><arg>#!/bin/sh</arg></line></script>`+submitting(`echo job 7`, "")))
	s.submits(t, job.Submission{Executable: "x"})
	s.submits(t, job.Submission{Executable: "x"})
	require.Len(t, s.files(t, "scripts"), 2, "each submission has its own")
}

func TestAScriptOfTheUsersKeepsItsName(t *testing.T) {
	s := newSite(t, define(t, `<script><line><arg>#!/bin/sh</arg></line></script>`+
		`<submit-batch name="s" waitForId="true"><arg>/bin/sh -c 'cp "$0" copy; basename "$0" >name; echo job 7' ${ptp_rm:managed_file_for_script#value}</arg>`+jobIDParser+`</submit-batch>`))
	s.write(t, "my job.sh", "echo ${HOME} ${ptp_rm:x#value}\n")
	job := s.submits(t, job.Submission{Script: s.path("my job.sh")})
	require.Equal(t, "echo ${HOME} ${ptp_rm:x#value}\n", s.read(t, "copy"))
	require.Equal(t, "my_job.sh", job.Name)
	require.Equal(t, "my_job.sh\n", s.read(t, "name"), "in one word, since definitions do not quote it")
	require.True(t, s.exists("my job.sh"))
	require.Empty(t, s.files(t, ".eclipsesettings"))
	folders, err := os.ReadDir(s.path(".eclipsesettings"))
	require.NoError(t, err)
	require.Empty(t, folders, "the folder that was made for it is gone")
}

func TestAScriptIsRefusedByADefinitionWithoutScripts(t *testing.T) {
	s := newSite(t, define(t, submitting(`echo job 7`, "")))
	_, err := s.Submit(t.Context(), job.Submission{Script: s.path("absent")})
	require.ErrorContains(t, err, "does not submit scripts")

	s = newSite(t, define(t, `<script><line><arg>#!/bin/sh</arg></line></script>`+submitting(`echo job 7`, "")))
	_, err = s.Submit(t.Context(), job.Submission{Script: s.path("absent")})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestTheSourceOfAFileIsDeletedOnRequest(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	require.NoError(t, os.WriteFile(source, []byte("s"), 0o600))
	s := newSite(t, define(t, `<managed-files><file name="f" deleteSourceAfterUse="true"><path>`+source+`</path></file></managed-files>`+submitting(`echo job 7`, "")))
	_, err := s.Render(job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.FileExists(t, source, "looking uses nothing")
	s.submits(t, job.Submission{Executable: "x"})
	require.NoFileExists(t, source)
	require.Equal(t, "s", s.read(t, ".eclipsesettings/source"))
}

func TestFailedStagingLeavesNoFiles(t *testing.T) {
	s := newSite(t, define(t, strings.ReplaceAll(threeFiles, "HOME/", "")+submitting(`touch ran; echo job 7`, "")), func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, writeFile: func(path string) error {
			if strings.HasSuffix(path, "third") {
				return errors.New("no space left")
			}
			return nil
		}}
	})
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	var failed *control.SubmitError
	require.ErrorAs(t, err, &failed)
	require.False(t, failed.Unknown)
	require.ErrorContains(t, err, "no space left")
	require.ErrorContains(t, err, "abs/third")
	require.Equal(t, []string{"kept"}, s.files(t, ".eclipsesettings"))
	require.False(t, s.exists("ran"))
	j, err := s.store.ByTag(t.Context(), failed.Tag)
	require.NoError(t, err)
	require.Equal(t, job.PhaseRejected, j.Phase)
}

func TestCanceledStagingLeavesNoFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newSite(t, define(t, strings.ReplaceAll(threeFiles, "HOME/", "")+submitting(`touch ran; echo job 7`, "")), func(o *control.Options) {
		o.Connection = &faultyConnection{Connection: o.Connection, writeFile: func(path string) error {
			if strings.HasSuffix(path, "third") {
				cancel()
			}
			return nil
		}}
	})
	_, err := s.Submit(ctx, job.Submission{Executable: "x"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"kept"}, s.files(t, ".eclipsesettings"))
	require.False(t, s.exists("ran"))
}

func TestAFileWhoseSourceCannotBeDeletedIsRemovedAgain(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "source")
	require.NoError(t, os.WriteFile(source, []byte("s"), 0o600))
	s := newSite(t, define(t, `<managed-files><file name="f" deleteSourceAfterUse="true" deleteTargetAfterUse="true"><path>`+source+`</path></file></managed-files>`+submitting(`echo job 7`, "")),
		func(o *control.Options) {
			o.Connection = &faultyConnection{Connection: o.Connection, writeFile: func(string) error { return os.Remove(source) }}
		})
	_, err := s.Submit(t.Context(), job.Submission{Executable: "x"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Empty(t, s.files(t, ".eclipsesettings"))
}

func TestFailedCleanupDoesNotLoseTheJob(t *testing.T) {
	s := newSite(t, define(t, strings.ReplaceAll(threeFiles, "HOME/", "")+submitting(`rm -r .eclipsesettings; mkdir -p .eclipsesettings; chmod 500 abs; echo job 7`, "")))
	job := s.submits(t, job.Submission{Executable: "x"})
	require.Equal(t, "7", job.ID)
	require.NoError(t, os.Chmod(s.path("abs"), 0o700))
}

func TestStagingReportsProgress(t *testing.T) {
	large := strings.Repeat("x", 3<<20)
	var reported []remote.Transfer
	write := func(string) error { return nil }
	s := newSite(t, define(t, `<attribute name="large"/><managed-files><file-staging-location>stage</file-staging-location>`+
		`<file name="big"><contents>${ptp_rm:large#value}</contents></file><file name="empty"><contents/></file></managed-files>`+submitting("echo job 7", "")),
		func(o *control.Options) {
			o.OnStaging = func(p remote.Transfer) { reported = append(reported, p) }
			o.Connection = &faultyConnection{Connection: o.Connection, writeFile: func(path string) error { return write(path) }}
		})
	big := job.Submission{Executable: "x", Values: []job.Assignment{{Name: "large", Value: large}}}
	s.submits(t, big)
	require.Greater(t, len(reported), 4)
	sent := int64(0)
	for _, p := range reported[:len(reported)-1] {
		require.Equal(t, s.path("stage/big"), p.Path)
		require.Equal(t, int64(len(large)), p.Size)
		require.True(t, p.Sent > sent || p.Done)
		sent = p.Sent
	}
	require.Equal(t, int64(len(large)), sent)
	require.True(t, reported[len(reported)-2].Done)
	require.Equal(t, remote.Transfer{Path: s.path("stage/empty"), Done: true}, reported[len(reported)-1])

	reported = nil
	write = func(string) error { return errors.New("no space") }
	_, err := s.Submit(t.Context(), big)
	require.ErrorContains(t, err, "no space")
	require.Len(t, reported, 1)
	require.True(t, reported[0].Done, "the bar of a file that failed goes, too")
}
