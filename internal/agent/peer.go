package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// Features of rmctl clients.
const (
	featureDetails    = "details"    // states and attributes of the model
	featureOperations = "operations" // hold, release, suspend, resume, move
	featureResume     = "resume"     // clients send the last event they know
)

var features = []string{featureDetails, featureOperations, featureResume}

// Attributes that differ from those of the model, or exist only in the protocol.
const (
	attributeSubmission = "jobSubId"
	attributeJobID      = "jobId"
	attributeEnv        = "env"
	attributeStdout     = "processStdout"
	attributeStderr     = "processStderr"
	attributeStatus     = "processStatus"
)

// A peer describes a client.
type peer struct {
	isOwn bool     // it is rmctl
	old   bool     // it uses the states of version 2.x
	both  []string // features that both ends have
}

func (p *peer) has(feature string) bool { return slices.Contains(p.both, feature) }

// agree stores the features that both ends support.
func (p *peer) agree(offered string) {
	p.both = nil
	for feature := range strings.SplitSeq(offered, ",") {
		if slices.Contains(features, feature) && !p.has(feature) {
			p.both = append(p.both, feature)
		}
	}
}

// isExact reports whether the client knows the states of the model.
func (p *peer) isExact() bool { return p.old || p.has(featureDetails) }

// newStates maps states of the model to those of Eclipse PTP 4.0. If a state is missing, the client keeps
// its state.
var newStates = map[model.Kind]map[model.State]string{
	model.Queue: {vocabulary.StateCollecting: vocabulary.StateNormal, vocabulary.StateDraining: vocabulary.StateStopped},
	model.Job: {vocabulary.StatePending: vocabulary.StateStarting, vocabulary.StateStarted: vocabulary.StateStarting,
		vocabulary.StateTerminated: "COMPLETED", vocabulary.StateError: "COMPLETED", vocabulary.StateUnknown: ""},
	model.Process: {vocabulary.StateExited: "COMPLETED", vocabulary.StateSignalled: "COMPLETED",
		vocabulary.StateError: "COMPLETED", vocabulary.StateUnknown: ""},
}

// statusAttributes hold the state of the model if the state attribute cannot.
var statusAttributes = map[model.Kind]string{model.Job: vocabulary.AttributeJobStatus, model.Process: attributeStatus}

// state returns the attributes for the state of an element.
func (p *peer) state(e *model.Element) proxy.Attributes { return p.stateWord(e.Kind(), e.State()) }

// stateWord returns the attributes for a state.
func (p *peer) stateWord(kind model.Kind, state model.State) proxy.Attributes {
	attribute := kind.StateAttribute()
	if p.isExact() {
		return proxy.Attributes{{ID: attribute, Value: string(state)}}
	}
	word, differs := newStates[kind][state]
	if !differs {
		word = string(state)
	}
	var attributes proxy.Attributes
	if word != "" {
		attributes = append(attributes, proxy.Attribute{ID: attribute, Value: word})
	}
	if status := statusAttributes[kind]; status != "" {
		attributes = append(attributes, proxy.Attribute{ID: status, Value: string(state)})
	}
	return attributes
}

// shows reports whether the client receives an attribute of elements of a kind.
func (p *peer) shows(kind model.Kind, definition *model.Definition) bool {
	switch id := definition.ID; {
	case id == vocabulary.AttributeID, id == vocabulary.AttributeName, id == kind.StateAttribute(),
		id == attributeSubmission, id == attributeJobID && kind == model.Job:
		return false // always sent
	case id == vocabulary.AttributeJobUnconfirmed:
		return false // the state is omitted instead
	case p.has(featureDetails):
		return true
	case !p.old && statusAttributes[kind] == id:
		return false // contains the state
	case kind == model.ResourceManager:
		return isPredefined(id)
	default:
		return definition.Display || isPredefined(id)
	}
}

// attributes returns the attributes of an element for the client.
func (s *session) attributes(e *model.Element) proxy.Attributes {
	attributes := make(proxy.Attributes, 0, 12)
	if e.Kind() != model.ResourceManager {
		attributes = append(attributes, proxy.Attribute{ID: vocabulary.AttributeName, Value: e.Name()})
	}
	isConfirmed := isConfirmed(e)
	if isConfirmed {
		attributes = append(attributes, s.peer.state(e)...)
	}
	if e.Kind() == model.Job {
		attributes = s.identify(attributes, e)
	}
	for definition, value := range e.Attributes() {
		if !s.peer.shows(e.Kind(), definition) || !isConfirmed && slices.Contains(ofState, definition.ID) {
			continue
		}
		switch {
		case value.Type() == model.Array:
			attributes = appendArray(attributes, definition.ID, value.Array())
		case definition.ID == vocabulary.AttributeJobTag:
			if name, isNamed := s.names.of(value.Text(), s.peer.isOwn); isNamed {
				attributes = append(attributes, proxy.Attribute{ID: definition.ID, Value: name}) // the client's own tag
			}
		case definition.ID == vocabulary.AttributeJobQueue:
			attributes = append(attributes, proxy.Attribute{ID: definition.ID, Value: s.ids.text(model.Queue, value.Text())})
		case definition.ID == vocabulary.AttributeProcessNodeID:
			attributes = append(attributes, proxy.Attribute{ID: definition.ID, Value: s.ids.text(model.Node, value.Text())})
		default:
			attributes = append(attributes, proxy.Attribute{ID: definition.ID, Value: value.Text()})
		}
	}
	return attributes
}

