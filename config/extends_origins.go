package config

import "github.com/rmctl/rmctl/internal/tree"

// origins remembers what merging has done, for those who ask. A nil one
// remembers nothing.
type origins struct {
	overrides map[*tree.Element][]override // by elements of the merged tree
	gone      []override                   // of elements that have no successor of their own
}

// An effect is what an element of an extending definition does to one of the base.
type effect string

const (
	changes  effect = "changes"  // the base's element was given what this one mentions
	replaces effect = "replaces" // the base's element is gone in favour of this one
	removes  effect = "removes"  // the base's element is gone
)

type override struct {
	effect effect
	by     *tree.Element
	of     *tree.Element
}

// took remembers that an element has taken the place of one of the base, and
// with it what that one had done to bases of its own.
func (o *origins) took(effect effect, by, of *tree.Element) {
	if o == nil {
		return
	}
	earlier := o.overrides[of]
	delete(o.overrides, of)
	o.overrides[by] = append([]override{{effect, by, of}}, earlier...)
}

// lost remembers an element of a base that has no successor of its own.
func (o *origins) lost(effect effect, by, of *tree.Element) {
	if o != nil {
		o.gone = append(o.gone, override{effect, by, of})
	}
}
