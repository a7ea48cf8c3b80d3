package tree

import (
	"context"
	"encoding/json"
	"errors"
	"io"
)

var errMissing = errors.New("not supported")

// Options of a relay.
type Options struct {
	Secret []byte
	Node   string // its name for users
	Local  Local  // nil: there are no processes here
	Idle   bool   // another relay of the session serves the processes of this machine
	FanOut int    // of relays that connect or are launched from nodes; 0: 32
	Place  string // "": this machine; tests play several
	Attach string // private directory: a relay of tracked processes there answers instead of Local
	Job    string // directory of the job; for Listen and Attach
}

// A Relay passes questions on to further relays and to its Local, and merges the answers.
type Relay struct{ options Options }

// NewRelay returns a relay. The caller closes it.
func NewRelay(options Options) *Relay { return &Relay{options} }

// Serve answers whoever is at the other end of the stream, until that ends.
func (r *Relay) Serve(ctx context.Context, stream io.ReadWriteCloser) error { return errMissing }

// Listen accepts relays of tracked processes at HOST:PORT or HOST until the relay is closed.
// The file "address" in the directory of the job holds the address meanwhile.
func (r *Relay) Listen(ctx context.Context, address string) error { return errMissing }

// Refresh looks for the processes of the node again, and reports changes upwards.
func (r *Relay) Refresh() {}

// Close ends the relay with all relays that it launched.
func (r *Relay) Close() {}

// ReadSecret reads the secret of a job from its directory. It refuses files that others
// can read or own.
func ReadSecret(directory string) ([]byte, error) { return nil, errMissing }

// A Client asks the relays of a job.
type Client struct{}

// Connect connects to the top of a tree over the stdin and stdout of its process. Lines
// that others print there first are skipped. Close closes the stream.
func Connect(ctx context.Context, stream io.ReadWriteCloser, secret []byte) (*Client, error) {
	return nil, errMissing
}

// Launch starts relays on nodes. It returns why nodes have none, by name.
func (c *Client) Launch(ctx context.Context, launches []Launch, how Launching) (problems map[string]string, err error) {
	return nil, errMissing
}

// Members returns all relays of the tree, those that were lost included.
func (c *Client) Members(ctx context.Context) ([]Member, error) { return nil, errMissing }

// Ask returns the answers to a question, equal ones merged. Ranks that the question names
// and no node has are a part with a problem.
func (c *Client) Ask(ctx context.Context, question Question) ([]Part, error) { return nil, errMissing }

// Close leaves the tree. The top ends with all that it launched.
func (c *Client) Close() error { return errMissing }

// A Registration is a tracked process, as the relay of its host knows it.
type Registration struct {
	Process RankProcess     `json:"process"`
	Ended   bool            `json:"ended,omitempty"`
	Lost    bool            `json:"lost,omitempty"`   // it went without saying that it ended; the relay sets it
	Detail  json.RawMessage `json:"detail,omitempty"` // for Record
}

// JoinOptions are how a tracked process takes part.
type JoinOptions struct {
	Job     string // its directory, whose last part names the socket
	Private string // "": the private directory of the user on this host
	Node    string
	Secret  []byte
	// Local returns what answers if this process becomes the relay. Registered returns the
	// processes that live.
	Local func(registered func() []Registration) Local
	// Record stores all registrations of the host since this process became its relay,
	// ended ones included. Calls follow each other.
	Record func(ctx context.Context, registrations []Registration) error
}

// A Membership is a tracked process among those of its host. One of them is the relay of
// the host; when it ends, the others elect another one.
type Membership struct{}

// Join takes part with a process until Leave. It does not wait for others.
func Join(ctx context.Context, options JoinOptions, registration Registration) *Membership {
	return &Membership{}
}

// Update replaces the registration. It returns once the relay of the host has recorded it.
func (m *Membership) Update(ctx context.Context, registration Registration) error {
	return errMissing
}

// Leave ends the membership. If this process is the relay, others become it.
func (m *Membership) Leave() {}

// PrivateDirectory returns the directory for sockets on this host, which only the user
// can enter.
func PrivateDirectory() (string, error) { return "", errMissing }

// LockSession makes this process the one relay of a session on this host. It reports
// false if another process is; otherwise the caller calls release at its end.
func LockSession(private, session string) (release func(), isFirst bool, err error) {
	return nil, false, errMissing
}
