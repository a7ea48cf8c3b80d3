package control_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/elements"
)

// lister is a definition whose listings print the file "rows", a name and a state in each
// line, and write the requested scope to the file "scope". It has no listing of queues.
func lister(t testing.TB) *config.Definition {
	t.Helper()
	const parser = `<stdout-parser delim="\n"><target><match><expression>(\S+) (\w+)(?: (.*))?</expression><set field="name"><entry valueGroup="1"/></set>
		<put field="value"><entry key="state" valueGroup="2"/><entry key="reason" valueGroup="3"/></put></match></target>
		<target ref="cut"><match><expression>CUT</expression><throw message="the listing is cut"/></match></target></stdout-parser>`
	return define(t, `<attribute name="cut" visible="false"/>`+submitting(`echo job 7`, "")+`<x:outcome kind="not-found" exit="44"/>`,
		`<monitor-data schedulerType="test">`+
			running("x:list-jobs", `echo "$SCOPE" >scope; cat rows; exit $(cat code 2>/dev/null || echo 0)`, "", `<environment name="SCOPE" value="${ptp_rm:job.scope#value}"/>`+parser)+
			running("x:list-nodes", `cat rows; while test -e endless; do echo more UP; done`, "", parser)+`</monitor-data>`)
}

func listed(t *testing.T, s *site, kind config.CommandElement, scope config.ListScope) (rows []string, amount command.Listed, err error) {
	t.Helper()
	amount, err = s.Rows(t.Context(), kind, scope, func(row command.Row) error {
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%s %s %s", row.ID, row.Fact("state"), row.Fact("reason"))))
		return nil
	})
	return rows, amount, err
}

func TestRowsOfAListing(t *testing.T) {
	s := newSite(t, lister(t))
	s.write(t, "rows", "HEADING\nb UP\na DOWN for repair\nb DOWN\n")
	for scope, reported := range map[config.ListScope]string{config.OwnJobs: "own\n", config.AllJobs: "all\n"} {
		rows, amount, err := listed(t, s, config.ListJobs, scope)
		require.NoError(t, err)
		require.Equal(t, []string{"b UP", "a DOWN for repair", "b DOWN"}, rows, "as they are printed")
		require.Equal(t, command.Listed{Rows: 3, Again: 1, NotUnderstood: 1}, amount)
		require.Equal(t, reported, s.read(t, "scope"))
	}
	var rows elements.RowSet
	_, err := s.Rows(t.Context(), config.ListNodes, "", rows.Add)
	require.NoError(t, err)
	nodes := elements.NodesOf(s.Controller, rows.Rows())
	require.Equal(t, []elements.Node{{Name: "a", Target: "here", State: "DOWN", Reason: "for repair"}, {Name: "b", Target: "here", State: "DOWN"}}, nodes, "once each, as reported last")

	_, _, err = listed(t, s, config.ListQueues, "")
	var unsupported *control.UnsupportedError
	require.ErrorAs(t, err, &unsupported)
}

func TestAFailedListingProvesNothingDespiteItsRows(t *testing.T) {
	s := newSite(t, lister(t))
	s.write(t, "rows", "a UP\nCUT\n")
	rows, amount, err := listed(t, s, config.ListNodes, "")
	require.ErrorContains(t, err, "asking for the nodes: ")
	require.ErrorContains(t, err, "the listing is cut")
	require.Equal(t, []string{"a UP"}, rows)
	require.Equal(t, 1, amount.Rows)

	s.write(t, "rows", "a UP\n")
	s.write(t, "code", "1")
	_, _, err = listed(t, s, config.ListJobs, config.OwnJobs)
	require.ErrorContains(t, err, "asking for the jobs: ")
	s.write(t, "code", "44")
	_, amount, err = listed(t, s, config.ListJobs, config.OwnJobs)
	require.NoError(t, err, "some schedulers complain where a job is not there")
	require.Equal(t, 1, amount.Rows)
}

func TestACallerCanStopAListing(t *testing.T) {
	s := newSite(t, lister(t))
	s.write(t, "rows", "a UP\nb UP\n")
	s.write(t, "endless", "")
	full, rows := errors.New("no room"), 0
	amount, err := s.Rows(t.Context(), config.ListNodes, "", func(command.Row) error {
		rows++
		return full
	})
	require.Equal(t, full, err)
	require.Equal(t, 1, rows)
	require.Positive(t, amount.Rows)
}

func TestAnUnreadableListingRunsItsFallback(t *testing.T) {
	const read = `<x:read><x:json each="/rows/*"/><x:id from="id"/><x:fact name="reason" from="name"/></x:read>`
	s := newSite(t, define(t, submitting(`echo job 7`, ""), `<monitor-data schedulerType="test">`+
		running("x:list-jobs", `cat names`, "", read+
			`<x:fallback name="plain" on="unreadable"><arg>cat</arg><arg>rows</arg>`+read+`</x:fallback>`)+`</monitor-data>`))
	s.write(t, "names", `{"rows":[{"id":"1","name":"x`+"\n"+`y"}]}`)
	s.write(t, "rows", `{"rows":[{"id":"1"},{"id":"2"}]}`)
	rows, _, err := listed(t, s, config.ListJobs, config.OwnJobs)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, rows)
	s.write(t, "rows", `{"rows":[{"id":"1"},`)
	_, _, err = listed(t, s, config.ListJobs, config.OwnJobs)
	require.ErrorContains(t, err, "the output is unreadable")
	s.write(t, "names", `{"rows":[{"id":"1","name":"x"}]}`)
	rows, _, err = listed(t, s, config.ListJobs, config.OwnJobs)
	require.NoError(t, err)
	require.Equal(t, []string{"1  x"}, rows)
}
