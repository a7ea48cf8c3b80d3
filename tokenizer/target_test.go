package tokenizer_test

import (
	"strings"
	"testing"

	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

func TestMoveToTopKeepsTheOrderOfOtherTargets(t *testing.T) {
	env := variables("first", "second", "third")
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser delim="\n">
<target ref="first"><match><expression>x</expression><add field="value"><entry value="x"/></add></match></target>
<target ref="second"><match><expression>[xy]</expression><add field="value"><entry valueGroup="0"/></add></match></target>
<target ref="third"><match moveToTop="true"><expression>[yz]</expression><add field="value"><entry valueGroup="0"/></add></match></target>
</stdout-parser>`), env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("y\nz\nx\ny")))
	require.Equal(t, []string{"x"}, env.Variable("first").Value())
	require.Equal(t, []string{"y"}, env.Variable("second").Value())
	require.Equal(t, []string{"z", "y"}, env.Variable("third").Value())
}

func TestEachTargetSeesTheRestOfTheTextBeforeIt(t *testing.T) {
	env := variables("first", "second", "third")
	run, err := tokenizer.Options{}.Compile(parserOf(t, `<stdout-parser applyToAll="true">
<target ref="first"><match><expression>(..).*</expression><set field="value"><entry valueGroup="1"/></set></match></target>
<target ref="second"><match><expression>(..).*</expression><set field="value"><entry valueGroup="1"/></set></match></target>
<target ref="third"><match><expression>(.*)</expression><set field="value"><entry valueGroup="1"/></set></match></target>
</stdout-parser>`), env, "")
	require.NoError(t, err)
	require.NoError(t, run.Run(strings.NewReader("abcdef")))
	require.Equal(t, []string{"ab", "cd", "ef"}, []string{env.Text("first"), env.Text("second"), env.Text("third")})
}
