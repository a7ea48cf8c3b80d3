package doctor_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/doctor"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// found returns the findings of one name.
func found(findings []doctor.Finding, name string) []doctor.Finding {
	var of []doctor.Finding
	for _, finding := range findings {
		if finding.Name == name {
			of = append(of, finding)
		}
	}
	return of
}

// examined examines a site where nothing may keep it from being reached, and
// returns the one finding of that name.
func examined(t *testing.T, s *site, name string) doctor.Finding {
	t.Helper()
	findings, err := doctor.Examine(t.Context(), s.options)
	require.NoError(t, err)
	of := found(findings, name)
	require.Len(t, of, 1, "%v", findings)
	return of[0]
}

// changing returns a change of the options that puts a connection in front.
func changing(put func(remote.Connection) remote.Connection) func(*control.Options) {
	return func(o *control.Options) { o.Connection = put(o.Connection) }
}

const submittingAndAsking = `<submit-batch name="submit"><arg>sh -c true</arg></submit-batch><get-job-status name="status"><arg>sh -c true</arg></get-job-status>`

func TestAnExaminationOfLocalFindsNothingAmissAndChangesNothing(t *testing.T) {
	definition, finding := doctor.ExamineDefinition("local")
	require.Equal(t, doctor.Fine, finding.Verdict)
	s := newSite(t, definition)
	findings, err := doctor.Examine(t.Context(), s.options)
	require.NoError(t, err)
	for _, one := range findings {
		require.Equal(t, doctor.Fine, one.Verdict, "%v", one)
		require.Empty(t, one.Impact+one.Fix)
	}
	require.True(t, doctor.CanRun(findings))
	for _, name := range []string{"connection", "login noise", "PATH", "locale", "clock", "staging", "programs", "sessions", "job names"} {
		require.Len(t, found(findings, name), 1, name)
	}
	require.Empty(t, s.files(t, "."))
	entries, err := os.ReadDir(s.home)
	require.NoError(t, err)
	require.Empty(t, entries, "not even a folder is made")
}

func TestProgramsThatAreMissingAreNamed(t *testing.T) {
	s := newSite(t, define(t, `<submit-batch name="submit"><arg>no-such-submit</arg></submit-batch>
		<get-job-status name="status"><arg>sh -c true</arg></get-job-status>
		<terminate-job name="cancel"><arg>no-such-cancel -x</arg></terminate-job><hold-job name="hold"><arg>no-such-cancel</arg></hold-job>`))
	findings, err := doctor.Examine(t.Context(), s.options)
	require.NoError(t, err)
	require.False(t, doctor.CanRun(findings))
	programs := found(findings, "programs")
	require.Len(t, programs, 3)
	require.Equal(t, doctor.Finding{Name: "programs", Verdict: doctor.Fine, Seen: "sh"}, programs[0])
	require.Equal(t, doctor.Problem, programs[1].Verdict)
	require.Contains(t, programs[1].Seen, "no-such-submit")
	require.Equal(t, doctor.Warning, programs[2].Verdict)
	require.Contains(t, programs[2].Impact, "terminate-job, hold-job")
}

func TestProbesReportVersionsAndWhatIsMissing(t *testing.T) {
	probe := func(attributes, script string) string {
		return running("x:probe", script, attributes+` impact="IMPACT" fix="FIX"`, "")
	}
	fine := func(seen string) doctor.Finding {
		return doctor.Finding{Name: "x:probe", Verdict: doctor.Fine, Seen: seen}
	}
	amiss := func(verdict doctor.Verdict, seen string) doctor.Finding {
		return doctor.Finding{Name: "x:probe", Verdict: verdict, Seen: seen, Impact: "IMPACT", Fix: "FIX"}
	}
	for _, c := range []struct {
		probe  string
		expect doctor.Finding
	}{
		{probe(`version="tool ([\d.]+)" at-least="20.11"`, "echo banner; echo tool 20.11.3"), fine("tool 20.11.3")},
		{probe(`version="tool ([\d.]+)" at-least="20.11"`, "echo tool 20.9"), amiss(doctor.Problem, "tool 20.9, below 20.11")},
		{probe(`version="tool ([\d.]+)" at-least="20.11" required="false"`, "echo tool 20.9 >&2"), amiss(doctor.Warning, "tool 20.9, below 20.11")},
		{probe(`version="tool ([\d.]+)" at-least="20.11" required="false"`, "echo no answer >&2; exit 1"),
			doctor.Finding{Name: "x:probe", Verdict: doctor.Warning, Seen: "no answer", Impact: "rmctl cannot check this"}},
		{probe(`version="tool ([\d.]+)"`, "echo other 1"), amiss(doctor.Problem, "not found in: other 1")},
		{probe(`version="tool ([\d.]+)" x:exits="0 1"`, "echo other 1; echo not readable >&2; exit 1"), amiss(doctor.Problem, "not found in: not readable")},
		{probe(`version="age=(?:0|(\d+))" at-least="60"`, "echo age=0"), fine("age=0")},
		{probe(`version="([0-9]+)" at-least="60"`, "echo 99999999999999999999999"), fine("99999999999999999999999")},
		{probe(``, "echo all is well"), fine("all is well")},
		{probe(``, "true"), fine("there")},
		{probe(`required="false"`, "echo 'accounting is disabled' >&2; exit 1"), amiss(doctor.Warning, "accounting is disabled")},
		{`<x:probe name="x:probe" impact="IMPACT" fix="FIX"><arg>no-such-tool --version</arg></x:probe>`, amiss(doctor.Problem, "no-such-tool not found")},
	} {
		s := newSite(t, define(t, submittingAndAsking+c.probe))
		require.Equal(t, c.expect, examined(t, s, "x:probe"), c.probe)
	}
}

