package tokenizer_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/tokenizer"
)

const (
	nameLine  = `<match><expression>name (\w+)</expression><set field="name"><entry valueGroup="1"/></set></match>`
	stateLine = `<match><expression>state (\w+)</expression><put field="value"><entry key="state" valueGroup="1"/></put></match>`
	cpusLine  = `<match><expression>cpus (\w+)</expression><put field="value"><entry key="cpus" valueGroup="1"/></put></match>`
	wholeLine = `<match><expression>(\w+) up (\w+)?</expression><set field="name"><entry valueGroup="1"/></set>
		<put field="value"><entry key="state" value="UP"/><entry key="cpus" valueGroup="2"/></put></match>`
	otherLine = `<match><expression>(\w+) down</expression><set field="name" forceNewObject="true"><entry valueGroup="1"/></set>
		<put field="value"><entry key="state" value="DOWN"/></put></match>`
	endLine    = `<match><expression>end</expression></match>`
	throwsLine = `<match><expression>error (.+)</expression><throw message="it failed"/></match>`
)

func rowsParser(targets ...string) string {
	return `<stdout-parser delim="\n"><target>` + strings.Join(targets, `</target><target>`) + `</target></stdout-parser>`
}

// A rowLog records the delivered rows.
type rowLog struct {
	order []string // ids
	lines []int    // of their states
	facts map[string]map[string]string
}

func newRowLog() *rowLog { return &rowLog{facts: map[string]map[string]string{}} }

// traced enables tracing, so that the actions build every row.
func traced(tokenizer.TraceEvent) {}

func (l *rowLog) take(id string, facts tokenizer.Facts, origin *attribute.Origin) {
	l.order = append(l.order, id)
	if origin != nil {
		l.lines = append(l.lines, origin.Line)
	}
	if l.facts[id] == nil {
		l.facts[id] = map[string]string{}
	}
	maps.Insert(l.facts[id], facts.All())
}

// rowsOf runs a parser that delivers rows.
func rowsOf(t *testing.T, parser, stream string) (*rowLog, *attribute.Environment, error) {
	t.Helper()
	log, other, env := newRowLog(), newRowLog(), variables()
	run, err := tokenizer.Options{Rows: log.take, Origins: "state"}.Compile(parserOf(t, parser), env, "")
	require.NoError(t, err)
	err = run.Run(strings.NewReader(stream))
	run, compileErr := tokenizer.Options{Rows: other.take, Origins: "state", Trace: traced}.Compile(parserOf(t, parser), variables(), "")
	require.NoError(t, compileErr)
	require.Equal(t, err, run.Run(strings.NewReader(stream)))
	require.Equal(t, other, log, "a trace changes nothing")
	return log, env, err
}

func TestARowIsDeliveredOnceNothingCanChangeIt(t *testing.T) {
	for name, c := range map[string]struct {
		parser string
		lines  []string
		after  []int // rows delivered after each line
	}{
		"each match makes one": {rowsParser(wholeLine + otherLine + endLine), []string{"a up 1\n", "b down\n", "end\n", "c up \n"}, []int{1, 2, 2, 3}},
		"lines are counted":    {rowsParser(nameLine + stateLine + cpusLine), []string{"name a\n", "state s\n", "name b\n", "cpus 1\n", "cpus 2\n", "state s\n"}, []int{0, 0, 0, 1, 1, 2}},
		"a line is missing":    {rowsParser(nameLine + stateLine + cpusLine), []string{"name a\n", "state s\n", "name b\n", "state s\n"}, []int{0, 0, 0, 0}},
		"all names come first": {rowsParser(nameLine + stateLine), []string{"name a\n", "name b\n", "state s\n", "state s\n"}, []int{0, 0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var handedOut []int
			log := newRowLog()
			run, err := tokenizer.Options{Rows: log.take}.Compile(parserOf(t, c.parser), variables(), "")
			require.NoError(t, err)
			for _, line := range c.lines {
				_, err := run.Write([]byte(line))
				require.NoError(t, err)
				handedOut = append(handedOut, len(log.order))
			}
			require.Equal(t, c.after, handedOut)
			require.NoError(t, run.Close())
		})
	}
	log, _, err := rowsOf(t, rowsParser(nameLine+stateLine+cpusLine), "name a\nstate s\nname b\n")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, log.order, "the end finishes the rest")
	require.Equal(t, map[string]map[string]string{"a": {"state": "s"}, "b": {}}, log.facts)
}

