package control_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/tokenizer"
)

// What each recorded listing tells row by row is what its parser would keep until the
// end, and none of the shipped listings has to wait for that.
func TestRowsOfRecordedListingsTellWhatTheirParsersKeep(t *testing.T) {
	folders, err := cases.Find(filepath.Join("..", "testdata"))
	require.NoError(t, err)
	early := map[string]bool{}
	for _, folder := range folders {
		recorded, err := cases.Read(folder)
		if err != nil || !strings.HasPrefix(recorded.Command, "list-") {
			continue // a flow, or a case of another command
		}
		definition, _, err := check.UsableDefinition(recorded.Definition)
		require.NoError(t, err, folder)
		list, _, err := definition.Select(recorded.Command)
		require.NoError(t, err, folder)
		if list.Read != nil {
			continue // a reader concludes at the end
		}
		read := func(options tokenizer.Options) (map[string]map[string]string, error) {
			env := attribute.NewEnvironment()
			for _, defined := range definition.Attributes {
				a := defined.Clone()
				if a.Value() == nil {
					a.SetValue(a.Field(attribute.FieldDefault))
				}
				env.Define(a.Name(), a)
			}
			if recorded.Before != nil {
				recorded.Before.Define(env)
			}
			run, err := options.Compile(list.StdoutParser, env, "")
			require.NoError(t, err, folder)
			err = run.Run(bytes.NewReader(recorded.Stdout))
			kept := map[string]map[string]string{}
			for _, name := range env.Discovered() {
				kept[name], _ = env.DiscoveredAttribute(name).Value().(map[string]string)
			}
			return kept, err
		}
		wanted, wantedErr := read(tokenizer.Options{Origins: "state"})
		rows := map[string]map[string]string{}
		kept, err := read(tokenizer.Options{Origins: "state", Rows: func(id string, facts tokenizer.Facts, origin *attribute.Origin) {
			require.NotNil(t, origin, folder)
			if rows[id] == nil {
				rows[id] = map[string]string{}
			}
			maps.Insert(rows[id], facts.All())
		}})
		require.Equal(t, wantedErr, err, folder)
		require.Equal(t, wanted, rows, folder)
		require.Empty(t, kept, "%s: rows come at the end only", folder)
		if len(rows) > 0 {
			early[recorded.Definition+" "+string(list.Element)] = true
		}
	}
	require.Greater(t, len(early), 15, "of so many listings there are cases with rows: %v", early)
}