func TestAProbeThatHangsIsEnded(t *testing.T) {
	s := newSite(t, define(t, submittingAndAsking+running("x:probe", "sleep 1000", `x:timeout="100ms"`, "")))
	finding := examined(t, s, "x:probe")
	require.Equal(t, doctor.Problem, finding.Verdict)
	require.Contains(t, finding.Seen, "100ms")
}

// A noisyConnection prints something before what any command prints.
type noisyConnection struct {
	remote.Connection
	stdout, stderr string
}

func (n *noisyConnection) Start(ctx context.Context, c remote.Command) (remote.Handle, error) {
	for _, noise := range []struct {
		to   io.Writer
		text string
	}{{c.Stdout, n.stdout}, {c.Stderr, n.stderr}} {
		if _, err := io.WriteString(noise.to, noise.text); err != nil {
			return nil, err
		}
	}
	return n.Connection.Start(ctx, c)
}

func TestLoginNoiseIsFoundAndDisturbsNoOtherFinding(t *testing.T) {
	definition := define(t, submittingAndAsking)
	quiet, err := doctor.Examine(t.Context(), newSite(t, definition).options)
	require.NoError(t, err)
	require.Equal(t, "none", found(quiet, "login noise")[0].Seen)

	s := newSite(t, definition, changing(func(c remote.Connection) remote.Connection {
		return &noisyConnection{c, "\n*** Welcome\x1b[2J ***\n", ""}
	}))
	noisy, err := doctor.Examine(t.Context(), s.options)
	require.NoError(t, err)
	noise := found(noisy, "login noise")[0]
	require.Equal(t, doctor.Warning, noise.Verdict)
	require.Contains(t, noise.Seen, "on standard output: *** Welcome")
	require.Len(t, noisy, len(quiet))
	for i := range quiet {
		if name := quiet[i].Name; name != "login noise" && name != "connection" && name != "staging" {
			require.Equal(t, quiet[i], noisy[i])
		}
	}
	s = newSite(t, definition, changing(func(c remote.Connection) remote.Connection { return &noisyConnection{c, "", "mesg: not a tty\n"} }))
	require.Equal(t, "on standard error: mesg: not a tty", examined(t, s, "login noise").Seen)
}

// An alteredConnection changes commands before they are started.
type alteredConnection struct {
	remote.Connection
	alter func(*remote.Command)
}

func (a *alteredConnection) Start(ctx context.Context, c remote.Command) (remote.Handle, error) {
	a.alter(&c)
	return a.Connection.Start(ctx, c)
}

func TestALocaleThatDoesNotTakeEffectIsFound(t *testing.T) {
	s := newSite(t, define(t, submittingAndAsking), changing(func(c remote.Connection) remote.Connection {
		return &alteredConnection{c, func(c *remote.Command) { c.Environment = map[string]string{"LC_ALL": "de_DE.UTF-8"} }}
	}))
	finding := examined(t, s, "locale")
	require.Equal(t, doctor.Warning, finding.Verdict)
	require.Contains(t, finding.Seen, "de_DE.UTF-8")
}

// fakeProgram puts a program in front of PATH, which it may leave.
func fakeProgram(t *testing.T, name, script string) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

func TestAClockThatIsWrongIsFound(t *testing.T) {
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	atNoon := func(o *control.Options) { o.Now = func() time.Time { return noon } }
	for offset, expected := range map[time.Duration]string{
		0: "same as here", 3 * time.Second: "same as here", -3 * time.Second: "same as here", time.Hour: "1h0m0s ahead", -time.Hour: "59m59s behind",
	} {
		t.Run(expected+offset.String(), func(t *testing.T) {
			fakeProgram(t, "date", fmt.Sprintf("echo '%s'", noon.Add(offset).Format(time.RFC3339)))
			finding := examined(t, newSite(t, define(t, submittingAndAsking), atNoon), "clock")
			require.Contains(t, finding.Seen, expected)
			require.Equal(t, expected == "same as here", finding.Verdict == doctor.Fine)
		})
	}
	fakeProgram(t, "date", "echo yesterday")
	require.Equal(t, "date printed no time: yesterday", examined(t, newSite(t, define(t, submittingAndAsking)), "clock").Seen)
}

