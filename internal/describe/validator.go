package describe

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
)

func describeRange(r attribute.Range) string {
	var bounds []string
	for _, bound := range []struct {
		operator string
		limit    *float64
	}{{">", r.GreaterThan}, {">=", r.GreaterOrEqual}, {"<", r.LessThan}, {"<=", r.LessOrEqual}} {
		if bound.limit != nil {
			bounds = append(bounds, bound.operator+" "+strconv.FormatFloat(*bound.limit, 'g', -1, 64))
		}
	}
	if len(bounds) == 0 {
		return "any number"
	}
	return strings.Join(bounds, ", ")
}

func describeFileInfo(f *attribute.FileInfo) []string {
	facts := []string{"a file"}
	if f.IsDirectory {
		facts[0] = "a directory"
	}
	if f.Length != nil {
		facts = append(facts, fmt.Sprintf("%d bytes long", *f.Length))
	}
	if !f.LastModifiedAfter.IsZero() {
		facts = append(facts, "changed after "+f.LastModifiedAfter.Format(time.DateTime))
	}
	if !f.LastModifiedBefore.IsZero() {
		facts = append(facts, "changed before "+f.LastModifiedBefore.Format(time.DateTime))
	}
	if f.Permissions != 0 {
		facts = append(facts, "with permissions "+f.Permissions.String())
	}
	return facts
}
