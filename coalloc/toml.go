package coalloc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/document"
)

// Keys of documents.
const (
	keyName        = "name"
	keyHoldFirst   = "hold_first"
	keyCommitLimit = "commit_limit"
	keyDryRun      = "dry_run"
	keyPart        = "part"
	keySet         = "set"

	keyTarget       = "target"
	keyLaunch       = "launch"
	keyCount        = "count"
	keyJobType      = "job_type"
	keyKind         = "kind"
	keyBarrier      = "barrier"
	keyIndependent  = "independent"
	keyStartLimit   = "start_limit"
	keyCheckInLimit = "check_in_limit"
	keyProblem      = "problem"

	keyParts        = "parts"
	keyAtLeast      = "at_least"
	keyAtLeastCamel = "atLeast" // the same
)

// readTable reads a request from a document in TOML or JSON.
func readTable(table *document.Table, from Sources) (*Request, error) {
	r := &Request{Name: table.Text(keyName), HoldFirst: table.Flag(keyHoldFirst), DryRun: table.Flag(keyDryRun), Limits: Limits{Commit: durationIn(table, keyCommitLimit)}}
	refuseText(table, keyName, 0, oneLine(r.Name))
	for _, member := range table.Members(keySet) {
		r.Sets = append(r.Sets, readSet(member))
	}
	alternatives := map[string]bool{}
	for _, set := range r.Sets {
		for _, label := range set.Labels {
			alternatives[label] = true
		}
	}
	for _, member := range table.Members(keyPart) {
		r.Parts = append(r.Parts, readPart(member, from, alternatives[member.Name]))
	}
	checkSets(table, r)
	if err := table.Err(); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return r, nil
}

func readSet(member document.Member) Set {
	table := member.Table
	set := Set{Name: member.Name, Labels: table.Texts(keyParts)}
	set.AtLeast = table.Number(keyAtLeast, 1)
	if camel := table.Number(keyAtLeastCamel, 1); camel > 0 {
		set.AtLeast = camel
	}
	if !table.Has(keyAtLeast) && !table.Has(keyAtLeastCamel) {
		set.AtLeast = 1
	}
	return set
}

// checkSets refuses sets of parts that do not exist.
func checkSets(table *document.Table, r *Request) {
	for i, member := range table.Members(keySet) {
		for item, label := range r.Sets[i].Labels {
			if !slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Label == label }) {
				member.RefuseValue(keyParts, item, fmt.Sprintf("there is no part %.200q", label))
			}
		}
	}
}

// readPart reads a part. A part of a set of alternatives is interactive unless it says otherwise.
func readPart(member document.Member, from Sources, isAlternative bool) Part {
	table := member.Table
	p := Part{Label: member.Name, Target: table.Text(keyTarget), Count: 1, JobType: JobType(choice(table, keyJobType, Multiple, Single, MPI)), Problem: table.Text(keyProblem)}
	if table.Has(keyCount) {
		p.Count = table.Number(keyCount, 1)
	}
	p.Kind = Kind(choice(table, keyKind, Required, Interactive, Optional))
	p.Gate = Gate(choice(table, keyBarrier, Held, Program, NoGate))
	p.Independent = table.Flag(keyIndependent)
	if p.Gate == NoGate && !p.Independent {
		if table.Has(keyIndependent) {
			table.RefuseValue(keyIndependent, 0, noGateJoins)
		}
		p.Independent = true
	}
	p.Start, p.CheckIn = durationIn(table, keyStartLimit), durationIn(table, keyCheckInLimit)
	p.Submission = table.Submission()
	p.applyLaunch(table, from)
	p.setDefaults(isAlternative)
	if p.Target == "" {
		table.Refuse(keyTarget, fmt.Sprintf("part %.200q has no target", p.Label))
	}
	p.check(func(key string, item int, reason string) {
		if !strings.HasSuffix(reason, zeroByte) { // which the table refuses
			table.RefuseValue(key, item, reason)
		}
	})
	return p
}

