package agent

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// definitionsInUpdate bounds the definitions in one update.
const definitionsInUpdate = 50

// shownAttributes are the attributes of elements that are not predefined.
var shownAttributes = []string{
	vocabulary.AttributeJobDetail, vocabulary.AttributeJobNodes, vocabulary.AttributeJobSubmitted, vocabulary.AttributeJobStarted,
	vocabulary.AttributeJobEnded, vocabulary.AttributeJobExitCode, vocabulary.AttributeJobSignal, vocabulary.AttributeJobCPUs,
	vocabulary.AttributeJobEnsemble, vocabulary.AttributeJobPart,
	vocabulary.AttributeJobTag, vocabulary.AttributeJobDoubt, vocabulary.AttributeJobOutput, vocabulary.AttributeJobErrors,
	vocabulary.AttributeNodeCPUs, vocabulary.AttributeNodeCPUsUsed, vocabulary.AttributeNodeMemory, vocabulary.AttributeNodeLoad,
	vocabulary.AttributeNodeQueues, vocabulary.AttributeNodeReason,
	vocabulary.AttributeQueueDefault, vocabulary.AttributeQueueTimeLimit, vocabulary.AttributeQueueRunning, vocabulary.AttributeQueueWaiting,
	vocabulary.AttributeQueueNodes,
}

// isPredefined reports whether every client has the definition of an attribute.
func isPredefined(id string) bool {
	_, is := predefined().Definition(id)
	return is
}

var predefined = sync.OnceValue(func() *model.Snapshot { return model.New().Snapshot() })

// sendDefinitions answers MODEL_DEF with the features of this end and the attributes of elements and
// submissions.
func (s *session) sendDefinitions(command proxy.Command, ofSubmissions []proxy.Definition) error {
	known := []proxy.Definition{{ID: proxy.FeaturesAttribute, Type: string(model.String), Name: proxy.FeaturesAttribute,
		Description: "What rmctl agrees on with another rmctl", Default: strings.Join(features, ",")}}
	if err := s.send(proxy.Update{Change: proxy.Defined, Transaction: command.Transaction, Definitions: known}); err != nil {
		return err
	}
	var all []proxy.Definition
	snapshot := s.options.Model.Snapshot()
	for _, id := range shownAttributes {
		if definition, isDefined := snapshot.Definition(id); isDefined && !s.defined[id] {
			all = append(all, proxy.DefinitionOf(definition))
		}
	}
	for _, definition := range ofSubmissions {
		if !isPredefined(definition.ID) && !slices.Contains(shownAttributes, definition.ID) {
			all = append(all, definition)
		}
	}
	return s.sendDefined(command.Transaction, all)
}

func (s *session) sendDefined(transaction uint32, all []proxy.Definition) error {
	for some := range slices.Chunk(all, definitionsInUpdate) {
		for i, definition := range some {
			s.defined[definition.ID] = true
			if definition.Type == string(model.Array) && !s.peer.isOwn {
				some[i].Type = string(model.String) // PTP's client does not support ARRAY in definitions of agents
			}
		}
		if err := s.send(proxy.Update{Change: proxy.Defined, Transaction: transaction, Definitions: some}); err != nil {
			return err
		}
	}
	return nil
}

// defineUsed sends the definitions of attributes that elements use since the client requested
// definitions.
func (s *session) defineUsed(snapshot *model.Snapshot, now, before *model.Manager) error {
	var fresh []proxy.Definition
	note := func(e *model.Element) {
		for definition := range e.Attributes() {
			if !s.defined[definition.ID] && !isPredefined(definition.ID) && s.peer.shows(e.Kind(), definition) {
				s.defined[definition.ID] = true
				fresh = append(fresh, proxy.DefinitionOf(definition))
			}
		}
	}
	note(now.Element())
	for _, kind := range kinds {
		for change := range now.Changes(kind, before) {
			if change.After != nil {
				note(change.After)
			}
		}
	}
	transaction, isOpen := s.protocol.Events()
	if !isOpen {
		return nil
	}
	return s.sendDefined(transaction, fresh)
}

// submissionDefinitions returns the definitions of the attributes that users may set in a submission.
// Clients other than rmctl require a default.
func submissionDefinitions(d *config.Definition, isOwn bool) []proxy.Definition {
	var all []proxy.Definition
	for _, a := range d.Attributes {
		if !a.Visible() || a.ReadOnly() || submission.IsEngineAttribute(a.Name()) {
			continue
		}
		definition := submissionDefinition(a)
		if !isOwn {
			definition = withDefault(definition)
		}
		all = append(all, definition)
	}
	return all
}

func submissionDefinition(a *config.Attribute) proxy.Definition {
	name := a.Label
	if name == "" {
		name = a.Name()
	}
	definition := proxy.Definition{ID: a.Name(), Type: string(model.String), Name: name,
		Description: strings.TrimSpace(a.Text(attribute.FieldDescription)), Display: true}
	if text := a.Text(attribute.FieldDefault); !strings.Contains(text, "${") {
		definition.Default = text
	}
	switch form.EditorOf(a.Attribute) {
	case form.SwitchEditor:
		if a.Field(attribute.FieldTranslateBooleanAs) == nil {
			definition.Type = string(model.Boolean)
		}
	case form.NumberEditor:
		limits(&definition, a)
	case form.ChoiceEditor:
		for item := range strings.SplitSeq(a.Text(attribute.FieldChoice), ",") {
			if item = strings.TrimSpace(item); item != "" {
				definition.Values = append(definition.Values, item)
			}
		}
		if len(definition.Values) > 0 { // otherwise a command finds them
			definition.Type = string(model.Enumerated)
		}
	case form.ListEditor:
		definition.Type, definition.Default = string(model.Array), ""
	}
	if definition.Type == string(model.Enumerated) && !slices.Contains(definition.Values, definition.Default) {
		definition.Default = ""
	}
	return definition
}

// limits turns a definition into that of an integer.
func limits(definition *proxy.Definition, a *config.Attribute) {
	definition.Type = string(model.Integer)
	least, hasLeast := a.Field(attribute.FieldMin).(int)
	most, hasMost := a.Field(attribute.FieldMax).(int)
	if !hasLeast && !hasMost {
		return
	}
	if !hasLeast {
		least = math.MinInt32
	}
	if !hasMost {
		most = math.MaxInt32
	}
	definition.Minimum, definition.Maximum = strconv.Itoa(least), strconv.Itoa(most)
}

// withDefault adds a default if clients need one. Clients do not submit defaults.
func withDefault(d proxy.Definition) proxy.Definition {
	if d.Default != "" {
		return d
	}
	switch d.Type {
	case string(model.Boolean):
		d.Default = "false"
	case string(model.Integer):
		if d.Default = "0"; d.Minimum != "" && (strings.HasPrefix(d.Maximum, "-") || !strings.HasPrefix(d.Minimum, "-")) {
			d.Default = d.Minimum
		}
	case string(model.Enumerated):
		d.Values = append([]string{""}, d.Values...)
	}
	return d
}
