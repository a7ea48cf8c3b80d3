package control_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/job"
)

// portableSite runs nothing; its one command shows the resulting values of the attributes.
func portableSite(t *testing.T, defaults ...string) *site {
	return newRenderer(t, define(t, `<attribute name="nodes"><validator><regex expression="(\d+(-\d+)?)?"/></validator></attribute>
		<attribute name="partition"/><attribute name="time" type="integer" max="1440"/><attribute name="chunk.mem" visible="false"/><attribute name="select"/>
		<submit-batch name="show"><arg>show n=${ptp_rm:nodes#value} p=${ptp_rm:partition#value} t=${ptp_rm:time#value} m=${ptp_rm:chunk.mem#value} s=${ptp_rm:select#value}</arg></submit-batch>
		<launch-tab><dynamic><title>T</title><widget type="text" attribute="time"/></dynamic></launch-tab>
		<x:portable name="nodes" attribute="nodes"/><x:portable name="queue" attribute="partition"/>
		<x:portable name="wallTime" attribute="time" as="min"/><x:portable name="memory" attribute="chunk.mem" as="MiB" per="tasksPerNode" excludes="select"/>
		<x:portable name="account" note="nobody pays"/>`), func(o *control.Options) { o.Defaults = values(defaults...) })
}

func commandLine(t *testing.T, s *site, of job.Submission) string {
	t.Helper()
	rendering, err := s.Render(of)
	require.NoError(t, err)
	return strings.Join(rendering.Commands[0].Arguments[1:], " ")
}

func TestPortableNamesSetTheAttributesThatTheyAreLinkedTo(t *testing.T) {
	for _, c := range []struct {
		defaults, given []string
		want            string
	}{
		{nil, []string{"wallTime", "1h30m", "memory", "1GiB", "queue", "debug", "nodes", "2"}, "n=2 p=debug t=90 m=1024 s="},
		{nil, []string{"memory", "1GiB", "tasksPerNode", "3"}, "n= p= t= m=342 s="},
		// An attribute's own way of writing.
		{nil, []string{"nodes", "2-4"}, "n=2-4 p= t= m= s="},
		{nil, []string{"nodes", "2", "nodes", "2-4"}, "n=2-4 p= t= m= s="},
		{nil, []string{"nodes", "2-4", "nodes", "3"}, "n=3 p= t= m= s="},
		// Values of a submission override those of the target.
		{[]string{"queue", "batch"}, []string{"partition", "debug"}, "n= p=debug t= m= s="},
		{[]string{"partition", "batch"}, []string{"queue", "debug"}, "n= p=debug t= m= s="},
		{[]string{"queue", "batch", "wallTime", "2h"}, []string{"wallTime", "1h"}, "n= p=batch t=60 m= s="},
		{[]string{"memory", "1GiB"}, []string{"tasksPerNode", "2"}, "n= p= t= m=512 s="},
		{[]string{"queue", "batch", "wallTime", "2h"}, []string{"queue", "", "wallTime", ""}, "n= p= t= m= s="},
		{[]string{"nodes", "2-4"}, []string{"nodes", ""}, "n= p= t= m= s="},
		// Both give the same value.
		{nil, []string{"wallTime", "1h", "time", "60"}, "n= p= t=60 m= s="},
	} {
		require.Equal(t, c.want, commandLine(t, portableSite(t, c.defaults...), job.Submission{Values: values(c.given...)}), "%v over %v", c.given, c.defaults)
	}
}

func TestUnsupportedPortableNamesAreRefused(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string
	}{
		{[]string{"gpus", "1"}, `attribute "gpus": definition "test" does not support it`},
		{[]string{"wallTime", "90"}, `attribute "wallTime": invalid time "90"`},
		{[]string{"wallTime", "2d"}, `attribute "wallTime": attribute "time"`},
		{[]string{"wallTime", "1h", "time", "30"}, `attribute "wallTime": it sets "time" to "60", which already has the value "30"`},
		{[]string{"memory", "1GiB", "select", "1"}, `attribute "memory": conflicts with the value of "select"`},
		{[]string{"nodes", "many"}, `"many" is refused`},
		{[]string{"array", "1-3", "mail", "ada"}, `attribute "mail": definition "test" does not support it`},
	} {
		_, err := portableSite(t).Render(job.Submission{Values: values(c.given...)})
		require.ErrorContains(t, err, c.want)
	}
}

// A definition that knows nothing of portable names keeps its attributes of these
// names to itself.
func TestAttributesNamedLikePortableNamesNeedNoLink(t *testing.T) {
	s := newRenderer(t, define(t, `<attribute name="memory"/><submit-batch name="show"><arg>show ${ptp_rm:memory#value}</arg></submit-batch>`))
	require.Equal(t, "4GiB", commandLine(t, s, job.Submission{Values: values("memory", "4GiB")}))
}

// A form shows the attributes set by portable names, and keeps names that it cannot show.
func TestAFormKeepsWhatPortableNamesSet(t *testing.T) {
	s := portableSite(t, "queue", "batch")
	given := job.Submission{Values: values("wallTime", "1h", "memory", "1GiB")}
	f, page, err := s.FormWithoutSession(t.Context(), given)
	require.NoError(t, err)
	field := f.Fields(page)[0]
	require.Equal(t, "60", field.Text)
	require.NoError(t, f.Set(field, "30", nil))
	require.Equal(t, "n= p=batch t=30 m=1024 s=", commandLine(t, s, submission.Filled(given, f, page)))
}

func TestProblemsOfPortableNamesHaveTheirPositionInTheFile(t *testing.T) {
	l, err := settings.ReadLaunchConfiguration("job", "job.toml", []byte("executable = \"a\"\n[attributes]\nnodes = 2\nwallTime = \"90\"\n"))
	require.NoError(t, err)
	err = l.Locate(portableSite(t).Check(l.Submission), job.Submission{})
	require.ErrorContains(t, err, `job.toml:4:1: attribute "wallTime"`)
}
