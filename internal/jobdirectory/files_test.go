package jobdirectory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/jobdirectory"
)

func TestFilesOfAJobAreWrittenForTheUserAlone(t *testing.T) {
	job := t.TempDir()
	require.NoError(t, jobdirectory.WriteFiles(job, strings.NewReader(`{"part-1.json":"e30=","part-2.json":""}`)))
	content, err := os.ReadFile(filepath.Join(job, "part-1.json"))
	require.NoError(t, err)
	require.Equal(t, "{}", string(content))
	info, err := os.Stat(filepath.Join(job, "part-2.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(job)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

func TestFilesWithOtherNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", "secret", "address", ".json", "../x.json", "a/b.json", "/x.json", "x.json\\n", strings.Repeat("x", 200) + ".json"} {
		job := filepath.Join(t.TempDir(), "job")
		require.NoError(t, os.Mkdir(job, 0o700))
		err := jobdirectory.WriteFiles(job, strings.NewReader(`{"part-1.json":"","`+name+`":""}`))
		require.ErrorContains(t, err, "cannot be the name of a file", name)
		entries, err := os.ReadDir(job)
		require.NoError(t, err)
		require.Empty(t, entries, name)
	}
	require.ErrorContains(t, jobdirectory.WriteFiles(t.TempDir(), strings.NewReader(`["x"]`)), "invalid files")
}

func FuzzWriteFiles(f *testing.F) {
	f.Add(`{"part-1.json":"e30="}`)
	f.Add(`{"../x.json":"e30="}`)
	f.Fuzz(func(t *testing.T, text string) {
		outer := t.TempDir()
		job := filepath.Join(outer, "job")
		require.NoError(t, os.Mkdir(job, 0o700))
		_ = jobdirectory.WriteFiles(job, strings.NewReader(text)) // most are refused
		entries, err := os.ReadDir(outer)
		require.NoError(t, err)
		require.Len(t, entries, 1, "a file beside the directory of the job")
	})
}
