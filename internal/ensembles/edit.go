package ensembles

import (
	"context"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/coalloc"
)

// Edit adds the parts of a request, or substitutes its only part for the one with a label. For an ensemble that runs at a target, rmctl
// there reads the request.
func (s *Service) Edit(ctx context.Context, id, label string, text []byte) error {
	control, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	return edit(ctx, control, label, text, uuid.NewString(), func() ([]coalloc.Part, error) { return s.readParts(ctx, text) })
}

func (s *Service) readParts(ctx context.Context, text []byte) ([]coalloc.Part, error) {
	parts, err := coalloc.ReadParts(ctx, text, s.Sources)
	if err != nil {
		err = &UsageError{err}
	}
	return parts, err
}

// edit is Edit with a token that identifies repetitions, and with a function that reads the parts for an
// ensemble of this host.
func edit(ctx context.Context, control coalloc.Control, label string, text []byte, token string, read func() ([]coalloc.Part, error)) error {
	if there, isThere := control.(*elsewhere); isThere {
		return there.editText(ctx, label, text, token)
	}
	parts, err := read()
	switch parts = tagged(parts, token); {
	case err != nil:
		return err
	case label == "":
		return control.Add(ctx, parts...)
	case len(parts) != 1:
		return usage("the request has %d parts; enter one part", len(parts))
	}
	return control.Substitute(ctx, label, parts[0])
}
