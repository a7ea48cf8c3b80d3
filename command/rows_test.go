package command_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
)

const rowParser = `<stdout-parser delim="\n"><target><match><expression>([^|]*)\|(\w*)\|(.*)</expression>
	<set field="name"><entry valueGroup="1"/></set>
	<put field="value"><entry key="state" valueGroup="2"/><entry key="name" valueGroup="3"/></put></match>
	<match><expression>unread (\S+)</expression><set field="name"><entry valueGroup="1"/></set></match>%s</target></stdout-parser>`

// listing returns a bench with a command that prints rows: an id, a state, a name.
func listing(t *testing.T, script, attributes, inTarget, children string) (b *bench, rows *[]string) {
	b = newBench(t, shell(script, attributes, fmt.Sprintf(rowParser, inTarget)+children))
	rows = &[]string{}
	b.request.Rows = func(row command.Row) {
		text := fmt.Sprintf("%s %s %s", row.ID, row.Fact("state"), row.Fact("name"))
		if row.Again {
			text += " again"
		}
		*rows = append(*rows, text)
	}
	return b, rows
}

func TestRowsComeWhileTheCommandStillPrints(t *testing.T) {
	b, rows := listing(t, `echo "1|UP|a"; read line <go; echo "2|UP|$line"`, `x:timeout="20s"`, "", "")
	fifo(t, b, "go")
	take := b.request.Rows
	b.request.Rows = func(row command.Row) {
		take(row)
		if row.ID == "1" {
			b.notify(t, "go", "reported\n") // else it prints nothing more
		}
	}
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, []string{"1 UP a", "2 UP reported"}, *rows)
	require.Equal(t, command.Listed{Rows: 2}, result.Listed)
	require.Empty(t, b.env.Discovered())
}

func TestListingsAreSummarized(t *testing.T) {
	b, rows := listing(t, `printf 'HEADING\n1|UP|a\n2||\n2||\nunread 3\n1|DOWN|\n|UP|nameless\n'`, "", "", "")
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, []string{"1 UP a", "2  ", "2  ", "1 DOWN  again"}, *rows, "rows without a state do not contradict each other")
	require.Equal(t, command.Listed{Rows: 4, Again: 1, NotUnderstood: 3}, result.Listed)
}

func TestRowsFinishedByTheEndOfOutputComeLast(t *testing.T) {
	const test = `<test><value>#name</value><value>2</value><put field="value"><entry key="name" value="tested"/></put></test>`
	b, rows := listing(t, `printf '2|UP|a\n1|UP|b\n2|UP|c\nunread 3\n'`, "", test, "")
	result := b.succeeds(t, config.StartUpCommand)
	require.Equal(t, []string{"1 UP b", "2 UP tested"}, *rows, "in the order of ids, and merged")
	require.Equal(t, command.Listed{Rows: 2, NotUnderstood: 1}, result.Listed)
	require.Empty(t, b.env.Discovered())
}

// A stream that waits for the other one is kept outside memory.
func TestRowsComeWithAnErrorParser(t *testing.T) {
	b, rows := listing(t, `echo "1|UP|a"; echo late >&2`, "", "", lines("stderr-parser", "said"))
	b.env.SetVariable("said", nil)
	b.succeeds(t, config.StartUpCommand)
	require.Equal(t, []string{"1 UP a"}, *rows)
	require.Equal(t, "late", b.env.Text("said"))
}

func TestRowsOfACommandThatFailsAreCounted(t *testing.T) {
	b, rows := listing(t, `echo "1|UP|a"; exit 3`, "", "", "")
	result, err := b.run(t, t.Context(), config.StartUpCommand)
	require.Error(t, err)
	require.Equal(t, []string{"1 UP a"}, *rows)
	require.Equal(t, 1, result.Listed.Rows)
}

func TestARowMayBeLongAndHaveAnyBytes(t *testing.T) {
	b, rows := listing(t, `printf '1|UP|\033[31m<b>\377\n'; printf '2|UP|'; head -c 10485760 /dev/zero | tr '\0' x; printf '\n3|UP|c\n'`, "", "", "")
	b.succeeds(t, config.StartUpCommand)
	require.Len(t, *rows, 3)
	require.Equal(t, "1 UP \x1b[31m<b>\xff", (*rows)[0], "as it is: who shows it makes it safe")
	require.Equal(t, 10<<20, strings.Count((*rows)[1], "x"))
	require.Equal(t, "3 UP c", (*rows)[2])
}

func TestRowsMayBeKept(t *testing.T) {
	b, _ := listing(t, `for i in 1 2 3; do echo "$i|UP|name $i"; done`, "", "", "")
	var kept []command.Row
	b.request.Rows = func(row command.Row) { kept = append(kept, row) }
	b.request.Origins = "state"
	b.succeeds(t, config.StartUpCommand)
	for i, row := range kept {
		require.Equal(t, map[string]string{"state": "UP", "name": fmt.Sprintf("name %d", i+1)}, maps.Collect(row.Facts.All()))
		require.Equal(t, i+1, row.Origin.Line)
	}
}
