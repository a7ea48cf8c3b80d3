package check_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
)

var shippedFolder = filepath.Join("..", "..", "rms")

// BenchmarkLoad reads each shipped definition and makes all checks.
func BenchmarkLoad(b *testing.B) {
	benchmarkEach(b, definitionsIn(b, shippedFolder), func(file string, source []byte) { check.Load(file, source, nil) })
}

// BenchmarkRead reads each shipped definition without checks, as commands on
// jobs do.
func BenchmarkRead(b *testing.B) {
	benchmarkEach(b, definitionsIn(b, shippedFolder), func(file string, source []byte) {
		_, err := config.Read(file, source, func(name, _ string) (string, []byte, error) {
			base := filepath.Join(shippedFolder, name+".xml")
			text, err := os.ReadFile(base)
			return base, text, err
		})
		require.NoError(b, err)
	})
}

// BenchmarkLoadLargestFieldDefinition reads the largest of the definitions from
// the field and makes all checks.
func BenchmarkLoadLargestFieldDefinition(b *testing.B) {
	largest := slices.MaxFunc(fieldDefinitions(b), func(x, y definitionFile) int { return len(x.source) - len(y.source) })
	b.SetBytes(int64(len(largest.source)))
	for b.Loop() {
		check.Load(largest.file, largest.source, nil)
	}
}

// BenchmarkLoadAllFieldDefinitions reads and checks all definitions from the field.
func BenchmarkLoadAllFieldDefinitions(b *testing.B) {
	definitions := fieldDefinitions(b)
	size := 0
	for _, definition := range definitions {
		size += len(definition.source)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, definition := range definitions {
			check.Load(definition.file, definition.source, nil)
		}
	}
}

// BenchmarkLoadFieldDefinition measures each definition from the field.
func BenchmarkLoadFieldDefinition(b *testing.B) {
	benchmarkEach(b, fieldDefinitions(b), func(file string, source []byte) { check.Load(file, source, nil) })
}

// BenchmarkReadFieldDefinition reads them without checks.
func BenchmarkReadFieldDefinition(b *testing.B) {
	benchmarkEach(b, fieldDefinitions(b), func(file string, source []byte) {
		_, err := config.Read(file, source, nil)
		require.NoError(b, err)
	})
}

// A definitionFile is a definition as it was read from a file.
type definitionFile struct {
	file   string
	source []byte
}

func benchmarkEach(b *testing.B, definitions []definitionFile, load func(file string, source []byte)) {
	for _, definition := range definitions {
		b.Run(strings.TrimSuffix(filepath.Base(definition.file), ".xml"), func(b *testing.B) {
			b.SetBytes(int64(len(definition.source)))
			for b.Loop() {
				load(definition.file, definition.source)
			}
		})
	}
}

// fieldDefinitions returns the definitions from the field, which are kept outside
// the project, and skips the benchmark if they are missing.
func fieldDefinitions(b *testing.B) []definitionFile {
	shared := cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "..", "shared"))
	definitions := definitionsIn(b, filepath.Join(shared, "definitions"))
	if len(definitions) == 0 {
		b.Skip("there are no definitions in", shared)
	}
	return definitions
}

func definitionsIn(b *testing.B, folder string) []definitionFile {
	files, err := filepath.Glob(filepath.Join(folder, "*.xml"))
	require.NoError(b, err)
	definitions := make([]definitionFile, 0, len(files))
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(b, err)
		definitions = append(definitions, definitionFile{file, source})
	}
	return definitions
}