// applyLaunch applies the settings of the part on top of the launch configuration that it names.
func (p *Part) applyLaunch(table *document.Table, from Sources) {
	name := table.Text(keyLaunch)
	if name == "" {
		return
	}
	if from.Launch == nil {
		table.RefuseValue(keyLaunch, 0, "launch configurations cannot be used here")
		return
	}
	launch, err := from.Launch(name)
	if err != nil {
		table.RefuseValue(keyLaunch, 0, err.Error())
		return
	}
	if p.Target == "" {
		p.Target = launch.Target + launch.Definition // at most one of these is set
	}
	p.Submission = p.Submission.Over(launch.Submission)
}

// setDefaults sets defaults.
func (p *Part) setDefaults(isAlternative bool) {
	if p.Gate == "" {
		p.Gate = Held
	}
	switch {
	case p.Kind != "":
	case p.Gate == NoGate:
		p.Kind = Optional
	case isAlternative:
		p.Kind = Interactive
	default:
		p.Kind = Required
	}
	if p.JobType == "" {
		p.JobType = Multiple
	}
}

// choice reads a key with one of several words as its value.
func choice[T ~string](table *document.Table, key string, words ...T) T {
	text := T(table.Text(key))
	if text != "" && !slices.Contains(words, text) {
		list := make([]string, len(words))
		for i, word := range words {
			list[i] = string(word)
		}
		table.RefuseValue(key, 0, fmt.Sprintf("%q is %.200q, but must be %s or %s", key, string(text), strings.Join(list[:len(list)-1], ", "), list[len(list)-1]))
		return ""
	}
	return text
}

// longestLimit bounds limits.
const longestLimit = 366 * 24 * time.Hour

func durationIn(table *document.Table, key string) time.Duration {
	text := table.Text(key)
	if text == "" {
		return 0
	}
	parsed, reason := parseLimit(text)
	refuseText(table, key, 0, reason)
	return parsed
}

func parseLimit(text string) (time.Duration, string) {
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 || parsed > longestLimit {
		return 0, fmt.Sprintf("invalid time %.100q: write numbers with units, such as \"1h30m\", up to \"8784h\"", text)
	}
	return parsed, ""
}

func refuseText(table *document.Table, key string, item int, reason string) {
	if reason != "" {
		table.RefuseValue(key, item, reason)
	}
}

// TOML returns the request as a document that [ReadRequest] reads.
func (r *Request) TOML() ([]byte, error) {
	text, err := document.EncodeTOML([]document.Setting{{Key: keyName, Value: r.Name}, {Key: keyHoldFirst, Value: r.HoldFirst}, {Key: keyDryRun, Value: r.DryRun}, {Key: keyCommitLimit, Value: limitText(r.Limits.Commit)}})
	if err != nil {
		return nil, err
	}
	tables := [][]byte{text}
	for i := range r.Parts {
		if text, err = r.Parts[i].toml(); err != nil {
			return nil, fmt.Errorf("part %.200q: %w", r.Parts[i].Label, err)
		}
		tables = append(tables, text)
	}
	for i, set := range r.Sets {
		path := []string{keySet, setName(set, i)}
		if text, err = document.EncodeTOMLTable(path, []document.Setting{{Key: keyParts, Value: set.Labels}, {Key: keyAtLeast, Value: set.AtLeast}}); err != nil {
			return nil, err
		}
		tables = append(tables, text)
	}
	tables = slices.DeleteFunc(tables, func(text []byte) bool { return len(text) == 0 })
	return bytes.Join(tables, []byte("\n")), nil
}

func (p *Part) toml() ([]byte, error) {
	settings := []document.Setting{
		{Key: keyTarget, Value: p.Target}, {Key: keyCount, Value: p.Count}, {Key: keyJobType, Value: string(p.JobType)}, {Key: keyKind, Value: string(p.Kind)},
		{Key: keyBarrier, Value: string(p.Gate)}, {Key: keyIndependent, Value: p.Independent},
		{Key: keyStartLimit, Value: limitText(p.Start)}, {Key: keyCheckInLimit, Value: limitText(p.CheckIn)}, {Key: keyProblem, Value: p.Problem},
	}
	return document.EncodeTOMLTable([]string{keyPart, p.Label}, append(settings, document.Settings(p.Submission, nil)...))
}

// limitText returns a limit without parts that are zero.
func limitText(limit time.Duration) string {
	if limit == 0 {
		return ""
	}
	text := limit.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
