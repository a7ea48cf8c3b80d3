package views

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rmctl/rmctl/internal/agentclient/definition"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
	"github.com/rmctl/rmctl/remote"
)

// longestUnlisted is how long an agent that reports no change is not listed.
const longestUnlisted = time.Minute

// An agentSource lists when the agent of a target reports a change.
type agentSource struct {
	*definitionSource
	now func() time.Time

	mutex  sync.Mutex
	listed map[model.Kind]time.Time // since when nothing has changed; of kinds that were listed since
}

func newAgentSource(byDefinition *definitionSource, now func() time.Time) *agentSource {
	return &agentSource{definitionSource: byDefinition, now: now, listed: map[model.Kind]time.Time{}}
}

// rows implements source. A change during the listing makes another one worthwhile.
func (s *agentSource) rows(ctx context.Context, kind model.Kind, each func(id string, facts monitor.Facts) error) (monitor.Outcome, error) {
	s.mutex.Lock()
	s.listed[kind] = s.now()
	s.mutex.Unlock()
	outcome, err := s.definitionSource.rows(ctx, kind, each)
	if err != nil {
		s.mutex.Lock()
		delete(s.listed, kind)
		s.mutex.Unlock()
	}
	return outcome, err
}

// due implements source.
func (s *agentSource) due(ctx context.Context, kind model.Kind) (time.Time, error) {
	s.mutex.Lock()
	listed, isCurrent := s.listed[kind]
	s.mutex.Unlock()
	if next := listed.Add(longestUnlisted); isCurrent && next.After(s.now()) {
		return next, nil
	}
	return s.definitionSource.due(ctx, kind)
}

// follow implements source.
func (s *agentSource) follow(ctx context.Context, changed func()) error {
	reader, writer := io.Pipe()
	defer reader.Close()
	process, err := s.controller.Connection.Start(ctx, remote.Command{Arguments: []string{definition.Command, "changes"}, Stdout: writer})
	if err != nil {
		return fmt.Errorf("following the agent: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		code, err := process.Wait()
		if err == nil {
			err = fmt.Errorf("exit code %d", code)
		}
		ended <- err
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		s.mutex.Lock()
		clear(s.listed)
		s.mutex.Unlock()
		changed()
	}
	err = <-ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("following the agent: %w", err)
}
