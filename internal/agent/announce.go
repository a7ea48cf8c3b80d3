package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// kinds are those of elements below a resource manager, parents first.
var kinds = []model.Kind{model.Machine, model.Queue, model.Node, model.Job, model.Process}

// startEvents announces the model.
func (s *session) startEvents(command proxy.Command) error {
	offered, _ := command.Attributes.Value(proxy.FeaturesAttribute)
	s.peer.agree(offered)
	s.isHidden, s.lastEvent = nil, -1
	if err := s.hideKnown(command); err != nil {
		s.options.Log.Warn("reading the events since the client was here last", "error", err)
	}
	return s.update(true)
}

// hideKnown finds the jobs that a returning client knows already: those that had ended before its last
// event.
func (s *session) hideKnown(command proxy.Command) error {
	text, isNamed := command.Attributes.Value(proxy.LastEventAttribute)
	last, err := strconv.ParseInt(text, 10, 64)
	manager, known := s.options.Model.Snapshot().Manager(s.options.Manager)
	if !isNamed || !s.peer.has(featureResume) || s.options.Record == nil || err != nil || last <= 0 || !known {
		return nil
	}
	touched := map[string]bool{}
	newest, err := s.options.Record.EachTouched(s.life, last, func(tag string) { touched[tag] = true })
	if err != nil {
		return err
	}
	if newest < last {
		return nil // the number belongs to another record
	}
	s.isHidden = map[string]bool{}
	for job := range manager.All(model.Job) {
		if tag := tagOf(job); tag != "" && !touched[tag] && model.Ended(model.Job, job.State()) {
			s.isHidden[job.ID()] = true
		}
	}
	return nil
}

// tagOf returns the tag of a recorded job, empty for others.
func tagOf(job *model.Element) string {
	value, _ := job.Value(vocabulary.AttributeJobTag)
	return value.Text()
}

// follow sends what has changed in the model.
func (s *session) follow() error {
	if _, isOpen := s.protocol.Events(); !isOpen {
		return nil
	}
	if err := s.update(false); err != nil {
		return err
	}
	return s.settle()
}

// update sends the differences between the model and what the client knows; everything if the client has
// just requested events.
func (s *session) update(isWhole bool) error {
	var reflected int64
	if s.options.Record != nil {
		reflected = s.options.Record.Reflected() // read before the snapshot, which may be newer
	}
	snapshot := s.options.Model.Snapshot()
	now, known := snapshot.Manager(s.options.Manager)
	if !known {
		return fmt.Errorf("resource manager %q no longer exists", s.options.Manager)
	}
	before := s.sent
	s.sent = now
	if err := s.defineUsed(snapshot, now, before); err != nil {
		return err
	}
	for _, kind := range slices.Backward(kinds) {
		if err := s.remove(kind, now, before); err != nil {
			return err
		}
	}
	for _, kind := range kinds {
		if err := s.announce(kind, now, before, isWhole); err != nil {
			return err
		}
	}
	if isWhole {
		s.fetchPrinted(now, nil)
	} else {
		s.fetchPrinted(now, before)
	}
	return s.changeManager(now, before, isWhole, reflected)
}

// remove removes the elements that no longer exist. Clients remove processes with their job.
func (s *session) remove(kind model.Kind, now, before *model.Manager) error {
	if before == nil {
		return nil
	}
	gone := map[string][]uint64{}
	for change := range now.Changes(kind, before) {
		if !s.isOver(change) {
			continue
		}
		number, isKnown := s.ids.forget(change.Before)
		if kind == model.Job {
			delete(s.printer.jobs, change.Before.ID())
		}
		parent := ""
		if kind == model.Process {
			_, isThere := now.Get(model.Job, change.Before.Parent())
			isKnown = isKnown && isThere
			parent = s.parent(change.Before)
		}
		if isKnown {
			gone[parent] = append(gone[parent], number)
		}
		if kind == model.Job && change.After != nil {
			s.renew(now, change.After.ID())
		}
	}
	for parent, numbers := range gone {
		update := proxy.Update{Change: proxy.Removed, Kind: kind, Parent: parent, Groups: []proxy.Group{{IDs: proxy.IDsOf(numbers...)}}}
		if err := s.event(update); err != nil {
			return err
		}
	}
	return nil
}

