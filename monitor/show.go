package monitor

import (
	"fmt"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

// Listings returns how the listings went: of queues, nodes and jobs in this order; of the resource manager and machines, if they are listed, before these.
func (m *Monitor) Listings() []Listing {
	m.mu.Lock()
	defer m.mu.Unlock()
	var listings []Listing
	for _, each := range m.tasks {
		if each.listing.Kind != model.Universe {
			listings = append(listings, each.listing)
		}
	}
	return listings
}

// listedAttributes name the attributes for when each kind was last listed.
var listedAttributes = map[model.Kind]string{
	model.Queue: vocabulary.AttributeListedQueues, model.Node: vocabulary.AttributeListedNodes, model.Job: vocabulary.AttributeListedJobs,
}

// maxCause bounds the texts of errors in the model.
const maxCause = 500

// showListings shows the age of the model and its problems.
func (m *Monitor) showListings() {
	row := model.Row{Kind: model.ResourceManager, ID: m.options.Manager}
	var stale []byte
	unlisted := []string{}
	m.mu.Lock()
	for _, each := range m.tasks {
		listing := each.listing
		attribute, isListed := listedAttributes[listing.Kind]
		if isListed && !listing.At.IsZero() {
			row.Attributes = append(row.Attributes, model.Attribute{ID: attribute, Text: listing.At.UTC().Format(time.RFC3339)})
		}
		if listing.Unsupported {
			unlisted = append(unlisted, listing.Kind.String())
		}
		if listing.Err == nil {
			continue
		}
		if len(stale) > 0 {
			stale = append(stale, "; "...)
		}
		stale = append(stale, each.staleness()...)
	}
	m.mu.Unlock()
	row.Attributes = append(row.Attributes, model.Attribute{ID: vocabulary.AttributeUnlisted, Elements: unlisted}, model.Attribute{ID: vocabulary.AttributeStale, Text: string(stale)}, m.problemsAttribute())
	if _, known := m.options.Model.Snapshot().Manager(m.options.Manager); known {
		m.update(func(u *model.Update) { u.Put(row) })
	}
}

// staleness describes the age of the elements of a failed task, and the reason.
func (t *task) staleness() string {
	what := map[model.Kind]string{model.Universe: "the record", model.Queue: "the queues", model.ResourceManager: "the resource manager", model.Machine: "the machines", model.Node: "the nodes", model.Job: "the jobs"}[t.listing.Kind]
	cause := causeOf(t.listing.Err)
	switch {
	case t.listing.At.IsZero() && t.listing.Seen == 0:
		return fmt.Sprintf("%s could not be listed: %s", what, cause)
	case t.listing.At.IsZero():
		return fmt.Sprintf("%s could not all be listed, only %d: %s", what, t.listing.Seen, cause)
	case t.listing.Seen > 0:
		return fmt.Sprintf("%s are from %s, except %d listed before the failure: %s", what, t.listing.At.UTC().Format(time.RFC3339), t.listing.Seen, cause)
	default:
		return fmt.Sprintf("%s are of %s: %s", what, t.listing.At.UTC().Format(time.RFC3339), cause)
	}
}

// causeOf returns a one-line reason why a listing failed. The last words that the scheduler
// printed come first: they say more than the failure of the command, and views often have no
// room for the rest.
func causeOf(err error) string {
	cause, printed, _ := strings.Cut(err.Error(), "\n")
	if before, isFollowed := strings.CutSuffix(strings.TrimRight(cause, " "), ":"); isFollowed {
		cause = before
		printed = strings.TrimSpace(printed)
		if words := strings.TrimSpace(printed[strings.LastIndexByte(printed, '\n')+1:]); words != "" {
			return cut(words, maxCause/2) + " (" + cut(cause, maxCause/2) + ")"
		}
	}
	return cut(cause, maxCause)
}
