package tree

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
)

// Options of a relay.
type Options struct {
	Secret []byte
	Node   string // its name for users
	Local  Local  // nil: there are no processes here
	Idle   bool   // another relay of the session serves the processes of this machine
	FanOut int    // of relays that connect or are launched from nodes; 0: 32
	Place  string // "": this machine; tests play several
	Attach string // private directory: a relay of tracked processes there answers instead of Local
	Job    string // directory of the job; for Listen, Attach and Streams
	// Streams is a private directory: processes connect there, and at the address of Listen, to streams to rmctl.
	Streams string

	tracked bool // it lives in a tracked process, and stays when those who ask go
}

// A Relay passes questions on to further relays and to its Local, and merges the answers.
type Relay struct {
	options Options
	id      string
	ctx     context.Context
	cancel  context.CancelFunc
	tasks   sync.WaitGroup

	mutex     sync.Mutex
	uppers    map[*upper]struct{}
	children  map[*child]struct{}
	known     []Group // ranks of Local
	version   int     // of what members returns
	lost      []Member
	recent    map[string]struct{} // questions that it got already
	order     []string            // of recent
	redirects int                 // counts children, those redirected included

	carrier *carrier

	listening sync.Mutex
	beside    string // where relays that were redirected connect
}

// NewRelay returns a relay. The caller closes it.
func NewRelay(options Options) *Relay {
	if options.FanOut == 0 {
		options.FanOut = usualFanOut
	}
	if options.Place == "" {
		options.Place = thisPlace()
	}
	r := &Relay{options: options, id: newNonce()[:16], uppers: map[*upper]struct{}{}, children: map[*child]struct{}{}, recent: map[string]struct{}{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.carrier = &carrier{isOpen: options.Streams != ""}
	if options.Streams != "" {
		r.tasks.Go(r.serveStreams)
	}
	if options.Attach != "" && !options.Idle {
		tried := make(chan struct{})
		r.tasks.Go(func() { r.attach(tried) })
		<-tried
	}
	return r
}

// Serve answers the other end of a stream until the stream ends.
func (r *Relay) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	l := newLink(stream)
	limited, cancel := context.WithTimeout(ctx, usualLaunch)
	hello, err := l.accept(limited, r.options.Secret, roleClient, roleParent)
	cancel()
	if err != nil {
		l.end(err)
		return err
	}
	return r.serveUpper(ctx, l, hello.Role == roleClient)
}

// Refresh looks for the processes of the node again, and reports changes upwards.
func (r *Relay) Refresh() {
	if r.mayAnswer() {
		_, _ = r.processes(r.ctx) // questions report the error
	}
}

// Close ends the relay with all relays that it launched.
func (r *Relay) Close() {
	r.mutex.Lock()
	uppers := make([]*upper, 0, len(r.uppers))
	for u := range r.uppers {
		uppers = append(uppers, u)
	}
	r.mutex.Unlock()
	var leaving sync.WaitGroup
	for _, u := range uppers {
		leaving.Go(func() {
			ctx, cancel := context.WithTimeout(r.ctx, flushLimit)
			defer cancel()
			_ = u.send(ctx, message{Kind: kindBye})
			u.finish()
		})
	}
	leaving.Wait()
	r.cancel()
	r.tasks.Wait()
}

// mayAnswer reports whether answers of Local can count: not if tracked processes here know their ranks.
func (r *Relay) mayAnswer() bool {
	_, hasRanks := r.attachedChild()
	return r.options.Local != nil && !r.options.Idle && !hasRanks
}

// answersLocally reports whether Local answers instead of the relay of tracked processes
// on this host, as far as both are known. A wrapper that has no rank gives way to ranks.
func (r *Relay) answersLocally() bool {
	if !r.mayAnswer() {
		return false
	}
	attached, _ := r.attachedChild()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return attached == nil || hasRanked(r.known)
}

// processes asks Local for its processes.
func (r *Relay) processes(ctx context.Context) ([]RankProcess, error) {
	found, err := r.options.Local.Processes(ctx)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(found)
	r.mutex.Lock()
	isEqual := slices.EqualFunc(groups, r.known, func(a, b Group) bool {
		return a.Namespace == b.Namespace && a.Variable == b.Variable && slices.Equal(a.Ranks, b.Ranks)
	})
	r.known = groups
	r.mutex.Unlock()
	if !isEqual {
		r.changed()
	}
	return found, nil
}

// changed reports new members upwards.
func (r *Relay) changed() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.version++
	r.forgetFound()
	for u := range r.uppers {
		select {
		case u.dirty <- struct{}{}:
		default:
		}
	}
}

// isFirst reports whether a question is new. The relay answers a question on two paths once.
func (r *Relay) isFirst(id string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, known := r.recent[id]; known {
		return false
	}
	r.recent[id] = struct{}{}
	r.order = append(r.order, id)
	if len(r.order) > mostRecent {
		delete(r.recent, r.order[0])
		r.order = r.order[1:]
	}
	return true
}

// visible returns the children that answer an asker: not children that another asker launched,
// and not the child of this host if Local answers instead.
func (r *Relay) visible(u *upper) []*child {
	isLocal := r.answersLocally()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var found []*child
	for c := range r.children {
		if (c.owner == nil || c.owner == u) && !(c.attached && isLocal) {
			found = append(found, c)
		}
	}
	sortChildren(found)
	return found
}

var errClosed = errors.New("the relay has ended")
