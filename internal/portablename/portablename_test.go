package portablename_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/portablename"
)

// linked returns a definition with attributes a to d and the given links.
func linked(t testing.TB, links string) *config.Definition {
	t.Helper()
	definition, problems := check.Load("linked.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="linked">
		<control-data><attribute name="a"/><attribute name="b"/><attribute name="c"/><attribute name="d"/>`+links+`</control-data></resource-manager-builder>`), nil)
	require.NoError(t, problems.Err())
	return definition
}

// requested parses a request written as NAME=VALUE, separated by blanks.
func requested(t testing.TB, text string) portablename.Request {
	t.Helper()
	r := portablename.Request{Values: map[string]portablename.Value{}, Directory: "/home/ada", IsGiven: func(name string) bool { return name == "d" }}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		parsed, err := portablename.Parse(name, value)
		require.NoError(t, err)
		r.Values[name] = parsed
	}
	return r
}

func TestPortableValuesAreConvertedAndRoundedUp(t *testing.T) {
	for _, c := range []struct{ link, request, want string }{
		{`name="wallTime" attribute="a"`, "wallTime=1h30m", "a=5400"},
		{`name="wallTime" attribute="a" as="s"`, "wallTime=0.0001s", "a=1"},
		{`name="wallTime" attribute="a" as="min"`, "wallTime=61s", "a=2"},
		{`name="wallTime" attribute="a" as="h"`, "wallTime=1:00:01", "a=2"},
		{`name="wallTime" attribute="a" as="h:mm"`, "wallTime=1h1s", "a=1:01"},
		{`name="wallTime" attribute="a" as="h:mm:ss"`, "wallTime=2d1h", "a=49:00:00"},
		{`name="wallTime" attribute="a" as="d-hh:mm:ss"`, "wallTime=1.5d", "a=1-12:00:00"},
		{`name="wallTime" attribute="a" as="d-hh:mm:ss"`, "wallTime=2-12:00:00", "a=2-12:00:00"},
		{`name="memory" attribute="a"`, "memory=4kB", "a=4000"},
		{`name="memory" attribute="a" as="MiB" text="{}M"`, "memory=4GiB", "a=4096M"},
		{`name="memory" attribute="a" as="MiB"`, "memory=500MB", "a=477"},
		{`name="memory" attribute="a" as="GiB"`, "memory=1.5G", "a=2"},
		{`name="memory" attribute="a" as="MiB" per="tasksPerNode"`, "memory=1GiB tasksPerNode=3", "a=342"},
		{`name="memory" attribute="a" as="B"`, "memory=0.1B", "a=1"},
		{`name="tasks" attribute="a" per="nodes" times="cpusPerTask"`, "tasks=5 nodes=2 cpusPerTask=4", "a=12"},
		{`name="tasks" attribute="a" per="nodes" times="cpusPerTask"`, "tasks=5", "a=5"},
		{`name="nodes" attribute="a" text="fixed"`, "nodes=2", "a=fixed"},
		{`name="stdout" attribute="a" as="absolute" words="%j=$ID"`, "stdout=out.%j", "a=/home/ada/out.$ID"},
		{`name="stdout" attribute="a" as="absolute"`, "stdout=/tmp/out", "a=/tmp/out"},
		{`name="array" attribute="a"`, "array=1-9:2,12%3", "a=1-9:2,12%3"},
		{`name="array" attribute="a" text="[{ranges}]"/><x:portable name="array" attribute="b" text="-tc {limit}"`, "array=1-9%3", "a=[1-9] b=-tc 3"},
		{`name="array" attribute="a" text="[{ranges}]"/><x:portable name="array" attribute="b" text="-tc {limit}"`, "array=1-9", "a=[1-9]"},
		{`name="after" attribute="a" text="afterok:{}" separator=":"`, "after=1,2", "a=afterok:1:2"},
		{`name="after" attribute="a" text="ok:{}"/><x:portable name="after" when="any" attribute="a" text="any:{}"`, "after=any:1", "a=any:1"},
		{`name="mail" attribute="a" text="{events}" separator="" words="begin=b end=e fail=a"/><x:portable name="mail" attribute="b" text="{address}"`, "mail=fail,begin:ada@x.org", "a=ba b=ada@x.org"},
		{`name="mail" attribute="a" text="{events}" words="begin=B end=E fail=F"/><x:portable name="mail" attribute="b" text="{address}"`, "mail=ada", "a=E,F b=ada"},
		{`name="mail" attribute="a" text="{events}" words="begin=B end=E fail=F"`, "mail=all", "a=B,E,F"},
		{`name="exclusive" attribute="a" text="yes"`, "exclusive=true", "a=yes"},
		{`name="exclusive" attribute="a"`, "exclusive=ON", "a=true"},
		{`name="exclusive" attribute="a"`, "exclusive=false", ""},
		{`name="exclusive" attribute="a" text="x"/><x:portable name="nodes" attribute="b" unless="exclusive"`, "exclusive=no nodes=2", "b=2"},
		{`name="reservation" attribute="a" text="R.{}"`, "reservation=week", "a=R.week"},
		{`name="stdin" attribute="a"`, "stdin=in.dat", "a=in.dat"},
		{`name="preLaunch" attribute="a" as="absolute"`, "preLaunch=env.sh", "a=/home/ada/env.sh"},
		{`name="postLaunch" attribute="a" as="absolute"`, "postLaunch=/tmp/done.sh", "a=/tmp/done.sh"},
		{`name="tasks" attribute="a" unless="nodes"/><x:portable name="tasks" attribute="b" with="nodes"/><x:portable name="nodes" attribute="c"`, "tasks=3 nodes=2", "b=3 c=2"},
		{`name="tasks" attribute="a" with="d"/><x:portable name="tasks" attribute="b" unless="d"`, "tasks=3", "a=3"},
		{`name="memory" attribute="a" with="tasks=1"/><x:portable name="memory" attribute="b" unless="tasks=1"/><x:portable name="tasks" attribute="c"`, "tasks=1 memory=1B", "a=1 c=1"},
		{`name="memory" attribute="a" with="tasks=1"/><x:portable name="memory" attribute="b" unless="tasks=1"/><x:portable name="tasks" attribute="c"`, "tasks=12 memory=1B", "b=1 c=12"},
	} {
		settings, notes, problems := portablename.Translate(linked(t, "<x:portable "+c.link+"/>"), requested(t, c.request))
		require.Empty(t, problems, c.link)
		require.Empty(t, notes)
		var got []string
		for _, setting := range settings {
			got = append(got, setting.Link.Attribute+"="+setting.Value)
		}
		slices.Sort(got)
		require.Equal(t, c.want, strings.Join(got, " "), c.link)
	}
}

// A request that a definition cannot meet is an error: nothing is dropped.
func TestPortableRequestsThatADefinitionCannotMeetAreErrors(t *testing.T) {
	for _, c := range []struct{ link, request, want string }{
		{`name="nodes" attribute="a"`, "gpus=1", `"gpus": definition "linked" does not support it`},
		{`name="nodes" most="1"`, "nodes=2", `supports at most 1`},
		{`name="array" attribute="a" text="{ranges}"`, "array=1-9%3", `cannot express how many jobs of an array run at a time`},
		{`name="after" attribute="a"`, "after=any:1", `cannot express that jobs must end first, successfully or not`},
		{`name="after" when="any" attribute="a"`, "after=1", `prefix the ids with any:`},
		{`name="mail" attribute="a" text="{address}"`, "mail=end:ada", `cannot express when to send mail`},
		{`name="mail" attribute="a" text="{events}" words="end=E fail=F"`, "mail=end:ada", `cannot express whom to send mail to`},
		{`name="mail" attribute="a" text="{events}" words="end=E"`, "mail=begin", `mail at "begin" is not supported`},
		{`name="stdout" attribute="a"`, "stdout=o.%j", "file names cannot contain %j"},
		{`name="tasks" attribute="a" with="nodes"`, "tasks=2", `cannot express this combination of attributes`},
		{`name="tasks" attribute="a"`, "tasks=9 nodes=2 tasksPerNode=4", `9 tasks do not fit on 2 nodes with 4 tasks each`},
		{`name="tasks" attribute="a"/><x:portable name="memory" attribute="b" unless="tasks"/><x:portable name="memory" with="tasks" refused="give nodes, too"`, "tasks=2 memory=1B", `"memory": definition "linked" cannot express this: give nodes, too`},
		{`name="memory" attribute="a" times="nodes"`, "memory=1000000T nodes=2147483647", `is too much`},
	} {
		_, _, problems := portablename.Translate(linked(t, "<x:portable "+c.link+"/>"), requested(t, c.request))
		require.NotEmpty(t, problems, c.link)
		require.ErrorContains(t, problems[0], c.want)
	}
	// A count that only another name makes use of is not lost.
	_, _, problems := portablename.Translate(
		linked(t, `<x:portable name="tasks" attribute="a" times="cpusPerTask"/><x:portable name="cpusPerTask" attribute="b" unless="tasks"/>`),
		requested(t, "tasks=2 cpusPerTask=3"))
	require.Empty(t, problems)
	_, notes, problems := portablename.Translate(linked(t, `<x:portable name="account" note="nobody is charged"/>`), requested(t, "account=p"))
	require.Empty(t, problems)
	require.Equal(t, []string{"account has no effect: nobody is charged"}, notes)
}

func TestPortableValuesThatMeanNothingAreRefused(t *testing.T) {
	for name, wrong := range map[string][]string{
		"nodes":     {"0", "-1", "+2", "2-4", "1.5", "2147483648", "two", " 2"},
		"memory":    {"4096", "0GiB", "4 X", "4GiBs", "-1G", "1e9G", "9999999999T", "4 GiB "},
		"wallTime":  {"90", "1:30", "0s", "1m1h", "1h ", "1:60:00", "99999999999d", "h", "1:00:00:00"},
		"queue":     {"a b", "a\nb"},
		"jobName":   {"a\x1b[31m", "a\xff"},
		"stdout":    {"a%b", "100%", "a\x00"},
		"array":     {"a", "1-", "1-3:0", "1,,2", "1%0", "1;2"},
		"exclusive": {"", "maybe", "2"}, "reservation": {"a b"}, "preLaunch": {"a%b"},
		"after": {"", "some:1", "ok:", "1,,2", "1 2", "$(x)"},
		"mail":  {"end,sometimes", "end:", "end:a b", "-x", "a,b", "a;b"},
	} {
		for _, text := range wrong {
			_, err := portablename.Parse(name, text)
			require.Error(t, err, "%s=%q", name, text)
		}
		_, err := portablename.Parse(name, strings.Repeat("1", 5000))
		require.ErrorContains(t, err, "more than 4096 bytes")
	}
	_, err := portablename.Parse("colour", "red")
	require.ErrorContains(t, err, "not a portable name")
}

// A new link of a definition replaces all links of that name.
func TestLinksOfABaseAreReplacedByName(t *testing.T) {
	base := `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="base"><control-data><attribute name="a"/><attribute name="b"/><attribute name="d"/>
		<x:portable name="memory" attribute="d"/><x:portable name="tasks" attribute="a" excludes="d" unless="d nodes"/><x:portable name="after" attribute="a"/><x:portable name="after" when="any" attribute="b"/><x:portable name="nodes" attribute="a"/>
		<x:portable name="gpus" attribute="a"/></control-data></resource-manager-builder>`
	definition, problems := check.Load("own.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" x:extends="base.xml"><control-data>
		<attribute name="c"/><attribute name="d" x:remove="true"/><x:portable name="after" attribute="c" text="1"/><x:portable name="after" attribute="c" text="2"/><x:portable name="after" attribute="c" text="3"/>
		<x:portable name="gpus" x:remove="true"/></control-data></resource-manager-builder>`),
		func(string, string) (string, []byte, error) { return "base.xml", []byte(base), nil })
	require.NoError(t, problems.Err())
	var texts []string
	for _, link := range definition.PortableLinks("after") {
		texts = append(texts, link.Attribute+link.Text)
	}
	require.Equal(t, []string{"c1", "c2", "c3"}, texts)
	require.Len(t, definition.PortableLinks("nodes"), 1)
	require.Empty(t, definition.PortableLinks("gpus"))
	require.Empty(t, definition.PortableLinks("memory"), "its attribute was removed")
	require.Equal(t, []string{"nodes"}, definition.PortableLinks("tasks")[0].Unless)
}
