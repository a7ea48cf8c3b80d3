package agent

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

// submissionNames map the client's submission ids to the tags of recorded jobs. An id that a client
// repeats, even after reconnecting, means the same submission.
type submissionNames struct {
	session string            // of the client
	mask    uuid.UUID         // XOR between a submission id that is a UUID and the tag
	byTag   map[string]string // submission ids of this session by tag
}

func newSubmissionNames(session, manager string) submissionNames {
	n := submissionNames{session: session, byTag: map[string]string{}}
	sum := sha256.Sum256([]byte("rmctl agent of " + manager))
	copy(n.mask[:], sum[:])
	n.mask[6] &= 0x0f // keep the version and the variant
	n.mask[8] &= 0x3f
	return n
}

// tag returns the tag of a submission. The tag of a UUID is a different UUID, so that a client may use
// the same record, and can be mapped back.
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

// of returns the client's id of a submission of this session, or of any session if the client is rmctl.
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
