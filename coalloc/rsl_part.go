package coalloc

import (
	"context"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/rsl"
)

const (
	attributeSubstitution = "rslsubstitution"
	attributeContact      = "resourcemanagercontact"
	attributeContactName  = "resourcemanagername"
	attributeUserName     = "username"
)

// A componentReader reads one component.
type componentReader struct {
	reader   *rslReader
	part     Part
	problems rsl.Problems // of the part alone
	symbols  map[string]string

	dryRun                            bool
	hosts                             int
	joins                             *bool // subjobCommsType
	wallTime, leastMemory, mostMemory int
	mailAddress                       string
	mailEvents                        []string
}

// read reads a component. If it is not a valid component of a multi-request, the request is refused.
func (c *componentReader) read(ctx context.Context, conjunction *rsl.Boolean) {
	c.findTarget(conjunction)
	flat := c.flat(conjunction)
	evaluated, err := c.evaluate(ctx, flat)
	if err != nil {
		for _, problem := range problemsOf(err) {
			problem.Message += ": " + errorText(errorEvaluation)
			c.problems = append(c.problems, problem)
		}
		evaluated = literalsOf(flat) // what can be known without variables, such as the label
	}
	seen := map[string]bool{}
	for _, spec := range evaluated.Specs {
		c.relation(spec.(*rsl.Relation), seen)
	}
	c.apply(conjunction)
	var texts []string
	for _, problem := range c.problems {
		texts = append(texts, problem.Error())
	}
	if c.part.Problem == "" {
		c.part.Problem = strings.Join(texts, "; ")
	}
}

// flat refuses comparisons, and everything in a conjunction that is not a relation.
func (c *componentReader) flat(conjunction *rsl.Boolean) *rsl.Boolean {
	flat := &rsl.Boolean{Position: conjunction.Position, Operator: rsl.And}
	for _, child := range conjunction.Specs {
		relation, isRelation := child.(*rsl.Relation)
		switch {
		case !isRelation:
			c.refuse(child.Pos(), errorBadRSL, "a component must be a flat conjunction without %s(…) in it", child.(*rsl.Boolean).Operator)
		case relation.Operator != rsl.Equal:
			c.refuse(relation.Position, errorBadRSL, "%q has the operator %s: only = is supported", relation.Name, relation.Operator)
		default:
			flat.Append(relation)
		}
	}
	return flat
}

func (c *componentReader) refuse(at rsl.Position, code errorCode, format string, arguments ...any) {
	value := relationValue{relation: &rsl.Relation{Position: at}}
	value.refuse(code, format, arguments...)
	c.problems = append(c.problems, value.problems...)
}

// findTarget reads the contact, whose target has the variables of everything else.
func (c *componentReader) findTarget(conjunction *rsl.Boolean) {
	relation := conjunction.Relation(attributeContact)
	if relation == nil {
		relation = conjunction.Relation(attributeContactName)
	}
	if relation == nil {
		c.reader.refuse(conjunction.Position, "a component has no resourceManagerContact")
		return
	}
	alone := &rsl.Boolean{Position: conjunction.Position, Operator: rsl.And}
	if _, isLiteral := relation.Values[0].(*rsl.Literal); !isLiteral {
		for _, spec := range conjunction.Specs {
			if definition, is := spec.(*rsl.Relation); is && rsl.CanonicalName(definition.Name) == attributeSubstitution {
				alone.Append(definition)
			}
		}
	}
	alone.Append(relation)
	evaluated, err := c.reader.evaluate(alone, nil)
	if err != nil {
		c.reader.problems = append(c.reader.problems, problemsOf(err)...)
		return
	}
	value := relationValue{relation: evaluated.Specs[len(evaluated.Specs)-1].(*rsl.Relation)}
	contact := value.literal(0)
	c.reader.problems = append(c.reader.problems, value.problems...)
	target, reason := resolveContact(contact, c.reader.from.Targets)
	if reason != "" {
		c.refuse(relation.Position, 0, "%s", reason)
	}
	c.part.Target = target
	if contact == "" && len(value.problems) == 0 {
		c.reader.refuse(relation.Position, "resourceManagerContact is empty")
	}
}

// evaluate evaluates a conjunction with the definitions around the components and with symbols.
func (r *rslReader) evaluate(conjunction *rsl.Boolean, symbols map[string]string) (*rsl.Boolean, error) {
	outer := &rsl.Boolean{Operator: rsl.And, Specs: append(slices.Clone(r.shared), &rsl.Boolean{Operator: rsl.Multi, Specs: []rsl.Spec{conjunction}})}
	evaluated, _, err := rsl.Evaluate(outer, symbols)
	if err != nil {
		return nil, err
	}
	specs := evaluated.(*rsl.Boolean).Specs
	return specs[len(specs)-1].(*rsl.Boolean).Specs[0].(*rsl.Boolean), nil
}

// evaluate evaluates the component with the variables of its target, which are looked up if it needs any.
func (c *componentReader) evaluate(ctx context.Context, conjunction *rsl.Boolean) (*rsl.Boolean, error) {
	needs := conjunction.Relation(attributeUserName) != nil || needsVariables(append(slices.Clone(c.reader.shared), conjunction.Specs...))
	if needs && c.reader.from.Variables != nil && c.part.Target != "" && len(c.problems) == 0 {
		known, isKnown := c.reader.symbols[c.part.Target]
		if !isKnown {
			known.values, known.err = c.reader.from.Variables(ctx, c.part.Target)
			c.reader.symbols[c.part.Target] = known
		}
		if known.err != nil {
			return nil, known.err
		}
		c.symbols = known.values
	}
	return c.reader.evaluate(conjunction, c.symbols)
}

// needsVariables reports whether relations refer to variables that they may not define.
func needsVariables(specs []rsl.Spec) bool {
	defined := map[string]bool{}
	for _, spec := range specs {
		relation, isRelation := spec.(*rsl.Relation)
		if !isRelation {
			continue
		}
		if needsAny(relation.Values, defined) {
			return true
		}
		if rsl.CanonicalName(relation.Name) != attributeSubstitution {
			continue
		}
		for _, value := range relation.Values {
			if pair, isPair := value.(*rsl.Sequence); isPair && len(pair.Values) == 2 {
				if name, isLiteral := pair.Values[0].(*rsl.Literal); isLiteral {
					defined[name.Text] = true
				}
			}
		}
	}
	return false
}

func needsAny(values []rsl.Value, defined map[string]bool) bool {
	return slices.ContainsFunc(values, func(value rsl.Value) bool {
		switch v := value.(type) {
		case *rsl.Reference:
			return !defined[v.Name]
		case *rsl.Sequence:
			return needsAny(v.Values, defined)
		case *rsl.Concatenation:
			return needsAny(v.Parts, defined)
		}
		return false
	})
}

// literalsOf returns the relations whose values are all literals.
func literalsOf(conjunction *rsl.Boolean) *rsl.Boolean {
	literals := &rsl.Boolean{Position: conjunction.Position, Operator: rsl.And}
	for _, spec := range conjunction.Specs {
		isOther := func(value rsl.Value) bool { _, isLiteral := value.(*rsl.Literal); return !isLiteral }
		if !slices.ContainsFunc(spec.(*rsl.Relation).Values, isOther) {
			literals.Append(spec)
		}
	}
	return literals
}
