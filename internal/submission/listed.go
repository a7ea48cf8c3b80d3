package submission

import (
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// batchBytes bounds the text of the ids that one listing gets, far below the limit of any
// system for one argument.
const batchBytes = 16 << 10

// idSeparator separates the ids of a batch.
const idSeparator = ","

// IDBatches are ids of jobs for listings, in texts of bounded length.
type IDBatches struct{ Texts []string }

// Add adds an id, unless it contains the separator or is unsafe on a command line: these
// jobs are queried one by one.
func (b *IDBatches) Add(id string) {
	if id == "" || strings.HasPrefix(id, "-") || strings.ContainsFunc(id, isUnsafeInBatch) || len(id) > batchBytes {
		return
	}
	last := len(b.Texts) - 1
	if last < 0 || len(b.Texts[last])+len(idSeparator)+len(id) > batchBytes {
		b.Texts = append(b.Texts, id)
		return
	}
	b.Texts[last] += idSeparator + id
}

// isUnsafeInBatch reports whether a character separates ids or words, or quotes them.
func isUnsafeInBatch(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(",'\"\\`$", r)
}

// SetIDs sets the attributes with the ids of the jobs to list, one text
// of IDBatches, or empty for all jobs. The batches of x:for are of other ids.
func SetIDs(env *attribute.Environment, list *config.Command, ids string) {
	env.SetVariable(attributeIDs, ids)
	if list.Batch == nil {
		env.SetVariable(attributeBatch, strings.ReplaceAll(ids, idSeparator, " "))
	}
}

// SetCreated sets the attributes that say when the submission was made that a command is
// about, the earliest of several.
func SetCreated(env *attribute.Environment, created, now time.Time, zone *time.Location) {
	age := max(0, now.Sub(created))
	env.SetVariable(attributeAge, strconv.Itoa(int(age/time.Second)))
	env.SetVariable(attributeDays, strconv.Itoa(daysOf(age)))
	const slack = 10 * time.Minute // for clocks that differ
	since := created.Add(-slack)
	env.SetVariable(attributeSince, since.In(zone).Format("200601021504"))
	env.SetVariable(attributeSinceSeconds, strconv.FormatInt(since.Unix(), 10))
}

// daysOf returns how many days ago something was that has an age. It counts the day that has
// begun, and one more for clocks that differ.
func daysOf(age time.Duration) int { return int(age/(24*time.Hour)) + 2 }
