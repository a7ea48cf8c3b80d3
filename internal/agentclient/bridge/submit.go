package bridge

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/agentclient"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/proxy"
)

// An endedJobError is an operation on a job that has ended.
type endedJobError struct{ job string }

func (e *endedJobError) Error() string { return fmt.Sprintf("job %s has ended", e.job) }

// submit submits a job: NAME=VALUE..., then -- and the program with its arguments. It prints the job id.
func (r *request) submit(ctx context.Context, arguments []string) error {
	end := slices.Index(arguments, "--")
	if end < 0 || end+1 == len(arguments) {
		return &usageError{"the agent submits programs, not scripts: name a program after --"}
	}
	var attributes proxy.Attributes
	for _, argument := range arguments[:end] {
		attributes = append(attributes, attributesOf(argument)...)
	}
	if _, given := attributes.Value("queueId"); !given && len(r.session.Features()) == 0 {
		queue, err := r.firstQueue(ctx)
		if err != nil {
			return err
		}
		attributes = append(attributes, queue...)
	}
	attributes = append(attributes, r.program(arguments[end+1:])...)
	accepted, err := r.session.Submit(ctx, attributes)
	if err != nil {
		return err
	}
	if strings.ContainsFunc(accepted.Job, unicode.IsControl) {
		return &agentclient.UnidentifiedError{Submission: accepted.Submission}
	}
	return r.print("job " + accepted.Job)
}

// attributesOf returns the attributes of NAME=VALUE, or of NAME[]=VALUE, whose words are the
// elements of an array.
func attributesOf(argument string) proxy.Attributes {
	id, value, _ := strings.Cut(argument, "=")
	array, isArray := strings.CutSuffix(id, "[]")
	if !isArray {
		return proxy.Attributes{{ID: id, Value: value}}
	}
	var all proxy.Attributes
	for _, word := range attribute.Words(value) {
		all = append(all, proxy.Attribute{ID: array, Value: word})
	}
	return all
}

// firstQueue returns the queue for a job without one: agents of the Eclipse PTP require a queue.
func (r *request) firstQueue(ctx context.Context) (proxy.Attributes, error) {
	manager, err := r.manager(ctx)
	if err != nil {
		return nil, err
	}
	for queue := range manager.All(model.Queue) {
		return proxy.Attributes{{ID: "queueId", Value: queue.ID()}}, nil
	}
	return nil, nil
}

// program returns the attributes of the program, its arguments, folder and variables.
func (r *request) program(words []string) proxy.Attributes {
	directory := r.command.Directory
	if !path.IsAbs(directory) {
		directory = path.Join(r.connection.Info().Home, directory)
	}
	attributes := proxy.Attributes{{ID: "execName", Value: path.Base(words[0])}}
	if strings.Contains(words[0], "/") {
		folder := path.Dir(words[0])
		if !path.IsAbs(folder) {
			folder = path.Join(directory, folder)
		}
		attributes = append(attributes, proxy.Attribute{ID: "execPath", Value: folder})
	}
	attributes = append(attributes, proxy.Attribute{ID: "workingDir", Value: directory})
	for _, argument := range words[1:] {
		attributes = append(attributes, proxy.Attribute{ID: "progArgs", Value: argument})
	}
	for _, name := range slices.Sorted(maps.Keys(r.command.Environment)) {
		attributes = append(attributes, proxy.Attribute{ID: "env", Value: name + "=" + r.command.Environment[name]})
	}
	return attributes
}

// notEnded returns an error if a job has ended or is unknown.
func (r *request) notEnded(ctx context.Context, id string) error {
	manager, err := r.manager(ctx)
	if err != nil {
		return err
	}
	element, known := manager.Get(model.Job, id)
	_, isFinished := r.session.Ended(id)
	switch {
	case known && hasEnded(element), !known && isFinished:
		return &endedJobError{id}
	case !known:
		return &agentclient.UnknownJobError{Job: id}
	}
	return nil
}

func (r *request) terminate(ctx context.Context, ids []string) error {
	if len(ids) != 1 {
		return &usageError{"terminate takes one job"}
	}
	if err := r.notEnded(ctx, ids[0]); err != nil {
		return err
	}
	r.connection.canceled.add(ids[0]) // before the agent reports the end of the job
	return r.session.Terminate(ctx, ids[0])
}

func (r *request) operate(ctx context.Context, words []string) error {
	if len(words) != 2 {
		return &usageError{"operate takes an operation and a job"}
	}
	if err := r.notEnded(ctx, words[1]); err != nil {
		return err
	}
	return r.session.Operate(ctx, words[0], words[1])
}

func (r *request) move(ctx context.Context, words []string) error {
	if len(words) != 2 {
		return &usageError{"move takes a job and a queue"}
	}
	if err := r.notEnded(ctx, words[0]); err != nil {
		return err
	}
	return r.session.Move(ctx, words[0], words[1])
}
