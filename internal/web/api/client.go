package api

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/peer"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A Client queries the server that another process of this user runs.
type Client struct {
	socket  string
	timeout time.Duration
}

// answerTimeout bounds a query: a caller can query the scheduler instead.
const answerTimeout = 5 * time.Second

// oldestListing bounds the age of a listing that replaces a new one, however long the
// interval of the definition is.
const oldestListing = 30 * time.Second

// largestAnswer bounds the bytes of one answer.
const largestAnswer = 256 << 20

// NewClient returns a client of the server at a socket.
func NewClient(socket string) *Client { return &Client{socket, answerTimeout} }

// ErrNoListing is returned if the server has no current listing.
var ErrNoListing = errors.New("the server has no current listing")

// Queues returns the queues of a target in the server's last listing, by name, and the
// time of the listing. The error is ErrNoListing if the server's target of that name
// differs or is not STARTED, or if the listing failed or a new one is due.
func (c *Client) Queues(ctx context.Context, target settings.Target) ([]elements.Queue, time.Time, error) {
	var answer struct{ Queues []elements.Queue }
	at, err := c.listed(ctx, target, model.Queue, "queues", &answer)
	queues := slices.DeleteFunc(answer.Queues, func(q elements.Queue) bool {
		return q.State == "" && q.Native == "" // known from a job, not from a listing of queues
	})
	return queues, at, err
}

// Nodes is Queues for nodes.
func (c *Client) Nodes(ctx context.Context, target settings.Target) ([]elements.Node, time.Time, error) {
	var answer struct{ Nodes []elements.Node }
	at, err := c.listed(ctx, target, model.Node, "nodes", &answer)
	return answer.Nodes, at, err
}

// Jobs returns everybody's jobs in the server's last listing of a target, the counts of
// problems in it, and its time. Errors are those of Queues.
func (c *Client) Jobs(ctx context.Context, target settings.Target) ([]job.Document, command.Listed, time.Time, error) {
	var all listedJobsJSON
	at, err := c.listed(ctx, target, model.Job, "jobs", &all)
	listed := command.Listed{Rows: len(all.Jobs), Again: all.Again, NotUnderstood: all.NotUnderstood}
	if err != nil {
		return nil, listed, at, err
	}
	begun, err := time.Parse(time.RFC3339Nano, all.Listed)
	if err != nil || begun.Before(at) { // it comes from another process, and the server has no newer one
		return nil, listed, at, ErrNoListing
	}
	return all.Jobs, listed, begun, nil
}

// listed reads a listing of one kind if it is as good as a new one, and returns its time.
func (c *Client) listed(ctx context.Context, target settings.Target, kind model.Kind, path string, into any) (time.Time, error) {
	var m managerJSON
	address := "/managers/" + url.PathEscape(target.Name)
	if err := c.get(ctx, address, &m); err != nil {
		return time.Time{}, err
	}
	at, isCurrent := m.current(target, kind, time.Now())
	if !isCurrent {
		return at, ErrNoListing
	}
	return at, c.get(ctx, address+"/"+path, into)
}

// current returns the time of the listing of a kind, and whether that is as good as a new
// one.
func (m managerJSON) current(target settings.Target, kind model.Kind, now time.Time) (time.Time, bool) {
	if m.State != vocabulary.StateStarted || !settings.HaveSamePlace(m.Target, target) {
		return time.Time{}, false
	}
	for _, listing := range m.Listings {
		at, err := time.Parse(time.RFC3339Nano, listing.At)
		next, nextErr := time.Parse(time.RFC3339Nano, listing.Next)
		if listing.Kind == kind.String() && listing.Error == "" && err == nil && nextErr == nil && now.Before(next) && now.Sub(at) <= oldestListing {
			return at, true
		}
	}
	return time.Time{}, false
}

// get reads an answer into a value.
func (c *Client) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	connection, err := peer.Dial(ctx, c.socket)
	if err != nil {
		return fmt.Errorf("query rmctl serve: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { connection.Close() })
	defer func() {
		stop()
		connection.Close()
	}()
	if err := exchange(connection, path, into); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// exchange sends a request and reads its answer. The client of net/http does more than is
// needed at a socket, and makes the binary 0.5 MB larger.
func exchange(connection net.Conn, path string, into any) error {
	request, err := http.NewRequest(http.MethodGet, "http://rmctl"+answer.APIPath+path, nil)
	if err != nil {
		return fmt.Errorf("query rmctl serve: %w", err)
	}
	request.Close = true
	if err := request.Write(connection); err != nil {
		return fmt.Errorf("query rmctl serve: %w", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), request)
	if err != nil {
		return fmt.Errorf("query rmctl serve: %w", err)
	}
	body := io.LimitReader(response.Body, largestAnswer)
	if response.StatusCode != http.StatusOK {
		var refused answer.Failure
		if err := json.NewDecoder(body).Decode(&refused); err != nil {
			return fmt.Errorf("query rmctl serve: status %d", response.StatusCode)
		}
		return fmt.Errorf("rmctl serve: %s", refused.Error)
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of rmctl serve: %w", err)
	}
	return nil
}
