package monitor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/sorting"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
)

type problemKey struct {
	what      string
	of        model.Kind
	attribute string
}

// Problems other than those that a model refuses.
const (
	whatDuplicate     = "an id came twice"
	whatMachines      = "a node belongs to two machines"
	whatState         = "a state is not known"
	whatNoState       = "a state is missing"
	whatTime          = "a time cannot be read"
	whatID            = "an id is empty or too long"
	whatLong          = "a text is too long and was truncated"
	whatNotUnderstood = "the definition did not understand a row"
	whatUses          = "jobs have too many nodes to process all"
	whatFurther       = "an attribute cannot be shown"
	whatHosts         = "a job has more nodes than there are"
)

// mostProblems bounds the problems that the model shows.
const mostProblems = 50

// problemsAttribute returns the attribute with the problems.
func (m *Monitor) problemsAttribute() model.Attribute {
	shown := model.Attribute{ID: vocabulary.AttributeProblems, Elements: []string{}}
	for _, problem := range m.Problems() {
		if len(shown.Elements) < mostProblems {
			shown.Elements = append(shown.Elements, cut(problem.String(), maxCause))
		}
	}
	return shown
}

// quotedBytes is how much of a hostile text a message shows.
const quotedBytes = 80

func quoted(text string) string {
	if len(text) > quotedBytes {
		return strconv.Quote(strings.ToValidUTF8(text[:quotedBytes], "")) + "…"
	}
	return strconv.Quote(text)
}

// wrong counts a problem of a row; the text is the invalid value.
func (m *Monitor) wrong(what string, of model.Kind, id, text string, count int) {
	m.count(problemKey{what, of, ""}, count, func() string {
		switch {
		case id+text == "":
			return ""
		case text == "":
			return fmt.Sprintf("%s %s", of, quoted(id))
		default:
			return fmt.Sprintf("%s %s: %s", of, quoted(id), quoted(text))
		}
	})
}

// again counts a row whose id came before in the listing. Rows without a state do not
// contradict others.
func (m *Monitor) again(of model.Kind, id string, hadState bool, state string) {
	if hadState && state != "" {
		m.wrong(whatDuplicate, of, id, "", 1)
	}
}

// refused counts what the model refused.
func (m *Monitor) refused(problems []model.Problem) {
	for _, problem := range problems {
		m.count(problemKey{problem.What, problem.Of, problem.Attribute}, problem.Count, func() string { return problem.Example })
	}
}

// count adds to a problem, and logs it with an example when it comes the first time.
func (m *Monitor) count(key problemKey, count int, example func() string) {
	if count <= 0 {
		return
	}
	m.mu.Lock()
	problem, known := m.problems[key]
	if !known {
		problem = &model.Problem{What: key.what, Of: key.of, Attribute: key.attribute, Example: example()}
		m.problems[key] = problem
	}
	problem.Count += count
	m.mu.Unlock()
	if !known {
		m.options.Log.Warn("invalid listing of a scheduler", "manager", m.options.Manager, "what", key.what, "of", key.of.String(), "attribute", key.attribute, "example", problem.Example)
	}
}

// Problems returns what was wrong with what the scheduler listed since Run was
// called, each kind of problem once, in the order of kinds of elements.
func (m *Monitor) Problems() []model.Problem {
	m.mu.Lock()
	defer m.mu.Unlock()
	problems := make([]model.Problem, 0, len(m.problems))
	for _, problem := range m.problems {
		problems = append(problems, *problem)
	}
	sorting.Stable(problems, func(a, b model.Problem) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.What, b.What), cmp.Compare(a.Attribute, b.Attribute))
	})
	return problems
}
