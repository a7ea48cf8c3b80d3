package views

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/secret"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// mostSubmissions is how many submissions are read together: the listings wait for them.
const mostSubmissions = 500

// longestList bounds, in bytes, the arguments and the environment that are shown of a job: there
// are as many jobs as maxRecorded.
const longestList = 1024

// readSubmissions reads what was submitted, for jobs where that is not known yet. It never changes.
func (r *record) readSubmissions(ctx context.Context) error {
	maps.DeleteFunc(r.submitted, func(tag string, _ []model.Attribute) bool { _, shown := r.jobs[tag]; return !shown })
	left := mostSubmissions
	for tag := range r.jobs {
		if _, known := r.submitted[tag]; known {
			continue
		}
		if left--; left < 0 {
			break
		}
		complete, err := r.store.ByTag(ctx, tag)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.submitted[tag] = nil
		if err == nil { // otherwise it is damaged, and nothing is shown
			r.submitted[tag] = attributesOf(complete, r.definition)
		}
	}
	return nil
}

// submission returns the attributes of the model that say what was submitted. It is for
// [monitor.Options].
func (r *record) submission(tag string) []model.Attribute { return r.submitted[tag] }

// attributesOf returns the attributes of the model that say what was submitted.
func attributesOf(j job.Job, definition *config.Definition) []model.Attribute {
	s, err := requested.Of(j)
	if err != nil {
		return nil
	}
	var attributes []model.Attribute
	add := func(id, text string) {
		if text != "" {
			attributes = append(attributes, model.Attribute{ID: id, Text: text})
		}
	}
	addList := func(id string, elements []string) {
		if len(elements) > 0 {
			attributes = append(attributes, model.Attribute{ID: id, Elements: shortened(elements)})
		}
	}
	addProgram := func(idOfName, idOfPath, program string) {
		if program != "" {
			add(idOfName, path.Base(program))
		}
		if strings.Contains(program, "/") {
			add(idOfPath, path.Dir(program))
		}
	}
	program := s.Executable
	if s.Script != "" {
		program = s.Script
	}
	addProgram("execName", "execPath", program)
	add("workingDir", cmp.Or(s.Directory, j.Directory))
	add("jobNumProcs", tasksOf(j, s, definition))
	addList("progArgs", s.Arguments)
	addList("env", variablesOf(s.Environment))
	if s.Debug {
		add("debug", "true")
		addProgram("debugExecName", "debugExecPath", valueOf(s, "debuggerExecutablePath"))
		addList("debugArgs", strings.Fields(valueOf(s, "debuggerArgs")))
		add("debugerId", valueOf(s, "debuggerId"))
	}
	return attributes
}

// variablesOf returns variables as NAME=value, those with the names of secrets without values.
func variablesOf(environment job.Environment) []string {
	var variables []string
	for _, variable := range environment.Variables {
		if secret.IsName(variable.Name) {
			variables = append(variables, variable.Name)
		} else {
			variables = append(variables, variable.Name+"="+variable.Value)
		}
	}
	return variables
}

// valueOf returns the last value that a submission gives an attribute.
func valueOf(s job.Submission, name string) (value string) {
	for _, assignment := range s.Values {
		if assignment.Name == name {
			value = assignment.Value
		}
	}
	return value
}

// tasksOf returns the number of tasks of a job as far as its submission says it: by the portable
// names, or the attribute of the definition that alone has it.
func tasksOf(j job.Job, s job.Submission, definition *config.Definition) string {
	if tasks, err := strconv.Atoi(valueOf(s, "tasks")); err == nil {
		return strconv.Itoa(tasks)
	}
	nodes, errNodes := strconv.Atoi(valueOf(s, "nodes"))
	each, errEach := strconv.Atoi(valueOf(s, "tasksPerNode"))
	if errNodes == nil && errEach == nil && nodes > 0 && each > 0 && each < 1<<31/nodes {
		return strconv.Itoa(nodes * each)
	}
	links := definition.PortableLinks("tasks")
	if len(links) != 1 {
		return ""
	}
	switch value := j.Attributes[links[0].Attribute].(type) {
	case int:
		return strconv.Itoa(value)
	case string:
		if tasks, err := strconv.Atoi(value); err == nil {
			return strconv.Itoa(tasks)
		}
	}
	return ""
}

// shortened returns texts, with an ellipsis in place of those that are too much.
func shortened(texts []string) []string {
	left := longestList
	for i, text := range texts {
		if left -= len(text); left < 0 {
			return append(slices.Clone(texts[:i]), "…")
		}
	}
	return texts
}
