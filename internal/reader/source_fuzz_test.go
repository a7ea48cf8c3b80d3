package reader

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// shortMark is short enough for fuzzing to find.
const shortMark = "@m"

// FuzzTextSources reads any output with every source. Records must not depend on the sizes of writes, and
// their texts must be parts of the output in order.
func FuzzTextSources(f *testing.F) {
	for _, definitions := range everySource() {
		output := sampleOutput(definitions[0])
		f.Add(strings.ReplaceAll(output, testMark, shortMark), uint8(3), uint16(0))
		f.Add(strings.ReplaceAll(output, testMark, shortMark), uint8(7), uint16(40))
		f.Add(strings.ReplaceAll(output[:len(output)-5], testMark, shortMark), uint8(1), uint16(20))
	}
	f.Fuzz(func(t *testing.T, output string, size uint8, longest uint16) {
		for _, definitions := range everySource() {
			test := textTest{definitions: definitions, longest: int(longest), mark: shortMark}
			whole, wholeErr := test.read(t, output, len(output)+1)
			parts, partsErr := test.read(t, output, int(size)+1)
			require.Equal(t, wholeErr, partsErr)
			require.Equal(t, show(whole), show(parts), "%+v", definitions[0])
			requireParts(t, output, whole)
			for i, record := range whole {
				require.Equal(t, record.Raw, parts[i].Raw)
			}
		}
	})
}

// requireParts checks that the texts of records are parts of an output, in order, each at the record's
// line.
func requireParts(t *testing.T, output string, records []*Record) {
	t.Helper()
	at, line := 0, 1
	for _, record := range records {
		require.GreaterOrEqual(t, record.Line, line)
		for ; line < record.Line; line++ {
			next := strings.IndexByte(output[at:], '\n')
			require.GreaterOrEqual(t, next, 0)
			at += next + 1
		}
		require.True(t, strings.HasPrefix(output[at:], record.Raw), "line %d: %q", record.Line, record.Raw)
		at += len(record.Raw)
		line += strings.Count(record.Raw, "\n")
		require.Equal(t, "record", record.Root.Name)
		for _, field := range record.Root.Children {
			require.Same(t, record.Root, field.Parent)
			require.NotEmpty(t, field.Name)
		}
	}
}

// FuzzMarkedTexts puts any user texts between columns that users cannot change.
func FuzzMarkedTexts(f *testing.F) {
	f.Add("a", "b", "c", uint8(1))
	f.Add("\n99@m", "\r\n", "@", uint8(2))
	f.Add("\n\n", "99\nRUNNING", "\r", uint8(3))
	f.Add("@m\n", "\x00\xff", "\x1b[31m", uint8(3))
	definition := &config.Source{Kind: config.Table, Separator: config.MarkSeparator, Columns: strings.Fields("id command state name")}
	f.Fuzz(func(t *testing.T, first, second, third string, size uint8) {
		clean := func(text string) string { return strings.ReplaceAll(text, shortMark, "@ m") }
		first, second, third = clean(first), clean(second), clean(third)
		var output, expected []string
		for i, texts := range [][2]string{{first, second}, {third, first}, {second, third}, {"N/A", third}} {
			id, state := fmt.Sprint(51+i), "RUNNING"
			output = append(output, strings.Join([]string{id, texts[0], state, texts[1]}, shortMark)+shortMark+"\n")
			expected = append(expected, id, texts[0], state, texts[1])
		}
		records, err := textTest{definitions: []*config.Source{definition}, mark: shortMark}.read(t, strings.Join(output, ""), int(size)+1)
		require.NoError(t, err)
		require.Len(t, records, len(output))
		for i, record := range records {
			require.Empty(t, record.Damage)
			for j, name := range definition.Columns {
				text := expected[i*len(definition.Columns)+j]
				if field := record.Root.Child(name); field != nil {
					require.Equal(t, text, field.Text)
				} else {
					require.Contains(t, testNone, text)
				}
			}
		}
	})
}
