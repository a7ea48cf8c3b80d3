package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// Features of clients that are rmctl, too.
const (
	featureDetails    = "details"    // states and attributes as the model has them
	featureOperations = "operations" // hold, release, suspend, resume, move
	featureResume     = "resume"     // clients name the last event that they know
)

var features = []string{featureDetails, featureOperations, featureResume}

// Attributes that are sent in another way than the model has them, or that only the
// protocol has.
const (
	attributeSubmission = "jobSubId"
	attributeJobID      = "jobId"
	attributeEnv        = "env"
	attributeStdout     = "processStdout"
	attributeStderr     = "processStderr"
	attributeStatus     = "processStatus"
)

// A peer is what is known of a client.
type peer struct {
	isOwn bool     // it is rmctl
	old   bool     // it knows the states of version 2.x
	both  []string // features that both ends have
}

func (p *peer) has(feature string) bool { return slices.Contains(p.both, feature) }

// agree notes which of a client's features this end has, too.
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

// newStates are the states of version 4.0 of the Eclipse PTP for those of the model.
// Without one, the client keeps the state that it has.
var newStates = map[model.Kind]map[model.State]string{
	model.Queue: {vocabulary.StateCollecting: vocabulary.StateNormal, vocabulary.StateDraining: vocabulary.StateStopped},
	model.Job: {vocabulary.StatePending: vocabulary.StateStarting, vocabulary.StateStarted: vocabulary.StateStarting,
		vocabulary.StateTerminated: "COMPLETED", vocabulary.StateError: "COMPLETED", vocabulary.StateUnknown: ""},
	model.Process: {vocabulary.StateExited: "COMPLETED", vocabulary.StateSignalled: "COMPLETED",
		vocabulary.StateError: "COMPLETED", vocabulary.StateUnknown: ""},
}

// statusAttributes get the state of the model where the state attribute cannot have it.
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

// shows reports whether the client gets an attribute of elements of a kind.
func (p *peer) shows(kind model.Kind, definition *model.Definition) bool {
	switch id := definition.ID; {
	case id == vocabulary.AttributeID, id == vocabulary.AttributeName, id == kind.StateAttribute(),
		id == attributeSubmission, id == attributeJobID && kind == model.Job:
		return false // sent in any case
	case id == vocabulary.AttributeJobUnconfirmed:
		return false // instead nothing is said of the state
	case p.has(featureDetails):
		return true
	case !p.old && statusAttributes[kind] == id:
		return false // has the state
	case kind == model.ResourceManager:
		return isPredefined(id)
	default:
		return definition.Display || isPredefined(id)
	}
}

// attributes returns what the client gets of an element.
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

// ofState are the attributes of a job that belong to its state.
var ofState = []string{vocabulary.AttributeJobState, vocabulary.AttributeJobStatus, vocabulary.AttributeJobDetail, vocabulary.AttributeJobMessage}

// isConfirmed reports whether the state of an element is no older than what an agent before this one may
// have sent. Without it, the client keeps the state that it has.
func isConfirmed(e *model.Element) bool {
	value, _ := e.Value(vocabulary.AttributeJobUnconfirmed)
	return !value.Boolean()
}

// identify adds the ids of a job and of the submission that it comes from. A submission whose id is its
// tag may be no job yet, unless its outcome is known: clients take what names their submission for its job.
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

// appendArray appends the elements of an array. Of the environment only names are sent:
// values may be secrets.
func appendArray(to proxy.Attributes, id string, elements []string) proxy.Attributes {
	for _, element := range elements {
		if id == attributeEnv {
			element, _, _ = strings.Cut(element, "=")
		}
		to = append(to, proxy.Attribute{ID: id, Value: element})
	}
	return to
}

// differences returns the attributes that a change gives an element. One that the element
// has lost gets the value of elements that never had it.
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

// withoutReason ends the reason for an earlier state, which a client that returned may have.
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

// defaultOf returns the value of an attribute for elements that have none.
func defaultOf(e *model.Element, id string) string {
	for definition := range e.Attributes() {
		if definition.ID == id && len(definition.Default) > 0 {
			return definition.Default[0]
		}
	}
	return ""
}

// added returns what was added to an output. The model keeps only its end, and clients append
// what they get.
func added(before, after string) string {
	// fits[i] is the length of the longest beginning of after that ends at its byte i.
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

// lastEventAttribute says up to which event the client knows the record.
func lastEventAttribute(number int64) proxy.Attribute {
	return proxy.Attribute{ID: proxy.LastEventAttribute, Value: strconv.FormatInt(number, 10)}
}
