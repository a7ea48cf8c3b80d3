package coalloc

import (
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/rsl"
)

// RSL returns the request as a text that [ReadRequest] reads, with a component on each line.
func (r *Request) RSL() string {
	components := make([]string, len(r.Parts))
	for i := range r.Parts {
		components[i] = "(" + rsl.Print(r.Parts[i].rsl()) + ")"
	}
	text := "+" + strings.Join(components, "\n ")
	settings := &rsl.Boolean{Operator: rsl.And}
	set := func(name, value string) {
		if value != "" {
			settings.Set(name, rsl.Literals(value)...)
		}
	}
	set("name", r.Name)
	set("holdFirst", yes(r.HoldFirst))
	set("dryRun", yes(r.DryRun))
	set("commitLimit", limitText(r.Limits.Commit))
	if len(r.Sets) > 0 {
		var sets []rsl.Value
		for _, each := range r.Sets {
			sets = append(sets, &rsl.Sequence{Values: rsl.Literals(append([]string{strconv.Itoa(each.AtLeast)}, each.Labels...)...)})
		}
		settings.Set("alternatives", sets...)
	}
	if len(settings.Specs) == 0 {
		return text + "\n"
	}
	return rsl.Print(settings) + "\n(" + text + ")\n"
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// rsl returns the part as a component.
func (p *Part) rsl() *rsl.Boolean {
	component := &rsl.Boolean{Operator: rsl.And}
	set := func(name string, values ...string) {
		if len(values) > 0 && (len(values) > 1 || values[0] != "") {
			component.Append(&rsl.Relation{Name: name, Operator: rsl.Equal, Values: rsl.Literals(values...)})
		}
	}
	set("resourceManagerContact", p.Target)
	set("label", p.Label)
	set("count", strconv.Itoa(p.Count))
	set("jobType", string(p.JobType))
	set("subjobStartType", string(p.Kind))
	set("barrier", string(p.Gate))
	if p.Independent {
		set("subjobCommsType", "independent")
	} else {
		set("subjobCommsType", "blocking-join")
	}
	set("startLimit", limitText(p.Start))
	set("checkInLimit", limitText(p.CheckIn))
	s := p.Submission
	set("executable", s.Executable)
	if len(s.Arguments) > 0 {
		component.Append(&rsl.Relation{Name: "arguments", Operator: rsl.Equal, Values: rsl.Literals(s.Arguments...)})
	}
	set("directory", s.Directory)
	set("script", s.Script)
	set("tab", s.Tab)
	set("debug", yes(s.Debug))
	set("track", yes(s.Track))
	set("rankFrom", s.RankFrom)
	for _, value := range s.Values {
		component.Append(&rsl.Relation{Name: rmPrefix + value.Name, Operator: rsl.Equal, Values: rsl.Literals(value.Value)})
	}
	if len(s.Environment.Variables) > 0 {
		var pairs []rsl.Value
		for _, variable := range s.Environment.Variables {
			pairs = append(pairs, &rsl.Sequence{Values: rsl.Literals(variable.Name, variable.Value)})
		}
		component.Append(&rsl.Relation{Name: "environment", Operator: rsl.Equal, Values: pairs})
	}
	set(keyProblem, p.Problem)
	return component
}
