// Package tag finds the tags that identify submissions.
package tag

import (
	"strings"

	"github.com/rmctl/rmctl/internal/lazyregexp"
)

// mostTags bounds the tags that are compared.
const mostTags = 10_000

// tagPattern finds the tag of a submission at the beginning of a file name.
var tagPattern = lazyregexp.New(`(?:^|[\s/"'=])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`)

// scriptPattern finds the tag in the name of a script that rmctl generated.
var scriptPattern = lazyregexp.New(`(?:^|[\s/"'=])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})managed_file_for_script`)

// In returns the tag of a submission in a path or a text, preferably that of a generated script. It
// returns none if there are several different tags.
func In(text string) (tag, dropped string) {
	var found [][]string
	// The patterns are slow, and most texts have no tag.
	if strings.Contains(text, "managed_file_for_script") {
		found = scriptPattern.FindAllStringSubmatch(text, mostTags)
	}
	if found == nil && strings.Count(text, "-") >= 4 {
		found = tagPattern.FindAllStringSubmatch(text, mostTags)
	}
	for _, match := range found {
		if tag != "" && match[1] != tag {
			return "", "it has several tags"
		}
		tag = match[1]
	}
	return tag, ""
}