// Elements that merging or tests change are published at the end, not delivered as rows.
func TestElementsChangedAtTheEndAreNotRows(t *testing.T) {
	for name, parser := range map[string]string{
		"another field":   rowsParser(wholeLine + `<match><expression>x</expression><set field="status"><entry value="s"/></set></match>`),
		"a test":          rowsParser(wholeLine + `<test><value>#name</value><value>a</value><put field="value"><entry key="more" value="1"/></put></test>`),
		"an else":         rowsParser(wholeLine + `<else><put field="value"><entry key="more" value="1"/></put></else>`),
		"another target":  rowsParser(wholeLine, otherLine),
		"names by chance": rowsParser(wholeLine + nameLine + stateLine),
		"forced names":    rowsParser(otherLine + stateLine),
		"no entries":      rowsParser(wholeLine + `<match><expression>x</expression><add field="value"><entry value="1"/></add></match>`),
	} {
		t.Run(name, func(t *testing.T) {
			log, env, err := rowsOf(t, parser, "a up 1\na down\nname a\nstate s\n")
			require.NoError(t, err)
			require.Empty(t, log.order)
			require.Contains(t, env.Discovered(), "a")
		})
	}
}

// The rows equal the attributes that are otherwise published at the end, where two rows of one name are
// merged.
func TestRowsEqualAttributesAtTheEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := []string{"%s up 4\n", "%s up \n", "%s down\n", "end\n", "nonsense %s\n"}
	records := []string{"name %s\n", "state %s\n", "cpus %s\n", "end\n"}
	for parser, shapes := range map[string][]string{
		rowsParser(wholeLine + otherLine + endLine + throwsLine): lines,
		rowsParser(nameLine + stateLine + cpusLine + throwsLine): records,
	} {
		for range 300 {
			var stream strings.Builder
			for range random.IntN(20) {
				shape := shapes[random.IntN(len(shapes))]
				if strings.Contains(shape, "%s") {
					shape = fmt.Sprintf(shape, string(rune('a'+random.IntN(6))))
				}
				stream.WriteString(shape)
			}
			env := variables()
			run, err := tokenizer.Options{}.Compile(parserOf(t, parser), env, "")
			require.NoError(t, err)
			require.NoError(t, run.Run(strings.NewReader(stream.String())))
			wanted := map[string]map[string]string{}
			for _, name := range env.Discovered() {
				entries, _ := env.DiscoveredAttribute(name).Value().(map[string]string)
				wanted[name] = map[string]string{}
				maps.Copy(wanted[name], entries)
			}
			log, after, err := rowsOf(t, parser, stream.String())
			require.NoError(t, err)
			delete(log.facts, "") // rows without a name
			require.Equal(t, wanted, log.facts, stream.String())
			require.Empty(t, after.Discovered())
		}
	}
}

func TestFactsOfARowMayComeFromAnywhere(t *testing.T) {
	env := variables("word")
	env.Variable("word").SetValue("from elsewhere")
	parser := parserOf(t, rowsParser(`<match><expression>(\w+) (\w+)?(.*)</expression>
		<set field="name" forceNewObject="true"><entry valueGroup="1"/><entry value="of no account"/></set>
		<put field="value"><entry key="state" value="UP"/><entry key="number" value="007"/><entry key="word" value="${ptp_rm:word#value}"/><entry key="group" valueGroup="2"/></put>
		<put field="value"><entry key="state" valueGroup="3"/></put></match>`))
	log := newRowLog()
	run, err := tokenizer.Options{Rows: log.take}.Compile(parser, env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("a b\nc  down\n")))
	require.Equal(t, map[string]map[string]string{
		"a": {"state": "", "number": "007", "word": "from elsewhere", "group": "b"},
		"c": {"state": " down", "number": "007", "word": "from elsewhere", "group": ""},
	}, log.facts)
}

func TestAMissingGroupIsAnErrorInRows(t *testing.T) {
	for _, entry := range []string{`<set field="name"><entry valueGroup="7"/></set>`, `<set field="name"><entry valueGroup="1"/></set><put field="value"><entry key="k" valueGroup="7"/></put>`} {
		_, _, err := rowsOf(t, rowsParser(`<match><expression>(a)</expression>`+entry+`</match>`), "a\n")
		var failed *tokenizer.Error
		require.ErrorAs(t, err, &failed)
		require.ErrorContains(t, err, "the entry takes group 7")
	}
}

