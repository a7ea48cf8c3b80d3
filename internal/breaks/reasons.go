package breaks

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

// reasonsFile contains the reasons for changes that no case notices: a table for each
// definition.
const reasonsFile = "survivors.toml"

// ReadReasons reads the reasons in each folder that has some. The error names an
// unreadable file.
func ReadReasons(roots []string) (map[string]map[string]string, error) {
	reasons := map[string]map[string]string{}
	for _, root := range roots {
		file := filepath.Join(root, reasonsFile)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var of map[string]map[string]string
		if err == nil {
			err = toml.Unmarshal(text, &of)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for definition, each := range of {
			if reasons[definition] == nil {
				reasons[definition] = map[string]string{}
			}
			maps.Copy(reasons[definition], each)
		}
	}
	return reasons, nil
}
