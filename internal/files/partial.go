package files

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

const (
	partialStart = ".rmctl-"
	partialEnd   = ".tmp"
)

// PartialName returns the name of a temporary file for new content of a file, which then
// replaces that file. All temporary files of one file have the same prefix, so that files left
// by killed programs can be recognized; unique distinguishes writers.
func PartialName(name, unique string) string {
	return partialPrefix(name) + unique + partialEnd
}

// IsPartialOf reports whether an entry of a file's folder is unfinished content of that
// file.
func IsPartialOf(entry, name string) bool {
	return strings.HasPrefix(entry, partialPrefix(name)) && strings.HasSuffix(entry, partialEnd)
}

// partialPrefix holds no part of the name itself, which may be as long as a name
// can be and hold line ends.
func partialPrefix(name string) string {
	digest := sha256.Sum256([]byte(path.Base(name)))
	return partialStart + hex.EncodeToString(digest[:8]) + "-"
}
