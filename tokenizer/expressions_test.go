package tokenizer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/tokenizer"
)

func TestCachedExpressionsDependOnTheirReferences(t *testing.T) {
	definition, problems := check.Load("site.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="site"><control-data>
		<attribute name="word" visible="false"/><attribute name="found" visible="false"/>
		<start-up-command name="ask"><arg>ask</arg><stdout-parser delim="\n">
			<target ref="found"><match><expression>${ptp_rm:word#value} (.*)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
		</stdout-parser></start-up-command>
		<submit-batch name="submit"><arg>true</arg></submit-batch>
	</control-data></resource-manager-builder>`), nil)
	require.NoError(t, problems.Err())
	options := tokenizer.Options{Expressions: &tokenizer.Expressions{}}
	for _, test := range []struct{ word, found string }{{"a", "1"}, {"b", "2"}, {"a", "1"}} {
		env := attribute.NewEnvironment()
		env.SetVariable("word", test.word)
		env.SetVariable("found", nil)
		run, err := options.Compile(definition.Commands[0].StdoutParser, env, "")
		require.NoError(t, err)
		_, err = run.Write([]byte("a 1\nb 2\n"))
		require.NoError(t, err)
		require.NoError(t, run.Close())
		require.Equal(t, test.found, env.Text("found"))
	}
}
