package agent

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

// submissionNames relate the ids that a client gives its submissions to the tags under which
// these are on record. A client that repeats an id means the same submission, also after
// it has connected again.
type submissionNames struct {
	session string            // of the client
	mask    uuid.UUID         // between a submission id that is a UUID, and the tag
	byTag   map[string]string // the ids that were submitted in this session, by tag
}

func newSubmissionNames(session, manager string) submissionNames {
	n := submissionNames{session: session, byTag: map[string]string{}}
	sum := sha256.Sum256([]byte("rmctl agent of " + manager))
	copy(n.mask[:], sum[:])
	n.mask[6] &= 0x0f // the version and the variant stay what they are
	n.mask[8] &= 0x3f
	return n
}

// tag returns the tag of a submission. That of a UUID is another UUID, so that the end that
// submits may keep its own record in the same place, and leads back to it.
func (n *submissionNames) tag(id string) string {
	if parsed, err := uuid.Parse(id); err == nil && parsed.String() == id {
		return n.masked(parsed)
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("urn:rmctl:agent:"+n.session+"\x00"+id)).String()
}

func (n *submissionNames) masked(id uuid.UUID) string {
	for i := range id {
		id[i] ^= n.mask[i]
	}
	return id.String()
}

// of returns the id that a client gave a submission: in this session or, if it
// is rmctl, in any.
func (n *submissionNames) of(tag string, isOwn bool) (string, bool) {
	if id, known := n.byTag[tag]; known {
		return id, true
	}
	parsed, err := uuid.Parse(tag)
	if !isOwn || err != nil {
		return "", false
	}
	return n.masked(parsed), true
}
