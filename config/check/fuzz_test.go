package check_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/internal/xmltree"
)

// FuzzLoad reads and checks any text: problems have valid positions, checks are
// deterministic, and a definition without errors is usable.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("<resource-manager-builder/>"))
	f.Add([]byte("\ufeff<?xml version='1.0' encoding='UTF-8'?>\r\n<r:resource-manager-builder xmlns:r='http://eclipse.org/ptp/rm'><r:control-data/></r:resource-manager-builder>"))
	seeds, err := filepath.Glob(filepath.Join("testdata", "diagnostics", "*.xml"))
	require.NoError(f, err)
	for _, file := range append(seeds, filepath.Join("..", "testdata", "sample.xml"), filepath.Join("..", "..", "rms", "fork.xml")) {
		if filepath.Base(file) == "runaways.xml" {
			continue // proving that an expression runs away takes 100 times as long as all other checks
		}
		source, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		definition, problems := check.Load("fuzz.xml", source, nil)
		if definition == nil && problems.Err() == nil {
			t.Fatal("neither a definition nor an error")
		}
		requirePlaces(t, problems, source)
		_, again := check.Load("fuzz.xml", source, nil)
		require.Equal(t, describe(problems), describe(again))
		if problems.Err() != nil {
			return
		}
		unchecked, err := config.Read("fuzz.xml", source, nil)
		require.NoError(t, err)
		require.Len(t, unchecked.Attributes, len(definition.Attributes))
		require.Len(t, unchecked.Commands, len(definition.Commands))
	})
}

// asUTF8 returns the UTF-8 text whose bytes columns count. From the first invalid
// character on, it consists of U+FFFD.
func asUTF8(source []byte) string {
	document, _ := xmltree.Read("", source)
	if document.Text != string(source) {
		return document.Text
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(source, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(source, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return strings.Map(func(r rune) rune { return r }, string(source)) // each invalid byte is a U+FFFD
	}
	var units []uint16
	for rest := source[2:]; len(rest) >= 2; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return string(utf16.Decode(units))
}

// requirePlaces requires that each problem has a position in the source and a code.
func requirePlaces(t *testing.T, problems config.Diagnostics, source []byte) {
	lines := strings.Split(asUTF8(source), "\n")
	for _, problem := range problems {
		require.NotEmpty(t, problem.Code)
		require.NotEmpty(t, problem.Message)
		require.Positive(t, problem.Line, problem)
		require.LessOrEqual(t, problem.Line, len(lines), problem)
		require.Positive(t, problem.Column, problem)
		require.LessOrEqual(t, problem.Column, len(lines[problem.Line-1])+1, problem)
	}
}

func describe(problems config.Diagnostics) string {
	var text strings.Builder
	for _, problem := range problems {
		text.WriteString(problem.String() + "\n" + problem.Excerpt() + "\n")
	}
	return text.String()
}
