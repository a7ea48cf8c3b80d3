package serve

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/nodes"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// debuggedPace is the interval for checking the record of a debugged job.
const debuggedPace = 2 * time.Second

// Debug submits a job of the servers of a debugger, and starts its master.
func (s *scheduler) Debug(ctx context.Context, submission job.Submission, arguments []string) (job.Job, error) {
	if _, err := s.store.ByTag(ctx, submission.Tag); !errors.Is(err, jobstore.ErrNotFound) {
		return s.Submit(ctx, submission) // repeated: the master runs, or has run
	}
	if submission.Directory == "" {
		return job.Job{}, errors.New("workingDir is empty: debugging requires a working directory")
	}
	controller, err := s.controller(ctx)
	if err != nil {
		return job.Job{}, err
	}
	program, err := s.nodeProgram(ctx, controller)
	if err != nil {
		return job.Job{}, err
	}
	routes := path.Join(submission.Directory, "routing_file_"+submission.Tag)
	words := slices.Concat([]string{program, "sdm", "--collect_routes", "--routing_file=" + routes}, arguments)
	submission.Wrapper = slices.Concat(words, []string{"--server=0", "--"}) // launchers set the rank of the others
	accepted, err := s.Submit(ctx, submission)
	if err != nil {
		return accepted, err
	}
	s.masters.Go(func() {
		command := remote.Command{Arguments: slices.Concat(words, []string{"--master"}), Directory: submission.Directory}
		if err := s.runMaster(controller, command, submission.Tag); err != nil {
			s.log.Warn("the master of a debugger failed", "job", accepted.ID, "error", err)
		}
		_ = controller.Connection.Remove(context.WithoutCancel(s.life), routes) // no longer read
	})
	return accepted, nil
}

// nodeProgram returns the path of rmctl-node on the target and installs it if needed.
func (s *scheduler) nodeProgram(ctx context.Context, controller *control.Controller) (string, error) {
	executable, err := os.Executable()
	if err != nil {
		return "", err
	}
	directory, err := nodes.NewDirectory(controller.Connection, s.nodeDirectory, executable)
	if err != nil {
		return "", err
	}
	return directory.Program(ctx)
}

// runMaster runs the master of a debugger until it ends, its job has ended, or the agent ends.
func (s *scheduler) runMaster(controller *control.Controller, command remote.Command, tag string) error {
	ctx, cancel := context.WithCancel(s.life)
	defer cancel()
	var printed bytes.Buffer
	command.Stderr = &printed
	handle, err := controller.Connection.Start(ctx, command)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { // it ends with the process
		defer close(ended)
		ticker := time.NewTicker(debuggedPace)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if j, err := s.store.ByTag(ctx, tag); err == nil && j.IsOver() {
					handle.Terminate()
					return
				}
			}
		}
	}()
	code, err := handle.Wait()
	cancel()
	<-ended
	if err == nil && code != 0 && s.life.Err() == nil {
		err = errors.New(strings.TrimSpace(printed.String()))
	}
	return err
}