// renew marks the processes of a job to be announced again with the job.
func (s *session) renew(now *model.Manager, job string) {
	s.renewed = append(s.renewed, job)
	for process := range now.Children(model.Process, job) {
		s.ids.forget(process)
	}
}

// isOver reports whether the client must drop an element: it no longer exists, its id belongs to another
// job, or the change must be announced as a new element to clients other than rmctl.
func (s *session) isOver(change model.Change) bool {
	switch {
	case change.Before == nil:
		return false
	case change.After == nil:
		return true
	case change.After.Kind() != model.Job:
		return false
	}
	before, after := change.Before, change.After
	if s.isClaimed(change) && !s.peer.has(featureDetails) {
		return true
	}
	isAnother := model.Ended(model.Job, before.State()) && !model.Ended(model.Job, after.State()) ||
		tagOf(before) != "" && tagOf(after) != "" && tagOf(before) != tagOf(after)
	return isAnother || before.Parent() != after.Parent() && !s.peer.has(featureDetails)
}

// isClaimed reports whether a job turns out to belong to a submission of this session. Clients learn that
// only from the announcement of a job.
func (s *session) isClaimed(change model.Change) bool {
	if change.After.Kind() != model.Job || change.Before == nil || tagOf(change.Before) != "" {
		return false
	}
	_, isOurs := s.names.byTag[tagOf(change.After)]
	return isOurs
}

// announce sends the new and the changed elements of a kind. It sends elements announced again as new and
// as changed, since some clients ignore a known element that is sent as new.
func (s *session) announce(kind model.Kind, now, before *model.Manager, isWhole bool) error {
	fresh, changed := s.packer(proxy.New, kind), s.packer(proxy.Changed, kind)
	if isWhole {
		for _, e := range s.inOrder(kind, now) {
			isHidden := kind == model.Job && s.isHidden[e.ID()] || kind == model.Process && s.isHidden[e.Parent()]
			if isHidden {
				continue
			}
			if err := s.addNew(fresh, e); err != nil {
				return err
			}
		}
	}
	for change := range now.Changes(kind, before) {
		if err := s.addChange(fresh, changed, change, isWhole); err != nil {
			return err
		}
	}
	if kind == model.Process {
		if err := s.addRenewed(fresh, now); err != nil {
			return err
		}
	}
	return cmp.Or(fresh.flush(), changed.flush())
}

// addChange adds a change, unless it removes an element.
func (s *session) addChange(fresh, changed *packer, change model.Change, isWhole bool) error {
	if change.After == nil {
		return nil
	}
	_, isKnown := s.ids.known(change.After.Kind(), change.After.ID())
	isNew := !isKnown || change.Before == nil || s.isClaimed(change)
	if !isWhole && (isNew || isMoved(change)) { // otherwise it was added before
		if err := s.addNew(fresh, change.After); err != nil {
			return err
		}
	}
	if isNew {
		return nil
	}
	attributes := s.differences(change.Before, change.After)
	if len(attributes) == 0 {
		return nil
	}
	return changed.add(s.parent(change.After), s.ids.number(change.After), attributes)
}

// addRenewed adds the processes that the client lost with their jobs.
func (s *session) addRenewed(to *packer, now *model.Manager) error {
	defer func() { s.renewed = nil }()
	for _, job := range s.renewed {
		for process := range now.Children(model.Process, job) {
			if _, isKnown := s.ids.known(model.Process, process.ID()); isKnown {
				continue
			}
			if err := s.addNew(to, process); err != nil {
				return err
			}
		}
	}
	return nil
}

func isMoved(change model.Change) bool { return change.Before.Parent() != change.After.Parent() }

