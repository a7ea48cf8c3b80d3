package attribute_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/javaregex"
	"github.com/stretchr/testify/require"
)

func check(t *testing.T, validator attribute.Validator, value string, stat attribute.Stat) error {
	a := attribute.New("x")
	a.Validator = &validator
	return a.Check(value, stat)
}

func TestAnExpressionMustMatchTheWholeValue(t *testing.T) {
	validator := attribute.Validator{Regex: &attribute.Pattern{Text: `|\d+`}}
	require.NoError(t, check(t, validator, "12", nil))
	require.NoError(t, check(t, validator, "", nil))
	var invalid *attribute.InvalidError
	require.ErrorAs(t, check(t, validator, "12a", nil), &invalid)
	require.Equal(t, "12a", invalid.Value)

	validator.Split = true
	require.NoError(t, check(t, validator, "12a", nil), "an expression that splits accepts everything")
	require.NoError(t, attribute.New("y").Check("anything", nil))
}

func TestAnInvalidExpressionAcceptsNothing(t *testing.T) {
	validator := attribute.Validator{Regex: &attribute.Pattern{Text: "("}, Message: "a number, please"}
	err := check(t, validator, "12", nil)
	var syntax *javaregex.SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.ErrorContains(t, err, `checking attribute "x"`)
	var invalid *attribute.InvalidError
	require.NotErrorAs(t, err, &invalid, "not knowing is not refusing")
}

func TestARefusedValueHasTheMessageOfTheDefinition(t *testing.T) {
	limit := 5.0
	validator := attribute.Validator{Ranges: []attribute.Range{{LessThan: &limit}}, Message: "fewer, please"}
	require.EqualError(t, check(t, validator, "7", nil), `attribute "x": "7" is refused: fewer, please`)
}

func TestANumberMustLieInOneOfTheRanges(t *testing.T) {
	zero, one, ten, twenty := 0.0, 1.0, 10.0, 20.0
	validator := attribute.Validator{Ranges: []attribute.Range{
		{GreaterThan: &zero, GreaterOrEqual: &ten, LessOrEqual: &one},
		{GreaterOrEqual: &ten, LessThan: &twenty, LessOrEqual: &twenty},
	}}
	for value, accepted := range map[string]bool{
		"0": false, "0.5": true, "1": true, "1.01": false, "10": true, " 19.9 ": true, "20": false, "-3": false,
		"": false, "ten": false, "NaN": false,
	} {
		err := check(t, validator, value, nil)
		require.Equal(t, accepted, err == nil, "%q: %v", value, err)
	}
	open := attribute.Validator{Ranges: []attribute.Range{{GreaterThan: &zero}}}
	require.NoError(t, check(t, open, "1e300", nil), "a missing bound is no bound")
}

func TestTheFileThatAValueNamesIsChecked(t *testing.T) {
	changed := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	files := fstest.MapFS{
		"file": {Data: []byte("12345"), Mode: 0o640, ModTime: changed},
		"dir":  {Mode: fs.ModeDir | 0o755, ModTime: changed},
	}
	five, six := int64(5), int64(6)
	for name, c := range map[string]struct {
		wanted   attribute.FileInfo
		value    string
		accepted bool
	}{
		"there":           {attribute.FileInfo{}, "file", true},
		"missing":         {attribute.FileInfo{}, "nosuch", false},
		"blank":           {attribute.FileInfo{}, " ", true},
		"directory":       {attribute.FileInfo{IsDirectory: true}, "dir", true},
		"no directory":    {attribute.FileInfo{IsDirectory: true}, "file", false},
		"no file":         {attribute.FileInfo{}, "dir", false},
		"length":          {attribute.FileInfo{Length: &five}, "file", true},
		"other length":    {attribute.FileInfo{Length: &six}, "file", false},
		"after":           {attribute.FileInfo{LastModifiedAfter: changed.Add(-time.Second)}, "file", true},
		"not after":       {attribute.FileInfo{LastModifiedAfter: changed}, "file", false},
		"before":          {attribute.FileInfo{LastModifiedBefore: changed.Add(time.Second)}, "file", true},
		"not before":      {attribute.FileInfo{LastModifiedBefore: changed}, "file", false},
		"permissions":     {attribute.FileInfo{Permissions: 0o440}, "file", true},
		"not permissions": {attribute.FileInfo{Permissions: 0o100}, "file", false},
	} {
		err := check(t, attribute.Validator{File: &c.wanted}, c.value, files.Stat)
		require.Equal(t, c.accepted, err == nil, "%s: %v", name, err)
	}
	require.NoError(t, check(t, attribute.Validator{File: &attribute.FileInfo{}}, "nosuch", nil), "without a connection nothing is looked up")

	broken := errors.New("connection lost")
	err := check(t, attribute.Validator{File: &attribute.FileInfo{}}, "file", func(string) (fs.FileInfo, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	var invalid *attribute.InvalidError
	require.NotErrorAs(t, err, &invalid, "not knowing is not refusing")
}
