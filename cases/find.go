package cases

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Find returns the folders of all cases and flows in and below the roots, sorted for each
// root and without duplicates. It skips the recorded commands of flows, and includes
// folders that it cannot read: running them shows why. If roots cannot be read or contain
// no case, it returns the others and an error that names them.
func Find(roots ...string) (folders []string, err error) {
	seen := map[string]bool{}
	for _, root := range roots {
		below, wrong := findBelow(root)
		err = errors.Join(err, wrong)
		for _, folder := range below {
			if !seen[folder] {
				seen[folder] = true
				folders = append(folders, folder)
			}
		}
	}
	return folders, err
}

func findBelow(root string) ([]string, error) {
	if _, err := os.ReadDir(root); err != nil {
		return nil, fmt.Errorf("finding cases: %w", err)
	}
	var folders []string
	// a root that is a link is followed, as any other program would; links below are not
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		switch {
		case err != nil && path == filepath.Clean(root):
			return err
		case err != nil: // reading it as a case shows why, and the others are found
			folders = append(folders, path)
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !entry.IsDir():
			return nil
		case IsFlow(path):
			folders = append(folders, path)
			return filepath.SkipDir
		case exists(filepath.Join(path, caseFile)):
			folders = append(folders, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("finding cases: %w", err)
	}
	if len(folders) == 0 {
		return nil, fmt.Errorf("no cases in %s: no folder has a %s or %s", root, caseFile, flowFile)
	}
	return folders, nil
}

// IsFlow reports whether a folder holds a flow.
func IsFlow(folder string) bool { return exists(filepath.Join(folder, flowFile)) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
