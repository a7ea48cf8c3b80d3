package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/proxy"
)

// load loads a definition that must have neither errors nor warnings.
func load(t testing.TB, o definition.Options) *config.Definition {
	t.Helper()
	text, _ := definition.Write(o)
	d, problems := check.Load("agent.xml", text, check.ReadBase)
	for _, problem := range problems {
		t.Errorf("%s\n%s", problem, strings.Split(string(text), "\n")[max(problem.Position.Line-1, 0)])
	}
	require.NotNil(t, d)
	return d
}

func attributeOf(t *testing.T, d *config.Definition, name string) *config.Attribute {
	t.Helper()
	for _, a := range d.Attributes {
		if a.Name() == name {
			return a
		}
	}
	t.Fatalf("no attribute %q", name)
	return nil
}

func TestAttributesOfEachTypeBecomeAttributesOfTheDefinition(t *testing.T) {
	d := load(t, definition.Options{Agent: []string{"/opt/pe"}, Attributes: []proxy.Definition{
		{ID: "MP_PROCS", Type: "INTEGER", Name: "Number of Tasks", Description: "Specify <number> of tasks & more", Default: "1", Minimum: "1", Maximum: "2147483647"},
		{ID: "MP_MSG_API", Type: "ENUMERATED", Name: "API", Default: "MPI", Values: []string{"MPI", "LAPI", "MPI,LAPI"}},
		{ID: "jobType", Type: "ENUMERATED", Default: "batch", Values: []string{"batch", "debug"}},
		{ID: "PE_BUFFER_MEM_MAX", Type: "BIGINTEGER", Default: "0", Minimum: "0", Maximum: "9223372036854775807"},
		{ID: "load", Type: "DOUBLE", Default: "1.5"},
		{ID: "exclusive", Type: "BOOLEAN", Default: "false"},
		{ID: "modules", Type: "ARRAY"},
		{ID: "start", Type: "DATE", Default: "5/6/10 11:32 AM", DateStyle: "SHORT"},
		{ID: "jobTimeLimit", Type: "INTEGER"},
		{ID: "script", Type: "STRING", Default: "x"},
	}})
	text, _ := definition.Write(definition.Options{Attributes: []proxy.Definition{{ID: "script", Type: "STRING"}}})
	require.Contains(t, string(text), "script=${ptp_rm:agent.script#value}", "rmctl sets an attribute script itself")
	tasks := attributeOf(t, d, "MP_PROCS")
	require.Equal(t, "Specify <number> of tasks & more", tasks.Text(attribute.FieldDescription))
	require.NotNil(t, attributeOf(t, d, "jobTimeLimit"))
}

func TestRmctlAgentsAcceptOperationsAndPortableNames(t *testing.T) {
	d := load(t, definition.Options{Agent: []string{"rmctl", "agent"}, IsOwn: true, Operations: true, Attributes: []proxy.Definition{{ID: "nodes", Type: "STRING"}}})
	require.NotNil(t, d.Command(config.HoldJob))
	require.NotNil(t, d.Command(config.SuspendJob))
	other := load(t, definition.Options{Agent: []string{"pe"}})
	require.Nil(t, other.Command(config.HoldJob))
}

func TestTheLastDefinitionOfAnAttributeCounts(t *testing.T) {
	text, _ := definition.Write(definition.Options{Attributes: []proxy.Definition{
		{ID: "a", Type: "STRING", Description: "earlier"}, {ID: "a", Type: "STRING", Description: "second"},
	}})
	require.NotContains(t, string(text), "earlier")
	require.Equal(t, 1, strings.Count(string(text), `<attribute name="a"`))
}

func TestAgentsOnOneHostDoNotShareTheirListings(t *testing.T) {
	one, _ := definition.Write(definition.Options{Agent: []string{"one"}})
	other, _ := definition.Write(definition.Options{Agent: []string{"other"}})
	require.NotEqual(t, one, other)
}

func TestHostileDefinitionsAreRefusedOrEscaped(t *testing.T) {
	hostile := "\x00\x1b[31m\"'><!-- ]]> </description><script/>\n${ptp_rm:job.tag#value}&#x41;\xff"
	o := definition.Options{Agent: []string{hostile, "${ptp_rm:directory#value}"}, Attributes: []proxy.Definition{
		{ID: "bad id", Type: "STRING"}, {ID: "${ptp_rm:x#value}", Type: "STRING"}, {ID: "", Type: "STRING"}, {ID: strings.Repeat("a", 5000), Type: "STRING"},
		{ID: "a", Type: "STRING", Name: hostile, Description: hostile, Default: hostile},
		{ID: "b", Type: "ENUMERATED", Name: hostile, Description: strings.Repeat(hostile, 1000), Default: hostile, Values: []string{hostile, "", "ok", "(", "a,b", "x ", "${"}},
		{ID: "c", Type: "INTEGER", Default: "9", Minimum: "10", Maximum: "5"},
		{ID: "d", Type: "INTEGER", Default: "x", Minimum: hostile, Maximum: "99999999999999999999"},
		{ID: "e", Type: hostile, Default: "${HOME}"},
		{ID: "f", Type: "ENUMERATED"},
		{ID: "@jobId", Type: "STRING"}, {ID: "jobState", Type: "ENUMERATED"}, {ID: "queueId", Type: "STRING"},
	}}
	load(t, o)
	_, refused := definition.Write(o)
	require.Len(t, refused, 5)
}

func FuzzDefinition(f *testing.F) {
	f.Add("MP_PROCS", "INTEGER", "Tasks", "Number", "1", "1", "64")
	f.Add("a", "ENUMERATED", "", "", "x", "x,y", "")
	f.Add("b", "DOUBLE", "x", "y", "1.5", "a", "b")
	f.Fuzz(func(t *testing.T, id, kind, name, description, byDefault, least, most string) {
		load(t, definition.Options{Agent: []string{name, description}, IsOwn: len(id)%2 == 0, Attributes: []proxy.Definition{
			{ID: id, Type: kind, Name: name, Description: description, Default: byDefault, Minimum: least, Maximum: most, Values: []string{byDefault, least, most}},
		}})
	})
}

func TestAttributesFitIntoAModel(t *testing.T) {
	var many []proxy.Definition
	for i := range 1200 {
		many = append(many, proxy.Definition{ID: fmt.Sprint("a", i), Type: "STRING"})
	}
	_, refused := definition.Write(definition.Options{Attributes: many})
	require.Len(t, refused, 200)
}
