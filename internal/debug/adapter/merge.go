package adapter

import (
	"cmp"
	"strings"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/sorting"
)

const (
	mostValueText = 1 << 10 // bytes of a text with the different values of a variable
	mostClipboard = 1 << 20 // the same, to copy
)

// A value is the value of a variable on some ranks.
type value struct {
	ranks      debug.Ranks
	text       string
	typeName   string
	expression string
	children   int
	isOpen     bool // it can have children
	values     []values
	problem    string // why there is no value
}

// A variable is one variable of many ranks.
type variable struct {
	name  string
	value []value // the different ones, that of the lowest rank first
}

// mergeVariables merges variables of the same name. Ranks that did not answer are in no variable but the last one.
func mergeVariables(parts []debug.Part) []variable {
	var order []*variable
	byName := map[childName]*variable{}
	var silent *variable
	var answered []debug.Part
	for _, part := range parts {
		if part.Problem != "" {
			if silent == nil {
				silent = &variable{}
			}
			silent.value = append(silent.value, value{ranks: part.Ranks, problem: problemOf(part.Answer)})
			continue
		}
		answered = append(answered, part)
		seen := map[string]int{}
		for _, each := range part.Variables {
			key := childName{each.Name, seen[each.Name]}
			seen[each.Name]++
			if byName[key] == nil {
				byName[key] = &variable{name: each.Name}
				order = append(order, byName[key])
			}
			byName[key].add(part.Ranks, each)
		}
	}
	merged := make([]variable, 0, len(order)+1)
	for _, v := range order {
		v.addMissing(answered)
		merged = append(merged, *v)
	}
	if silent != nil {
		merged = append(merged, *silent)
	}
	return merged
}

// A childName distinguishes variables that hide each other.
type childName struct {
	name       string
	occurrence int
}

// add adds the value of some ranks.
func (v *variable) add(ranks debug.Ranks, each debug.Variable) {
	isOpen := each.Reference > 0
	for i := range v.value {
		same := &v.value[i]
		if same.problem == "" && same.text == each.Value && same.typeName == each.Type && same.children == each.Children && same.isOpen == isOpen {
			same.ranks = append(same.ranks, ranks...)
			same.open(ranks, each.Reference)
			return
		}
	}
	added := value{
		ranks: append(debug.Ranks{}, ranks...), text: each.Value, typeName: each.Type, expression: each.Expression,
		children: each.Children, isOpen: isOpen,
	}
	added.open(ranks, each.Reference)
	v.value = append(v.value, added)
}

func (v *value) open(ranks debug.Ranks, number int) {
	if number > 0 {
		v.values = append(v.values, values{ranks, number})
	}
}

// addMissing adds the ranks that answered but do not have the variable.
func (v *variable) addMissing(answered []debug.Part) {
	var have debug.Ranks
	for i := range v.value {
		v.value[i].ranks = v.value[i].ranks.Merged()
		have = append(have, v.value[i].ranks...)
	}
	have = have.Merged()
	var missing debug.Ranks
	for _, part := range answered {
		missing = append(missing, part.Ranks.Without(have)...)
	}
	if len(missing) > 0 {
		v.value = append(v.value, value{ranks: missing.Merged(), problem: "no such variable"})
	}
	sorting.Stable(v.value, func(a, b value) int { return cmp.Compare(a.ranks[0].First, b.ranks[0].First) })
}

// mergeResults merges the results of ranks for one expression.
func mergeResults(parts []debug.Part) variable {
	var result variable
	for _, part := range parts {
		switch {
		case part.Problem != "":
			result.value = append(result.value, value{ranks: part.Ranks, problem: problemOf(part.Answer)})
		case len(part.Variables) == 0:
			result.add(part.Ranks, debug.Variable{Value: part.Text})
		default:
			result.add(part.Ranks, part.Variables[0])
		}
	}
	result.addMissing(nil)
	return result
}

// hasFailed reports whether no rank has a value.
func (v *variable) hasFailed() bool {
	for _, each := range v.value {
		if each.problem == "" {
			return false
		}
	}
	return true
}

// text returns the values with their ranks: 0-2: 8 | 3: -1, or the value alone if there is one.
func (v *variable) text(most int) string {
	if len(v.value) == 1 {
		return v.value[0].show()
	}
	var b strings.Builder
	for i, each := range v.value {
		if i > 0 {
			b.WriteString(" | ")
		}
		text := nameSet(each.ranks) + ": " + each.show()
		if b.Len()+len(text) > most {
			b.WriteString("…")
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

func (v *value) show() string {
	return cmp.Or(v.problem, v.text)
}

// typeName returns the type if all values have the same.
func (v *variable) typeName() string {
	name := ""
	for _, each := range v.value {
		if name != "" && each.typeName != "" && each.typeName != name {
			return ""
		}
		name = cmp.Or(name, each.typeName)
	}
	return name
}

// expression returns an expression that evaluates to the variable, empty if it differs between ranks.
func (v *variable) expression() string {
	name := ""
	for _, each := range v.value {
		if name != "" && each.expression != "" && each.expression != name {
			return ""
		}
		name = cmp.Or(name, each.expression)
	}
	return name
}