// inOrder returns the elements of a kind, with the default queue first: clients submit to the first queue
// unless the user chooses one.
func (s *session) inOrder(kind model.Kind, now *model.Manager) []*model.Element {
	all := slices.Collect(now.All(kind))
	if kind == model.Queue {
		slices.SortStableFunc(all, func(a, b *model.Element) int { return rank(a) - rank(b) })
	}
	return all
}

func rank(queue *model.Element) int {
	if value, _ := queue.Value(vocabulary.AttributeQueueDefault); value.Boolean() {
		return 0
	}
	return 1
}

// addNew adds a new element. It omits processes of a job that the client knows already.
func (s *session) addNew(to *packer, e *model.Element) error {
	switch e.Kind() {
	case model.Job:
		submitted, waits := s.submissions[tagOf(e)]
		if waits && !submitted.isDone && e.ID() == tagOf(e) {
			return nil // it has no id yet
		}
		if err := s.replaceEarly(e); err != nil {
			return err
		}
		delete(s.isHidden, e.ID())
		if waits {
			submitted.isAnnounced = true
		}
	case model.Process:
		if _, isKnown := s.ids.known(model.Job, e.Parent()); !isKnown {
			return nil
		}
	}
	return to.add(s.parent(e), s.ids.number(e), s.attributes(e))
}

// parent returns the protocol id of an element's parent. Changes of processes name their job; other
// changes have no parent.
func (s *session) parent(e *model.Element) string {
	switch e.Kind() {
	case model.Machine, model.Queue:
		return strconv.FormatUint(s.ids.base, 10)
	case model.Node:
		return s.ids.text(model.Machine, e.Parent())
	case model.Job:
		return s.ids.text(model.Queue, e.Parent())
	}
	return s.ids.text(model.Job, e.Parent())
}

// changeManager sends changes of the resource manager itself, and the number of the last event sent.
func (s *session) changeManager(now, before *model.Manager, isWhole bool, reflected int64) error {
	var attributes proxy.Attributes
	switch {
	case isWhole:
		attributes = s.attributes(now.Element())
	case before.Element() != now.Element():
		attributes = s.differences(before.Element(), now.Element())
	}
	if s.options.Record != nil && s.peer.has(featureResume) && reflected != s.lastEvent && isListed(now.Element()) {
		s.lastEvent = reflected
		attributes = append(attributes, lastEventAttribute(reflected))
	}
	if len(attributes) == 0 {
		return nil
	}
	return s.event(s.managerUpdate(attributes))
}

func (s *session) managerUpdate(attributes proxy.Attributes) proxy.Update {
	return proxy.Update{Change: proxy.Changed, Kind: model.ResourceManager, Groups: []proxy.Group{{IDs: proxy.IDsOf(s.ids.base), Attributes: attributes}}}
}

// isListed reports whether the jobs were listed or cannot be listed. Before that, a client would treat
// missing jobs as removed.
func isListed(manager *model.Element) bool {
	listed, _ := manager.Value(vocabulary.AttributeListedJobs)
	stale, _ := manager.Value(vocabulary.AttributeStale)
	unlisted, _ := manager.Value(vocabulary.AttributeUnlisted)
	return listed.Text() != "" || stale.Text() != "" || slices.Contains(unlisted.Array(), model.Job.String())
}

// suspend stops updates until the client requests events again.
func (s *session) suspend() error {
	return s.event(s.managerUpdate(proxy.Attributes{{ID: vocabulary.AttributeRMState, Value: vocabulary.StateSuspended}}))
}

// define sends the definitions of attributes, once jobs can be submitted.
func (s *session) define(command proxy.Command) {
	var definitions []proxy.Definition
	var failed error
	isOwn := s.peer.isOwn
	s.perform(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.life, cancel)() // stop waiting at the end of the session
		definition, err := s.options.Scheduler.Definition(ctx)
		if failed = err; err == nil {
			definitions = submissionDefinitions(definition, isOwn)
		}
	}, func() error {
		if failed != nil {
			return s.answer(command, failed)
		}
		return cmp.Or(s.sendDefinitions(command, definitions), s.answer(command, nil))
	})
}
