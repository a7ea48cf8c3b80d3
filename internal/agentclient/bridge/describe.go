package bridge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/internal/agentclient/definition"
)

// definition prints the definition of the target.
func (r *request) definition(context.Context, []string) error {
	if _, err := r.stdout.Write(r.attempt.written.of(r.session, &r.connection.options)); err != nil {
		return &outputError{err}
	}
	return nil
}

// A written is the definition of a session with the attributes defined so far. Each command for the
// target reads it.
type written struct {
	mutex   sync.Mutex
	defined int // version of the attribute definitions
	text    []byte
}

func (w *written) of(session *agentclient.Session, o *Options) []byte {
	defined, features := session.Defined(), session.Features()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.text == nil || w.defined != defined {
		w.defined = defined
		w.text, _ = definition.Write(definition.Options{Agent: o.Agent, Proxy: o.Proxy, Attributes: session.Definitions(),
			IsOwn: len(features) > 0, Operations: slices.Contains(features, "operations")})
	}
	return w.text
}

// knownDefinition prints the definition of the current session, if any.
func (r *request) knownDefinition(ctx context.Context, none []string) error {
	r.connection.mutex.Lock()
	if r.attempt = r.connection.attempt; r.attempt != nil {
		r.session = r.attempt.current()
	}
	r.connection.mutex.Unlock()
	if r.session == nil {
		return &agentclient.RefusedError{Text: "there is no session with the agent"}
	}
	return r.definition(ctx, none)
}

// describe prints the time since when the agent knows all submissions.
func (r *request) describe(ctx context.Context, _ []string) error {
	if err := r.session.Listed(ctx); err != nil {
		return err
	}
	return r.document(ctx, "session", func(each func(row) error) error {
		return each(row{
			"begun": strconv.FormatInt(r.attempt.begun.Unix()+1, 10),
		})
	})
}

// greet prints a line about the session for people.
func (r *request) greet(ctx context.Context, _ []string) error {
	if err := r.session.Listed(ctx); err != nil {
		return err
	}
	line := "since " + r.attempt.begun.Format(time.DateTime)
	if features := r.session.Features(); len(features) > 0 {
		line += ", with another rmctl: " + strings.Join(features, ", ")
	}
	return r.print(line)
}

// oddities fails if rmctl ignored something that the agent sent.
func (r *request) oddities(context.Context, []string) error {
	report := r.session.Report()
	var lines []string
	for _, odd := range report.Oddities {
		lines = append(lines, fmt.Sprintf("%s (%d times)", odd.What, odd.Count))
	}
	for _, problem := range report.Problems {
		lines = append(lines, fmt.Sprintf("%s of %s (%d times): %s", problem.What, problem.Of, problem.Count, problem.Example))
	}
	if before := r.attempt.before; before != nil {
		lines = append(lines, "before: "+before.Error())
	}
	_, refused := definition.Write(definition.Options{Attributes: r.session.Definitions()})
	if len(refused) > 0 {
		lines = append(lines, fmt.Sprintf("%d attributes that cannot be set: %.500q", len(refused), refused))
	}
	if len(lines) == 0 {
		return r.print("all output was recognized")
	}
	return &agentclient.RefusedError{Text: strings.Join(lines, "; ")}
}
