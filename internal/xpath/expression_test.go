package xpath

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// record returns a record with fields, as name, value, name, value.
func record(fields ...string) *Node {
	root := &Node{Name: "record"}
	for i := 0; i < len(fields); i += 2 {
		root.Add(fields[i], fields[i+1], i)
	}
	return root
}

func ofDefinition(name string) (string, bool) {
	value, exists := map[string]string{"job.owner": "alice", "job-name": "run", "empty": ""}[name]
	return value, exists
}

func compiled(t testing.TB, text string) *Expression {
	t.Helper()
	expression, err := Compile(text)
	require.NoError(t, err, text)
	return expression
}

func TestExpressionsSeeFieldsAndAttributes(t *testing.T) {
	job := record("id", "51", "state", "PENDING", "reason", "JobHeldUser", "nodes", "", "exit", "0:15", "big", "9007199254740993")
	row := job.Add("row", "", 0)
	row.Add("cpus", "4", 0)
	row = job.Add("row", "", 0)
	row.Add("cpus", "8", 0)
	for text, want := range map[string]string{
		"id":                               "51",
		"none":                             "",
		"none nodes id state":              "51", // the first with a value
		"substring-before(exit,':')":       "0",
		"concat(id,'-',state)":             "51-PENDING",
		"sum(row/cpus)":                    "12",
		"count(row)":                       "2",
		"row[2]/cpus":                      "8",
		"string-join(row/cpus,' ')":        "4 8",
		"//cpus":                           "4",
		"@job.owner":                       "alice",
		"row[1]/@job.owner":                "alice", // visible from every node
		"@job-name":                        "run",
		"@missing":                         "",
		"none=''":                          "false", // a missing field equals nothing
		"nodes=''":                         "true",
		"reason='JobHeldUser' and id='51'": "true",
		"big='9007199254740992'":           "false", // numbers of 54 bits are compared as texts
		"replace(exit,'^.*:','')":          "15",
		"lower-case(state)":                "pending",
		"3 div 2":                          "1.5",
	} {
		value, err := compiled(t, text).Text(job, ofDefinition)
		require.NoError(t, err, text)
		require.Equal(t, want, value, text)
	}
	all, err := compiled(t, "row/cpus").Texts(job, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"4", "8"}, all)
}

func TestAttributesOfAnXMLElementHideThoseOfTheDefinition(t *testing.T) {
	job := record()
	job.Attributes = []Attribute{{"name", "node1"}, {"job.owner", "bob"}}
	for text, want := range map[string]string{"@name": "node1", "@job.owner": "bob", "@job-name": "run"} {
		value, err := compiled(t, text).Text(job, ofDefinition)
		require.NoError(t, err)
		require.Equal(t, want, value, text)
	}
}

func TestConditions(t *testing.T) {
	job := record("state", "PD", "substate", "45", "empty", "")
	for text, want := range map[string]bool{
		"substate=45":               true,
		"substate=46":               false,
		"not(stime or obittime)":    true,
		"not(substate or obittime)": false,
		"substate":                  true,
		"empty":                     true, // it is there
		"missing":                   false,
		"missing empty":             true,
		"matches(state,'^P') and starts-with(@job.owner,'al')": true,
		"missing!='x'": false,
		"@empty":       true,
		"@missing":     false,
	} {
		holds, err := compiled(t, text).Bool(job, ofDefinition)
		require.NoError(t, err, text)
		require.Equal(t, want, holds, text)
	}
}

func TestTheSameExpressionDoesNotRememberEarlierRecords(t *testing.T) {
	for _, text := range []string{"substring-before(a,':')", "a[.='1:2']", "concat(a,b)", "count(a)+count(b)", "string-join(a,',')", "(a|b)[1]", "a='1:2' or b='1:2'"} {
		used := compiled(t, text)
		for range 3 {
			for _, job := range []*Node{record("a", "1:2", "b", "3"), record("b", "1:2"), record("a", "5"), record()} {
				fresh, err := compiled(t, text).Text(job, nil)
				require.NoError(t, err)
				again, err := used.Text(job, nil)
				require.NoError(t, err)
				require.Equal(t, fresh, again, text)
			}
		}
	}
}

func TestInvalidExpressionsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "nil",
		"a and":                         "",
		"a[":                            "",
		"'open":                         "no end",
		"nosuch(a)":                     "nosuch",
		"$variable":                     "",
		"matches(a,b)":                  "must be a text in quotes",
		"replace(a,concat('x','y'),'')": "must be a text in quotes",
		"matches(a,'(')":                "missing closing",
		"matches(concat(a,','),'[')":    "missing closing",
		"matches(a)":                    "must be a text in quotes",
	} {
		_, err := Compile(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestExpressionsKnowTheirFieldsAndAttributes(t *testing.T) {
	e := compiled(t, "concat(JobId,'x',row/or) and @job.owner=child::State or div div 2 > count(a-b.c)")
	require.Equal(t, []string{"JobId", "row", "or", "State", "div", "a-b.c"}, e.Fields())
	require.Equal(t, []string{"job.owner"}, e.Attributes())
	_, isField := e.FieldName()
	require.False(t, isField)
	name, isField := compiled(t, "a-b").FieldName()
	require.True(t, isField)
	require.Equal(t, "a-b", name)
}

func TestTooMuchWorkIsStopped(t *testing.T) {
	job := record()
	for range 400 {
		job.Add("a", "1", 0)
	}
	_, err := compiled(t, "count(//a[count(//a[count(//a)>0])>0])").Text(job, nil)
	require.ErrorIs(t, err, errTooMuchWork)
}

// A shortcut means what the library takes the expression for.
func TestShortcutsMeanWhatTheLibraryTakesThemFor(t *testing.T) {
	nested := record("a", "x")
	nested.Child("a").Add("b", "y", 1)
	own := record("a", "alice", "b", "x")
	own.Attributes = []Attribute{{"kept", "y"}, {"job.owner", "al"}}
	records := []*Node{
		record(), record("a", ""), record("a", "x"), record("b", "x"), record("a", "y", "a", "x"), record("a", "x y", "b", ""),
		record("a", "alice:x"), record("a", "run:run:"), nested, own,
	}
	for _, text := range []string{
		"a='x'", `a = "y"`, "a=''", "c='x'", "matches(a,'x')", "matches(a, '^$')", "matches(a,'^x$')", "matches(b,'.*')", "a.b='x'",
		"not(a)", "not( b )", "starts-with(a,'x')", "starts-with(a,'')", "starts-with(b,'')", "starts-with(a,string(@job.owner))", "starts-with(a,string(@missing))",
		"substring-before(a,' ')", "substring-before(a,':')", "substring-before(a,'')", "substring-after(a,':')", "substring-after(a,'')", "substring-after(b,'x')",
		"substring-after(a,string(@job.owner))", "substring-before(a,string(@job.owner))", "substring-after(a,string(@missing))",
	} {
		short := compiled(t, text)
		require.NotNil(t, short.shortcut, text)
		long := *short
		long.shortcut = nil
		for i, each := range records {
			for _, lookup := range []Lookup{ofDefinition, nil} {
				expected, err := long.Bool(each, lookup)
				require.NoError(t, err)
				holds, err := short.Bool(each, lookup)
				require.NoError(t, err)
				require.Equal(t, expected, holds, "%s of record %d", text, i)
				expectedTexts, err := long.Texts(each, lookup)
				require.NoError(t, err)
				texts, err := short.Texts(each, lookup)
				require.NoError(t, err)
				require.ElementsMatch(t, expectedTexts, texts, "%s of record %d", text, i)
			}
		}
	}
	for _, text := range []string{
		"a", "a!='x'", "'x'=a", "a=1", "a=b", "@a='x'", "a[1]='x'", "a/b='x'", "not(a='x')", "not(a/b)", "matches(a/b,'x')", "starts-with(a,b)",
		"starts-with(a,@job.owner)", "substring-after(a,b)", "substring-after(concat(a,'x'),'x')", "../a='x'", "-a='x'",
	} {
		require.Nil(t, compiled(t, text).shortcut, text)
	}
}

func TestNamesOfFields(t *testing.T) {
	for text, want := range map[string]string{
		"JobId": "JobId", "CPUs/Task": "CPUs_Task", "Resource_List.ncpus": "Resource_List.ncpus", "2nd": "_2nd",
		"a b": "a_b", "": "", "-x": "_-x", "é": "é", "a:b": "a_b", "\xff": "_",
	} {
		require.Equal(t, want, FieldName(text), text)
	}
}

func FuzzExpressions(f *testing.F) {
	for _, seed := range []string{"a", "a b", "a[1]", "concat(a,'b')", "@x='1'", "matches(a,'b')", "//a/..", "sum(a)-1", "a|b", "-(a)", "position()=last()"} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		expression, err := Compile(text)
		if err != nil {
			return
		}
		job := record("a", value, "b", value)
		_, _ = expression.Text(job, ofDefinition)
		_, _ = expression.Texts(job, ofDefinition)
		_, _ = expression.Bool(job, ofDefinition)
		require.Empty(t, FieldName(FieldName(value))[len(FieldName(value)):])
		require.NotContains(t, FieldName(value), " ")
	})
}

func BenchmarkExpressions(b *testing.B) {
	fields := strings.Fields("id 51 state PENDING reason JobHeldUser partition debug nodes n1 submit 2026-01-01 start x end y user z cpus 4")
	job := record(fields...)
	for name, text := range map[string]string{"Field": "user", "Test": "reason='JobHeldUser'", "Function": "string-length(nodes) > 0"} {
		b.Run(name, func(b *testing.B) {
			e := compiled(b, text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Bool(job, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