func TestRowsBeforeAnErrorAreDelivered(t *testing.T) {
	log, _, err := rowsOf(t, rowsParser(wholeLine+throwsLine), "a up 1\nerror x\nb up 2\n")
	require.ErrorContains(t, err, "it failed")
	require.Equal(t, []string{"a"}, log.order)
	log, _, err = rowsOf(t, rowsParser(wholeLine+strings.Replace(throwsLine, "<throw", `<set field="name"><entry valueGroup="1"/></set><throw`, 1)), "error x\na up 1\n")
	require.ErrorContains(t, err, "it failed")
	require.Empty(t, log.order)
	log, _, err = rowsOf(t, rowsParser(nameLine+stateLine+throwsLine), "name a\nerror x\n")
	require.ErrorContains(t, err, "it failed")
	require.Empty(t, log.order)
}

func TestARowHasTheLineOfItsState(t *testing.T) {
	var lines []string
	take := func(_ string, _ tokenizer.Facts, origin *attribute.Origin) {
		lines = append(lines, fmt.Sprintf("%d %s", origin.Line, origin.Text))
	}
	for _, parser := range []string{rowsParser(wholeLine), rowsParser(nameLine + stateLine)} {
		run, err := tokenizer.Options{Rows: take, Origins: "state"}.Compile(parserOf(t, parser), variables(), "")
		require.NoError(t, err)
		require.NoError(t, run.Run(strings.NewReader("a up 1\nb up 2\nname c\nstate s\n")))
	}
	require.Equal(t, []string{"1 a up 1", "2 b up 2", "4 state s"}, lines)
}

func TestFacts(t *testing.T) {
	first := tokenizer.FactsOf(map[string]string{"b": "2", "a": "1"})
	require.Equal(t, 2, first.Len())
	require.Equal(t, []string{"1", "2", ""}, []string{first.Get("a"), first.Get("b"), first.Get("c")})
	both := first.With(tokenizer.FactsOf(map[string]string{"a": "", "b": "3", "c": "4", "d": ""}))
	require.Equal(t, map[string]string{"a": "1", "b": "3", "c": "4", "d": ""}, maps.Collect(both.All()))
	require.Equal(t, map[string]string{"a": "1", "b": "2"}, maps.Collect(first.All()), "facts do not change")
	for key := range both.All() {
		require.Equal(t, "a", key, "in the order of the keys, until nobody wants more")
		break
	}
	require.Zero(t, tokenizer.Facts{}.Len())

	many := map[string]string{}
	for i := range 100 {
		many[fmt.Sprint("key", i)] = fmt.Sprint(i)
	}
	facts := tokenizer.FactsOf(many)
	for key, fact := range many {
		require.Equal(t, fact, facts.Get(key))
	}
	require.Empty(t, facts.Get("key100"))
}

func TestFactsSurviveConversionToLists(t *testing.T) {
	facts := tokenizer.FactsOf(map[string]string{"state": "UP", "name": "a"})
	same, err := tokenizer.FactsIn(facts.Lists())
	require.NoError(t, err)
	require.Equal(t, facts, same)
	for name, lists := range map[string][2][]string{
		"too few facts": {{"a", "b"}, {"1"}}, "not sorted": {{"b", "a"}, {"1", "2"}}, "twice": {{"a", "a"}, {"1", "2"}}, "no keys": {nil, {"1"}},
	} {
		_, err := tokenizer.FactsIn(lists[0], lists[1])
		require.Error(t, err, name)
	}
}

func TestMemoryDoesNotGrowWithRows(t *testing.T) {
	for name, c := range map[string]struct{ parser, row string }{
		"by match": {rowsParser(wholeLine), "a up 4\n"},
		"by count": {rowsParser(nameLine + stateLine), "name a\nstate s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := 0
			run, err := tokenizer.Options{Rows: func(string, tokenizer.Facts, *attribute.Origin) { rows++ }}.Compile(parserOf(t, c.parser), variables(), "")
			require.NoError(t, err)
			piece := []byte(strings.Repeat(c.row, 1000))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for range 100 {
				_, err := run.Write(piece)
				require.NoError(t, err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			require.Equal(t, 100_000, rows)
			require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20))
			require.NoError(t, run.Close())
		})
	}
}
