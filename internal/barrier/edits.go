package barrier

import (
	"fmt"
	"slices"
	"strings"
)

// named returns the part with a label that was not deleted.
func (m *Machine) named(label string) *part {
	i := slices.IndexFunc(m.parts, func(p *part) bool { return p.Label == label && p.State != PartDeleted })
	if i < 0 {
		return nil
	}
	return m.parts[i]
}

// checkLabels returns an error if a label is in use.
func (m *Machine) checkLabels(specs []Spec, replaced string) error {
	used := map[string]bool{}
	for _, spec := range specs {
		if used[spec.Label] || spec.Label != replaced && m.named(spec.Label) != nil {
			return fmt.Errorf("part %q: %w", spec.Label, ErrDuplicateLabel)
		}
		used[spec.Label] = true
	}
	return nil
}

// wasMade reports whether an edit with these parts was applied before, by their tags.
func (m *Machine) wasMade(specs []Spec) bool {
	return len(specs) > 0 && !slices.ContainsFunc(specs, func(spec Spec) bool {
		return spec.Tag == "" || !slices.ContainsFunc(m.parts, func(p *part) bool { return p.Tag == spec.Tag })
	})
}

func (in Add) apply(m *Machine) error {
	if m.wasMade(in.Parts) {
		return nil
	}
	if err := m.isOpen(); err != nil {
		return err
	}
	if err := m.checkLabels(in.Parts, ""); err != nil {
		return err
	}
	index := 0
	for _, p := range m.parts {
		index = max(index, p.Index+1)
	}
	m.abandon(nil)
	m.add(in.Parts, index)
	return nil
}

// add adds parts with the indexes from a first one on.
func (m *Machine) add(specs []Spec, index int) {
	var added []*part
	for i, spec := range specs {
		m.ensemble.Serials++
		p := &part{Part: Part{Spec: spec, Serial: m.ensemble.Serials, Index: index + i, State: PartSubmitting}, instances: map[string]bool{}}
		m.parts, added = append(m.parts, p), append(added, p)
		m.change(p)
		m.notify(EditedParts, p.Label, string(p.State), "added")
	}
	if m.ensemble.State != Prepared {
		m.submit(added)
	}
}

func (in Delete) apply(m *Machine) error {
	if err := m.isOpen(); err != nil {
		return err
	}
	var deleted []*part
	for _, label := range in.Labels {
		p := m.named(label)
		if p == nil {
			return fmt.Errorf("part %q: %w", label, ErrUnknownPart)
		}
		if !slices.Contains(deleted, p) {
			deleted = append(deleted, p)
		}
	}
	m.abandon(nil)
	for _, p := range deleted {
		m.drop(p)
	}
	m.notify(EditedParts, "", "", "deleted "+strings.Join(in.Labels, ", "))
	return nil
}

// drop deletes a part, which may have failed.
func (m *Machine) drop(p *part) {
	if !p.State.Ended() {
		m.remove(p, "deleted")
		return
	}
	m.setPart(p, PartDeleted, p.Reason)
}

func (in Substitute) apply(m *Machine) error {
	if m.wasMade([]Spec{in.Part}) {
		return nil
	}
	if err := m.isOpen(); err != nil {
		return err
	}
	p := m.named(in.Label)
	if p == nil {
		return fmt.Errorf("part %q: %w", in.Label, ErrUnknownPart)
	}
	if err := m.checkLabels([]Spec{in.Part}, in.Label); err != nil {
		return err
	}
	m.abandon(nil)
	if set := m.setOf(p); set != nil {
		labels := slices.Clone(set.Labels)
		labels[slices.Index(labels, in.Label)] = in.Part.Label
		m.ensemble.Sets = slices.Clone(m.ensemble.Sets) // changes before have the others
		m.setOf(p).Labels, m.hasChanged = labels, true
	}
	m.drop(p)
	m.add([]Spec{in.Part}, p.Index)
	return nil
}
