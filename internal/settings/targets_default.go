package settings

import (
	"context"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// UseTarget makes a target the default in the user's targets file. Comments and everything
// else stay. Errors are those of [SaveTargets], and *UnknownTargetError.
func UseTarget(ctx context.Context, folders Folders, name string) error {
	return changeTargets(ctx, folders, func(file string, text []byte, known *Targets) ([]byte, error) {
		if _, err := known.Find(name); err != nil {
			return nil, err
		}
		if known.isLocked(settingDefault) && known.Default != name {
			return nil, &ConfigurationError{File: file, Reason: fmt.Sprintf("the default target is locked by %s", known.site.file)}
		}
		value, err := toml.Marshal(map[string]string{settingDefault: name})
		if err != nil {
			return nil, &ConfigurationError{File: file, Reason: err.Error(), Err: err}
		}
		place, found := placeOfDefault(text)
		if !found {
			if len(text) > 0 {
				value = append(value, '\n')
			}
			return slices.Concat(value, text), nil
		}
		// The line ends with the value, or with blanks and a comment behind it.
		value = value[:len(value)-1]
		return slices.Concat(text[:place.begin], value, text[place.end:]), nil
	})
}

// placeOfDefault returns the position of the setting default, from its key to the end of its
// value.
func placeOfDefault(text []byte) (place span, found bool) {
	var parser unstable.Parser
	parser.Reset(text)
	for parser.NextExpression() {
		node := parser.Expression()
		if node.Kind == unstable.Table || node.Kind == unstable.ArrayTable {
			return span{}, false // the following text belongs to the table
		}
		if path := keyOf(node); len(path) == 1 && path[0] == settingDefault {
			key := node.Key()
			key.Next()
			begin, value := parser.Shape(key.Node().Raw).Start.Offset, parser.Shape(node.Value().Raw).End.Offset
			return span{begin, value}, true
		}
	}
	return span{}, false
}

// TextOfTarget returns the text of a target in the user's targets file.
func TextOfTarget(target Target) (string, error) {
	text, err := target.text()
	return string(text), err
}
