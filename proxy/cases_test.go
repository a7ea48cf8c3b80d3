package proxy

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A meaning is what a file of a case says about the frame next to it.
type meaning struct {
	Command, Update string // its name
	Code            uint16 // of an unknown one
	Transaction     uint32
	Attributes      []string // id=value
	Parent          string
	Groups          []struct {
		IDs        string
		Attributes []string
	}
	Definitions []Definition
	Arguments   []string
	Encodes     string // the frame that is written instead, if it differs

	// Of a text that is no valid frame.
	Offset int64
	Reason string
	Ends   bool
}

// A frameCase is a frame and its meaning, from two files with one name.
type frameCase struct {
	text string
	meaning
}

// frameCases returns the cases below testdata, by name.
func frameCases(t testing.TB) map[string]frameCase {
	t.Helper()
	found := map[string]frameCase{}
	require.NoError(t, filepath.WalkDir("testdata/cases", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".frame" {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		plain, isEscaped := unescape(strings.TrimSuffix(string(text), "\n"))
		require.True(t, isEscaped, path)
		encoded, err := os.Open(strings.TrimSuffix(path, ".frame") + ".json")
		require.NoError(t, err)
		defer encoded.Close()
		decoder := json.NewDecoder(encoded)
		decoder.DisallowUnknownFields()
		each := frameCase{text: plain}
		require.NoError(t, decoder.Decode(&each.meaning), path)
		found[filepath.ToSlash(strings.TrimPrefix(path, "testdata/cases/"))] = each
		return nil
	}))
	require.NotEmpty(t, found)
	return found
}

// command returns the command that a meaning describes.
func (m meaning) command() Command {
	command := Command{ID: UnknownCommand, Transaction: m.Transaction, Code: m.Code, Arguments: m.Arguments}
	for id, wire := range wireCommands {
		if wire.name == m.Command {
			command.ID = CommandID(id)
		}
	}
	command.Attributes = parseAttributes(nil, m.Attributes)
	return command
}

// update returns the update that a meaning describes.
func (m meaning) update(t *testing.T) Update {
	t.Helper()
	update := Update{
		Change: Unknown, Transaction: m.Transaction, Code: m.Code, Arguments: m.Arguments,
		Attributes: parseAttributes(nil, m.Attributes), Parent: m.Parent, Definitions: m.Definitions,
	}
	for _, form := range updateForms {
		if form.name == m.Update {
			update.Change, update.Kind = form.change, form.kind
		}
	}
	for _, group := range m.Groups {
		ids, err := ParseIDs(group.IDs)
		require.NoError(t, err)
		update.Groups = append(update.Groups, Group{IDs: ids, Attributes: parseAttributes(nil, group.Attributes)})
	}
	return update
}

func TestFramesMeanWhatTheirCasesSay(t *testing.T) {
	for name, each := range frameCases(t) {
		t.Run(name, func(t *testing.T) {
			frame, err := parseWhole(each.text)
			if err == nil && each.Reason != "" {
				_, err = ParseUpdate(frame)
			}
			if each.Reason != "" {
				var broken *FrameError
				require.ErrorAs(t, err, &broken)
				require.Equal(t, each.Reason, broken.Reason)
				require.Equal(t, each.Offset, broken.Offset)
				require.Equal(t, each.Ends, broken.Ends)
				return
			}
			require.NoError(t, err)
			require.Equal(t, strings.ToLower(each.text[:lengthWidth+headerWidth]), string(frame.Append(nil)[:lengthWidth+headerWidth]))
			encoded := frame
			if each.Command != "" {
				command := ParseCommand(frame)
				require.Equal(t, each.command(), command)
				require.Equal(t, each.Command, command.Name())
				encoded = each.command().Frame()
			} else {
				update, err := ParseUpdate(frame)
				require.NoError(t, err)
				require.Equal(t, each.update(t), update)
				require.Equal(t, each.Update, update.Name())
				encoded = each.update(t).Frame()
			}
			expected := each.text
			if each.Encodes != "" {
				expected = each.Encodes
			}
			require.Equal(t, expected, string(encoded.Append(nil)))
		})
	}
}
