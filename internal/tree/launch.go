package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostStarting is how many relays start at a time, from one place.
const mostStarting = 64

// answerLaunch starts relays for an asker.
func (r *Relay) answerLaunch(ctx context.Context, u *upper, m message) {
	how := Launching{m.FromNodes, cmp.Or(time.Duration(m.Timeout)*time.Millisecond, usualLaunch)}
	problems := r.launchAll(ctx, u, m.Launches, how)
	if u.pushNow(ctx) == nil {
		_ = u.send(ctx, message{Kind: kindLaunched, ID: m.ID, Problems: problems}) // an error ends the link
	}
}

// problems collects why nodes have no relay.
type problems struct {
	mutex  sync.Mutex
	byNode map[string]string
}

func (p *problems) add(node string, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.byNode[node] = OneLine(err.Error())
}

// addAll adds one problem for several nodes, unless they have their own.
func (p *problems) addAll(launches []Launch, err error) {
	for _, one := range launches {
		p.add(one.Node, err)
	}
}

// launchAll starts the relays of nodes, or lets others start them.
func (r *Relay) launchAll(ctx context.Context, u *upper, launches []Launch, how Launching) map[string]string {
	failed := &problems{byNode: map[string]string{}}
	size := 1
	if how.FromNodes {
		size = (len(launches) + r.options.FanOut - 1) / r.options.FanOut
	}
	slots := make(chan struct{}, mostStarting)
	var starting sync.WaitGroup
	for group := range slices.Chunk(launches, max(size, 1)) {
		slots <- struct{}{}
		starting.Go(func() {
			r.launchGroup(ctx, u, group, how, failed)
			<-slots
		})
	}
	starting.Wait()
	return failed.byNode
}

// launchGroup starts a relay of a group, which then starts the rest.
func (r *Relay) launchGroup(ctx context.Context, u *upper, group []Launch, how Launching, failed *problems) {
	for i, head := range group {
		c, err := r.launchOne(ctx, u, head, how)
		if err != nil {
			failed.add(head.Node, err)
			continue
		}
		if rest := group[i+1:]; len(rest) > 0 {
			c.pass(ctx, rest, Launching{FromNodes: true, Timeout: how.Timeout}, failed)
		}
		return
	}
}

// pass lets a child launch relays.
func (c *child) pass(ctx context.Context, launches []Launch, how Launching, failed *problems) {
	id := newNonce()[:32]
	expected := c.expect(id)
	err := c.send(ctx, message{Kind: kindLaunch, ID: id, Launches: launches, FromNodes: how.FromNodes, Timeout: how.Timeout.Milliseconds()})
	if err == nil {
		err = c.await(ctx, id, expected)
	}
	if err != nil {
		failed.addAll(launches, fmt.Errorf("%s could not start it: %w", c.node, err))
		return
	}
	for node, problem := range expected.problems {
		failed.add(node, errors.New(problem))
	}
}

// launchOne starts the relay of a node, and waits until it reports its members.
func (r *Relay) launchOne(ctx context.Context, u *upper, one Launch, how Launching) (*child, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, how.Timeout, fmt.Errorf("no relay within %s", how.Timeout))
	defer cancel()
	started, err := startProcess(one.Words, environmentOf(one), one.NoSignals)
	if err != nil {
		return nil, fmt.Errorf("starting: %w", err)
	}
	c := newChild(newLink(started), one.Node)
	c.owner, c.process = u, started
	err = c.dial(ctx, r.options.Secret, message{Role: roleParent}, true)
	if err != nil && ctx.Err() == nil {
		err = started.explain(err)
	}
	if err == nil && !r.adopt(c) {
		err = errClosed
	}
	if err != nil {
		c.end(err)
		started.stop()
		return nil, err
	}
	r.tasks.Go(func() {
		_ = r.serveChild(c) // release notes the reason
		started.stop()
	})
	select {
	case <-c.ready:
		return c, nil
	case <-c.ended:
		return nil, started.explain(c.reason)
	case <-ctx.Done():
		c.end(context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
}

// kept are the variables that launched commands get: programs need them to find their
// files, their scheduler and the user's keys.
var kept = []string{
	"HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SHELL", "SSH_AUTH_SOCK", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR",
	"KRB5CCNAME", "SLURM_CONF", "FLUX_URI", "PBS_CONF_FILE", "PBS_DEFAULT", "PBS_EXEC", "PBS_HOME", "PBS_SERVER", "OAR_JOB_ID", "OARDIR",
	"SGE_ARCH", "SGE_CELL", "SGE_CLUSTER_NAME", "SGE_EXECD_PORT", "SGE_QMASTER_PORT", "SGE_ROOT",
}

// environmentOf returns the variables of a launched command.
func environmentOf(one Launch) []string {
	variables := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if slices.Contains(kept, name) {
			variables[name] = value
		}
	}
	if variables["PATH"] == "" {
		variables["PATH"] = "/usr/local/bin:/usr/bin:/bin"
	}
	maps.Copy(variables, one.Environment)
	environment := make([]string, 0, len(variables))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		environment = append(environment, name+"="+variables[name])
	}
	return environment
}
