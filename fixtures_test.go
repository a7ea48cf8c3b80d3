package rmctl_test

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallFixture is the size up to which fixtures may be equal: a link would be no shorter.
const smallFixture = 200

// A fixture that another test needs too is a symbolic link to the first one.
func TestFixturesExistOnce(t *testing.T) {
	root, err := os.OpenRoot(".") // refuses links that lead out of the tree
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	known := map[[sha256.Size]byte]string{}
	require.NoError(t, fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir(), !strings.Contains("/"+file, "/testdata/"), isResult(file):
			return nil
		}
		text, err := root.ReadFile(file)
		require.NoError(t, err)
		if len(text) <= smallFixture || entry.Type() == fs.ModeSymlink {
			return nil
		}
		hash := sha256.Sum256(text)
		require.Empty(t, known[hash], "%s holds the same: replace it by a relative symbolic link", file)
		known[hash] = file
		return nil
	}))
}

// isResult reports whether a file holds what a test expects and updates. Each test has its own: two that are equal
// stop being so when one test changes.
func isResult(file string) bool {
	if strings.HasPrefix(file, "control/testdata/render/") {
		return path.Ext(file) == ".commands" || path.Ext(file) == ".script"
	}
	return path.Base(file) == "expected.json"
}