func TestWhatIsWrongWithTheStagingPlaceIsFound(t *testing.T) {
	const staged = `<managed-files><file-staging-location>place/of/files</file-staging-location><file name="a"><contents>b</contents></file></managed-files>`
	definition := define(t, staged+submittingAndAsking)
	s := newSite(t, definition)
	require.Contains(t, examined(t, s, "staging").Seen, "place/of/files (will be created), names of up to 255 bytes, ")

	s.write(t, "place/of/files/x", "")
	require.NoError(t, os.Chmod(s.path("place/of/files"), 0o777))
	require.Contains(t, examined(t, s, "staging").Seen, "writable by everybody")

	require.NoError(t, os.RemoveAll(s.path("place")))
	s.write(t, "place", "")
	finding := examined(t, s, "staging")
	require.Equal(t, doctor.Problem, finding.Verdict)

	require.NoError(t, os.Remove(s.path("place")))
	fakeProgram(t, "df", "echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'; echo 'a b 1000 999 1 100% /a b'")
	finding = examined(t, s, "staging")
	require.Equal(t, doctor.Problem, finding.Verdict)
	require.Contains(t, finding.Seen, "1 KiB free")
}

type unreachable struct{ remote.Connection }

func (unreachable) Start(context.Context, remote.Command) (remote.Handle, error) {
	return nil, &remote.StartError{Program: "true", Err: fmt.Errorf("%w: no route to host", remote.ErrUnreachable)}
}

func TestAPlaceThatCannotBeReachedEndsTheExamination(t *testing.T) {
	s := newSite(t, define(t, submittingAndAsking), changing(func(c remote.Connection) remote.Connection {
		return unreachable{c}
	}))
	findings, err := doctor.Examine(t.Context(), s.options)
	require.ErrorIs(t, err, remote.ErrUnreachable)
	require.Len(t, findings, 1)
	require.Equal(t, doctor.Problem, findings[0].Verdict)
	require.Contains(t, findings[0].Seen, "no route to host")
}

func TestADefinitionThatCannotBeUsedIsFound(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "bad.xml")
	require.NoError(t, os.WriteFile(file, []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="n"><control-data><submit-batch/></control-data></resource-manager-builder>`), 0o600))
	for _, name := range []string{file, filepath.Join(folder, "missing.xml"), "unheard-of"} {
		definition, finding := doctor.ExamineDefinition(name)
		require.Nil(t, definition)
		require.Equal(t, doctor.Problem, finding.Verdict)
		require.NotEmpty(t, finding.Fix)
	}
}

func TestTheStateFolderIsLookedAtWithoutMakingIt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "rmctl")
	finding := doctor.ExamineState(folder)
	require.NotEqual(t, doctor.Problem, finding.Verdict)
	require.Contains(t, finding.Seen, "(will be created)")
	_, err := os.Stat(filepath.Dir(folder))
	require.ErrorIs(t, err, os.ErrNotExist)

	store, err := jobstore.Open(t.Context(), folder)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.NotContains(t, doctor.ExamineState(folder).Seen, "will be created")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	require.Equal(t, doctor.Problem, doctor.ExamineState(filepath.Join(folder, "file", "below")).Verdict)
}

// What the probes of pbs look for is in the output of OpenPBS 23.06, and not
// in what Grid Engine's commands of the same names do.
func TestTheProbesOfPBSReadWhatItPrints(t *testing.T) {
	definition, _ := doctor.ExamineDefinition("pbs")
	server := func(more string) string {
		return "printf '%s\\n' 'Server: pbs01' '    server_state = Active' '    pbs_version = 23.06.06' " + more
	}
	for _, c := range []struct{ qsub, qstat, probe, seen string }{
		{"echo pbs_version = 23.06.06", server(""), "qsub", "version = 23.06.06"},
		{"echo pbs_version = 23.06.06", server(""), "server", "server_state = Active"},
		{"echo", server("'    job_history_enable = True' '    job_history_duration = 336:00:00'"), "ended jobs", "job_history_enable = True job_history_duration = 336:00:00"},
		{"echo", server("'    job_history_enable = True'"), "ended jobs", "job_history_enable = True"},
		{"echo", server("'    job_history_enable = True' '    job_history_duration = 00:10:00'"), "ended jobs", "job_history_enable = True job_history_duration = 00:10:00, below 1"},
		{"echo", server("'    job_history_enable = False'"), "ended jobs", "not found in: Server: pbs01"},
		{"echo 'qsub: Unknown option' >&2; exit 2", server(""), "qsub", "qsub: Unknown option"},
		{"echo", "echo 'qstat: cannot connect to server pbs01 (errno=15010)' >&2; exit 255", "server", "qstat: cannot connect to server pbs01 (errno=15010)"},
	} {
		t.Run(c.probe+": "+c.seen, func(t *testing.T) {
			fakeProgram(t, "qsub", c.qsub)
			fakeProgram(t, "qstat", c.qstat)
			require.Equal(t, c.seen, examined(t, newSite(t, definition), c.probe).Seen)
		})
	}
}
