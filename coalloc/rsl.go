package coalloc

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rmctl/rmctl/rsl"
)

// readRSL reads a multi-request, or components of one for edits. Settings of the whole request and definitions for all
// components are in a conjunction around it: &(name=x)(+(&…)(&…)).
func readRSL(ctx context.Context, text []byte, from Sources, isEdit bool) (*Request, error) {
	spec, err := rsl.Parse(string(text))
	if err != nil {
		return nil, err
	}
	reader := &rslReader{from: from, symbols: map[string]symbols{}, request: &Request{}}
	if alone, isBoolean := spec.(*rsl.Boolean); isEdit && isBoolean && alone.Operator == rsl.And && !hasMulti(alone) {
		spec = &rsl.Boolean{Position: alone.Position, Operator: rsl.Multi, Specs: []rsl.Spec{alone}}
	}
	multi := reader.outer(spec)
	if multi != nil {
		for i, component := range multi.Specs {
			reader.component(ctx, i, component)
		}
		reader.nameParts()
		reader.finish()
	}
	if len(reader.problems) > 0 {
		slices.SortStableFunc(reader.problems, func(a, b *rsl.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
		return nil, reader.problems
	}
	if err := reader.request.Check(); err != nil {
		return nil, err
	}
	return reader.request, nil
}

func hasMulti(conjunction *rsl.Boolean) bool {
	return slices.ContainsFunc(conjunction.Specs, func(child rsl.Spec) bool {
		inner, isBoolean := child.(*rsl.Boolean)
		return isBoolean && inner.Operator == rsl.Multi
	})
}

// An rslReader reads a request in RSL. Problems are those of the request as a whole; others become the Problem
// of their part.
type rslReader struct {
	from     Sources
	symbols  map[string]symbols // by target
	request  *Request
	shared   []rsl.Spec     // definitions of variables for all components
	places   []rsl.Position // of the parts
	problems rsl.Problems
}

type symbols struct {
	values map[string]string
	err    error
}

func (r *rslReader) refuse(at rsl.Position, format string, arguments ...any) {
	r.problems = append(r.problems, &rsl.Problem{Position: at, Message: fmt.Sprintf(format, arguments...)})
}

// outer reads the settings around the components, and returns the multi-request, or nil.
func (r *rslReader) outer(spec rsl.Spec) *rsl.Boolean {
	boolean, isBoolean := spec.(*rsl.Boolean)
	if isBoolean && boolean.Operator == rsl.Multi {
		return boolean
	}
	var multi *rsl.Boolean
	if isBoolean && boolean.Operator == rsl.And {
		for _, child := range boolean.Specs {
			if inner, isInner := child.(*rsl.Boolean); isInner && inner.Operator == rsl.Multi && multi == nil {
				multi = inner
			}
		}
	}
	if multi == nil {
		r.problems = append(r.problems, &rsl.Problem{Position: spec.Pos(), Message: "a request must be a multi-request", Hint: "write +(&(resourceManagerContact=TARGET)(executable=PROGRAM))"})
		return nil
	}
	settings := &rsl.Boolean{Position: boolean.Position, Operator: rsl.And}
	for _, child := range boolean.Specs {
		relation, isRelation := child.(*rsl.Relation)
		switch {
		case child == rsl.Spec(multi):
		case !isRelation:
			r.refuse(child.Pos(), "only settings of the request may stand next to the components")
		default:
			if rsl.CanonicalName(relation.Name) == attributeSubstitution {
				r.shared = append(r.shared, relation)
			}
			settings.Append(relation)
		}
	}
	r.settings(settings)
	return multi
}

// settings reads the settings of the request.
func (r *rslReader) settings(settings *rsl.Boolean) {
	evaluated, _, err := rsl.Evaluate(settings, nil)
	if err != nil {
		r.problems = append(r.problems, problemsOf(err)...)
		return
	}
	for _, child := range evaluated.(*rsl.Boolean).Specs {
		relation := child.(*rsl.Relation)
		value := relationValue{relation: relation}
		switch rsl.CanonicalName(relation.Name) {
		case attributeSubstitution:
		case "name":
			r.request.Name = value.literal(0)
		case "holdfirst":
			r.request.HoldFirst = value.flag(0)
		case "dryrun":
			r.request.DryRun = r.request.DryRun || value.flag(errorDryRun)
		case "commitlimit":
			r.request.Limits.Commit = value.limit()
		case "alternatives":
			r.request.Sets = append(r.request.Sets, value.sets()...)
		default:
			value.refuse(0, "unknown setting of a request")
		}
		r.problems = append(r.problems, value.problems...)
	}
}

func problemsOf(err error) rsl.Problems {
	if problems, are := err.(rsl.Problems); are {
		return problems
	}
	return rsl.Problems{{Message: err.Error()}}
}

// component reads a component as a part.
func (r *rslReader) component(ctx context.Context, index int, spec rsl.Spec) {
	conjunction, isBoolean := spec.(*rsl.Boolean)
	if !isBoolean || conjunction.Operator != rsl.And {
		r.refuse(spec.Pos(), "component %d must be a conjunction, &(…)(…): %s", index+1, errorText(errorBadRSL))
		return
	}
	c := &componentReader{reader: r, part: Part{Count: 1, JobType: Multiple}}
	c.read(ctx, conjunction)
	r.request.Parts, r.places = append(r.request.Parts, c.part), append(r.places, conjunction.Position)
	r.request.DryRun = r.request.DryRun || c.dryRun
}

// nameParts gives parts without a label one, and refuses labels that two parts have.
func (r *rslReader) nameParts() {
	labels := map[string]int{}
	for i, p := range r.request.Parts {
		if before, again := labels[p.Label]; p.Label != "" && again {
			r.refuse(r.places[i], "component %d has the label %.100q of component %d", i+1, p.Label, before+1)
		} else if p.Label != "" {
			labels[p.Label] = i
		}
	}
	number := 0
	for i := range r.request.Parts {
		p := &r.request.Parts[i]
		for p.Label == "" {
			number = max(number, i) + 1
			label := fmt.Sprintf("part-%d", number)
			if _, isTaken := labels[label]; !isTaken {
				p.Label = label
				labels[label] = i
			}
		}
	}
}

// finish sets defaults, and checks the parts.
func (r *rslReader) finish() {
	alternatives := map[string]bool{}
	for i, set := range r.request.Sets {
		r.request.Sets[i].Name = setName(set, i)
		for _, label := range set.Labels {
			alternatives[label] = true
		}
	}
	for i := range r.request.Parts {
		p := &r.request.Parts[i]
		p.setDefaults(alternatives[p.Label])
		if len(r.problems) > 0 || p.Problem != "" {
			continue
		}
		p.check(func(_ string, _ int, reason string) { r.refuse(r.places[i], "%s", reason) })
	}
}