// ofState are the attributes that belong to the state of a job.
var ofState = []string{vocabulary.AttributeJobState, vocabulary.AttributeJobStatus, vocabulary.AttributeJobDetail, vocabulary.AttributeJobMessage}

// isConfirmed reports whether the state of an element is at least as new as what a previous agent may
// have sent. Otherwise the client keeps its state.
func isConfirmed(e *model.Element) bool {
	value, _ := e.Value(vocabulary.AttributeJobUnconfirmed)
	return !value.Boolean()
}

// identify adds the ids of a job and its submission. It omits the submission while its outcome is unknown
// and the id is only the tag: clients regard any element that names a submission as its job.
func (s *session) identify(to proxy.Attributes, e *model.Element) proxy.Attributes {
	to = append(to, proxy.Attribute{ID: attributeJobID, Value: e.ID()})
	tag := tagOf(e)
	submission := s.submissions[tag]
	if tag == "" || tag == e.ID() && (submission == nil || !submission.isDone) {
		return to
	}
	if name, isNamed := s.names.of(tag, s.peer.isOwn); isNamed {
		to = append(to, proxy.Attribute{ID: attributeSubmission, Value: name})
	}
	return to
}

// appendArray appends the elements of an array. It sends only the names of environment variables, since
// their values may be secrets.
func appendArray(to proxy.Attributes, id string, elements []string) proxy.Attributes {
	for _, element := range elements {
		if id == attributeEnv {
			element, _, _ = strings.Cut(element, "=")
		}
		to = append(to, proxy.Attribute{ID: id, Value: element})
	}
	return to
}

// differences returns the attributes changed in an element. A removed attribute gets its default value.
func (s *session) differences(before, after *model.Element) proxy.Attributes {
	was, is := s.attributes(before), s.attributes(after)
	var changed proxy.Attributes
	for i, attribute := range is {
		if isRepeated(is[:i], attribute.ID) || slices.Equal(was.Values(attribute.ID), is.Values(attribute.ID)) {
			continue
		}
		for _, value := range is.Values(attribute.ID) {
			if attribute.ID == attributeStdout || attribute.ID == attributeStderr {
				earlier, _ := was.Value(attribute.ID)
				value = added(earlier, value)
			}
			changed = append(changed, proxy.Attribute{ID: attribute.ID, Value: value})
		}
	}
	isKept := func(id string) bool {
		return id == after.Kind().StateAttribute() || !isConfirmed(after) && slices.Contains(ofState, id)
	}
	for i, attribute := range was {
		if _, isThere := is.Value(attribute.ID); isThere || isRepeated(was[:i], attribute.ID) || isKept(attribute.ID) {
			continue
		}
		changed = append(changed, proxy.Attribute{ID: attribute.ID, Value: defaultOf(before, attribute.ID)})
	}
	if isConfirmed(after) && !isConfirmed(before) {
		changed = append(changed, s.withoutReason(is)...)
	}
	return changed
}

// withoutReason clears the reason for an earlier state, which a returning client may still have.
func (s *session) withoutReason(is proxy.Attributes) proxy.Attributes {
	if _, isThere := is.Value(vocabulary.AttributeJobMessage); isThere || !s.peer.has(featureResume) {
		return nil
	}
	return proxy.Attributes{{ID: vocabulary.AttributeJobMessage}}
}

func isRepeated(before proxy.Attributes, id string) bool {
	_, is := before.Value(id)
	return is
}

// defaultOf returns the value of an attribute for elements without it.
func defaultOf(e *model.Element, id string) string {
	for definition := range e.Attributes() {
		if definition.ID == id && len(definition.Default) > 0 {
			return definition.Default[0]
		}
	}
	return ""
}

// added returns the text added to an output. The model keeps only the end of outputs, and clients append
// what they receive.
func added(before, after string) string {
	// fits[i] is the length of the longest proper prefix of after that also ends at its byte i.
	fits := make([]int, len(after))
	extend := func(length int, next byte) int {
		for length > 0 && (length == len(after) || after[length] != next) {
			length = fits[length-1]
		}
		if length < len(after) && after[length] == next {
			length++
		}
		return length
	}
	for i := 1; i < len(after); i++ {
		fits[i] = extend(fits[i-1], after[i])
	}
	overlap := 0
	for i := range len(before) {
		overlap = extend(overlap, before[i])
	}
	return after[overlap:]
}

// lastEventAttribute is the last event of the record that the client knows.
func lastEventAttribute(number int64) proxy.Attribute {
	return proxy.Attribute{ID: proxy.LastEventAttribute, Value: strconv.FormatInt(number, 10)}
}
