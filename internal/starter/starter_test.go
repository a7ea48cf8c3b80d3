package starter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/definitionformat"
	"github.com/rmctl/rmctl/internal/starter"
	"github.com/rmctl/rmctl/rms"
)

// requireFine requires that validate --strict reports nothing, and that fmt changes nothing.
func requireFine(t *testing.T, text string) *config.Definition {
	t.Helper()
	definition, problems := check.Load("new.xml", []byte(text), check.ReadBase)
	require.Empty(t, problems, text)
	formatted, err := definitionformat.Format("new.xml", []byte(text))
	require.NoError(t, err)
	require.Equal(t, text, string(formatted))
	return definition
}

func TestANewDefinitionHasNoProblems(t *testing.T) {
	draft, err := starter.Whole("", "site")
	require.NoError(t, err)
	require.Equal(t, "site", requireFine(t, draft.Text).Name)
}

func TestADefinitionThatExtendsHasNoProblemsWithAndWithoutItsExamples(t *testing.T) {
	for _, name := range rms.Names() {
		t.Run(name, func(t *testing.T) {
			base, _, err := check.UsableDefinition(name)
			require.NoError(t, err)
			draft, err := starter.Extending("", "site", name, base)
			require.NoError(t, err)
			definition := requireFine(t, draft.Text)
			require.Equal(t, "site", definition.Name)
			require.Len(t, definition.Attributes, len(base.Attributes))

			var uncommented strings.Builder
			for line := range strings.Lines(draft.Text) {
				if trimmed := strings.TrimSpace(line); trimmed != "-->" && !strings.HasPrefix(trimmed, "<!--") {
					uncommented.WriteString(line)
				}
			}
			_, problems := check.Load("site.xml", []byte(uncommented.String()), check.ReadBase)
			require.Empty(t, problems, uncommented.String())
			require.Contains(t, uncommented.String(), "<x:environment ")
		})
	}
}

func TestAQueueAndTheJobScriptAreAmongTheExamples(t *testing.T) {
	base, _, err := check.UsableDefinition("slurm")
	require.NoError(t, err)
	draft, err := starter.Extending("", "site", "slurm", base)
	require.NoError(t, err)
	require.Contains(t, draft.Text, `<attribute name="partition"><default>`)
	require.Contains(t, draft.Text, `<line x:before="exec">`)
}

// A marker that fits two lines would be an error.
func TestALineOfTheJobScriptIsNoExampleWhereTwoStartPrograms(t *testing.T) {
	const source = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="x"><control-data><script>
  <line><arg>exec one</arg></line><line><arg>exec two</arg></line>
</script></control-data></resource-manager-builder>`
	base, _ := check.Load("x.xml", []byte(source), nil)
	draft, err := starter.Extending("", "site", "x.xml", base)
	require.NoError(t, err)
	require.NotContains(t, draft.Text, "<script>")
	require.Contains(t, draft.Text, `x:extends="./x.xml"`)
}
