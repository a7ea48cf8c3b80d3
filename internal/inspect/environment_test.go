package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/inspect"
)

// variablesOf returns the values that the entries of a command give a variable, in order.
func variablesOf(c *config.Command, name string) (values []string) {
	for _, entry := range c.Environment {
		if entry.Name == name {
			values = append(values, entry.Value.Text)
		}
	}
	return values
}

func TestVariablesOfATargetReachEveryCommand(t *testing.T) {
	definition, problems := check.Load("site.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site">
		<control-data>
			<submit-batch name="submit"><arg>submit</arg><environment name="CONF" value="own"/></submit-batch>
			<get-job-status name="status"><arg>ask</arg><x:fallback name="history"><arg>history</arg></x:fallback></get-job-status>
			<x:probe name="server"><arg>ping</arg></x:probe>
			<x:environment name="CONF" value="shared"/>
		</control-data>
		<monitor-data schedulerType="SITE"><x:list-jobs name="list"><arg>list</arg>
			<x:read><x:table columns="id"/><x:join by="id" with="id" name="more"><arg>more</arg><x:table columns="id"/></x:join></x:read>
		</x:list-jobs></monitor-data>
	</resource-manager-builder>`), nil)
	require.NoError(t, problems.Err())
	require.Same(t, definition, inspect.WithEnvironment(definition, nil))
	changed := inspect.WithEnvironment(definition, map[string]string{"CONF": "target"})
	require.Equal(t, []string{"shared", "own", "target"}, variablesOf(changed.Submit(false), "CONF"), "the last one counts")
	status, list := changed.Command(config.GetJobStatus), changed.Command(config.ListJobs)
	for name, command := range map[string]*config.Command{
		"status": status, "fallback": status.Fallbacks[0], "list": list, "join": list.Read.Joins[0].Command, "probe": changed.Probes[0].Command,
	} {
		require.Equal(t, []string{"shared", "target"}, variablesOf(command, "CONF"), name)
	}
	require.Equal(t, []string{"shared"}, variablesOf(definition.Command(config.GetJobStatus).Fallbacks[0], "CONF"), "the definition stays as it is")
}
