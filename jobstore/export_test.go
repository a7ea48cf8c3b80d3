package jobstore

import "context"

// What only tests of this package need.
var ()

const MaximumEvidence = maximumEvidence

func (s *Store) Doubt(ctx context.Context, tag, reason string) error {
	return s.doubt(ctx, tag, reason)
}
