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
		"empty":                     true, // it exists
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

func TestExpressionsDoNotDependOnEarlierRecords(t *testing.T) {
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
		"":                              "ends early",
		"a and":                         "ends early",
		"a[":                            "ends early",
		"a b c]":                        `unexpected "b"`,
		"a]":                            `unexpected "]"`,
		"a[1":                           "ends early",
		"a//":                           "ends early",
		"a | 'x'":                       "both sides of | must select nodes",
		"'x'[1]":                        "only nodes have conditions",
		"concat(a,b)/c":                 "only nodes have conditions",
		".[a]":                          `unexpected "["`,
		"1.2.3":                         `invalid number "1.2.3"`,
		"a:b":                           `unexpected ":"`,
		"a/text()":                      "text() is not a step",
		"namespace::a":                  `unknown axis "namespace"`,
		"'open":                         "no end",
		"nosuch(a)":                     `unknown function "nosuch"`,
		"text()":                        `unknown function "text"`,
		"$variable":                     `unexpected "$"`,
		"concat(a)":                     "concat takes 2 or more arguments",
		"substring(a)":                  "substring takes 2 to 3 arguments",
		"count()":                       "count takes 1 argument",
		"true(a)":                       "true takes 0 arguments",
		"count('a')":                    "the first argument of count must select nodes",
		"string-join(concat(a,b),',')":  "the first argument of string-join must select nodes",
		"name('a')":                     "the first argument of name must select nodes",
		"matches(a,b)":                  "must be a text in quotes",
		"matches(a,1)":                  "must be a text in quotes",
		"replace(a,concat('x','y'),'')": "must be a text in quotes",
		"matches(a,'(')":                "missing closing",
		"matches(concat(a,','),'[')":    "missing closing",
		"matches(a)":                    "matches takes 2 arguments",
		strings.Repeat("(", 200):        "too many nested brackets",
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
	for _, text := range []string{
		"count(//a[count(//a[count(//a)>0])>0])",
		"count(a[../a[../a='2']])",
		"a[not(preceding-sibling::a[following-sibling::a='2'])]",
	} {
		_, err := compiled(t, text).Text(job, nil)
		require.ErrorIs(t, err, errTooMuchWork, text)
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
