package config

import "github.com/rmctl/rmctl/schemas"

// An Effect is what an element of an extending definition does to the base.
type Effect string

// The effects.
const (
	Changes  Effect = "changes"  // the element of the base has been given what this one mentions
	Replaces Effect = "replaces" // the element of the base is gone in favour of this one
	Removes  Effect = "removes"  // the element of the base is gone
)

// An Origin tells where a part of a merged definition comes from.
type Origin struct {
	Position
	Overrides []Override // of bases, that of the nearest first; none for what stands in one file alone
}

// An Override is what an element of an extending definition does to an element of a base.
type Override struct {
	Effect   Effect
	Position // of the element of the base
	Element  *schemas.Element
}

// origins remembers what merging has done, by the elements that the merged tree
// has, and for removed ones by what they were removed from.
type origins struct {
	overrides map[*schemas.Element][]override
	gone      []override
}

type override struct {
	effect Effect
	by     *schemas.Element
	of     *schemas.Element
}

func (o *origins) add(effect Effect, by, of *schemas.Element) {
	if o == nil {
		return
	}
	earlier := o.overrides[of]
	delete(o.overrides, of)
	o.overrides[by] = append([]override{{effect, by, of}}, earlier...)
}

func (o *origins) changed(by, of *schemas.Element)  { o.add(Changes, by, of) }
func (o *origins) replaced(by, of *schemas.Element) { o.add(Replaces, by, of) }

// lost remembers an element of a base that has no successor of its own.
func (o *origins) lost(effect Effect, by, of *schemas.Element) {
	if o != nil {
		o.gone = append(o.gone, override{effect, by, of})
	}
}
