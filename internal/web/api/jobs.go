package api

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/requested"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// jobJSON is a job as commands print it, with its user.
type jobJSON struct {
	job.Document
	User string `json:"user,omitempty"`
}

const jobPath = "/managers/{manager}/jobs/{job}"

func (a *API) addJobsAPI() {
	a.handle("POST /managers/{manager}/jobs", a.answerSubmit)
	a.handle("POST "+jobPath+"/resubmit", a.answerResubmit)
	a.handle("GET "+jobPath, a.answerJob)
	a.handle("GET "+jobPath+"/history", a.answerHistory)
	a.handle("GET "+jobPath+"/processes", a.answerProcesses)
	a.handle("GET "+jobPath+"/output", a.answerOutput)
	for _, operation := range []control.Operation{control.Cancel, control.Hold, control.Release, control.Suspend, control.Resume} {
		a.handle("POST "+jobPath+"/"+string(operation), func(w http.ResponseWriter, r *http.Request) error {
			if err := answer.GiveTime(w, longRequest); err != nil {
				return err
			}
			ctx, cancel := untilDone(r)
			defer cancel()
			return answer.Done(w, a.Platform.Operate(ctx, r.PathValue("manager"), r.PathValue("job"), operation))
		})
	}
}

// answerSubmit submits a job. A client that got no answer can repeat a request with a
// tag: it submits no second job.
func (a *API) answerSubmit(w http.ResponseWriter, r *http.Request) error {
	submission, err := a.readSubmission(r)
	if err != nil {
		return err
	}
	return a.submit(w, r, submission)
}

// answerResubmit submits what a job on record was submitted with, and the changes of the request.
func (a *API) answerResubmit(w http.ResponseWriter, r *http.Request) error {
	request, err := readTable(r)
	if err != nil {
		return err
	}
	changes, err := a.submission(request)
	if err != nil {
		return err
	}
	controller, err := a.Platform.Controller(r.PathValue("manager"))
	if err != nil {
		return err
	}
	before, err := a.recordedJob(r)
	if err == nil {
		before, err = a.Store.ByTag(r.Context(), before.Tag) // which has what was requested
	}
	if err != nil {
		return err
	}
	submission, err := requested.Again(before, changes, controller.Definition)
	if err != nil {
		return answer.Errorf(http.StatusConflict, "%w", err)
	}
	submission.Tag = changes.Tag
	return a.submit(w, r, submission)
}

func (a *API) submit(w http.ResponseWriter, r *http.Request, submission job.Submission) error {
	manager := r.PathValue("manager")
	if _, err := a.Platform.Manager(manager); err != nil {
		return err
	}
	if submission.Tag != "" {
		job, err := a.Store.ByTag(r.Context(), submission.Tag)
		switch {
		case err == nil && job.Target != manager:
			return answer.Errorf(http.StatusConflict, "a submission to %q already has the tag %s", job.Target, submission.Tag)
		case err == nil:
			return answer.JSON(w, http.StatusOK, recordedJSON(job))
		case !errors.Is(err, jobstore.ErrNotFound):
			return err
		}
	}
	if err := answer.GiveTime(w, longRequest); err != nil {
		return err
	}
	ctx, cancel := untilDone(r)
	defer cancel()
	job, err := a.Platform.Submit(ctx, manager, submission)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusCreated, recordedJSON(job))
}

// untilDone returns a context for a request that is carried out to its end. A client that
// disconnects still wants the job, and its id on record.
func untilDone(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), longRequest)
}

func recordedJSON(j job.Job) jobJSON { return jobJSON{Document: j.Document(), User: j.Owner} }

// listedJSON returns a job of the model. Its state is as old as the last listing of its
// target.
func listedJSON(manager *model.Manager, e *model.Element) jobJSON {
	detail := cmp.Or(job.Detail(listing.GivenText(e, vocabulary.AttributeJobDetail)), job.Undetermined)
	listed := jobJSON{User: listing.GivenText(e, vocabulary.AttributeJobUser), Document: job.Document{
		ID: e.ID(), Target: manager.Element().ID(), State: string(detail.Primary()), Detail: string(detail), Native: listing.GivenText(e, vocabulary.AttributeJobStatus),
		Queue: e.Parent(), ExitCode: listing.GivenNumber(e, vocabulary.AttributeJobExitCode), Signal: listing.GivenNumber(e, vocabulary.AttributeJobSignal), Reason: listing.GivenText(e, vocabulary.AttributeJobMessage),
		Nodes: listing.GivenText(e, vocabulary.AttributeJobNodes), Submitted: listing.TimeOf(e, vocabulary.AttributeJobSubmitted), Started: listing.TimeOf(e, vocabulary.AttributeJobStarted),
		Ended: listing.TimeOf(e, vocabulary.AttributeJobEnded), Tag: listing.GivenText(e, vocabulary.AttributeJobTag),
		Ensemble: listing.GivenText(e, vocabulary.AttributeJobEnsemble), Part: listing.GivenText(e, vocabulary.AttributeJobPart),
		Observed: listing.TimeOf(manager.Element(), vocabulary.AttributeListedJobs),
	}}
	if e.Name() != e.ID() {
		listed.Name = e.Name()
	}
	if doubt := listing.GivenText(e, vocabulary.AttributeJobDoubt); doubt != "" {
		listed.Stale, listed.StaleReason = true, doubt
	} else if stale := listing.GivenText(manager.Element(), vocabulary.AttributeStale); stale != "" {
		listed.Stale, listed.StaleReason = true, stale
	}
	return listed
}

// answerJob answers with a job on record, else with the listed one, else with the
// answer of its scheduler to a query.
func (a *API) answerJob(w http.ResponseWriter, r *http.Request) error {
	ctx, name, id := r.Context(), r.PathValue("manager"), r.PathValue("job")
	if m, known := a.Platform.Model().Snapshot().Manager(name); known {
		if e, listed := m.Get(model.Job, id); listed && listing.GivenText(e, vocabulary.AttributeJobTag) == "" {
			isOlder, err := a.isOlderThanRecord(ctx, m, id)
			if err != nil {
				return err
			}
			if !isOlder {
				return answer.JSON(w, http.StatusOK, listedJSON(m, e))
			}
		}
	}
	job, err := a.Platform.Job(ctx, name, id)
	if err != nil {
		return err
	}
	document := recordedJSON(job)
	if job.Tag != "" {
		processes, err := a.Store.Processes(ctx, job.Tag)
		if err != nil {
			return err
		}
		for i := range processes {
			processes[i].Output, processes[i].ErrorOutput = "", "" // GET …/processes has it
		}
		document.Processes = processes
	}
	return answer.JSON(w, http.StatusOK, document)
}

// comparedWithin is longer than it takes until a listing has been compared with the
// record: a listing, and an interval of the slowest schedulers.
const comparedWithin = 10 * time.Minute

// isOlderThanRecord reports whether a listed job without a tag has not been compared with
// the record yet. Events have the job already, and a client that reacts to one must not
// get an older state.
func (a *API) isOlderThanRecord(ctx context.Context, m *model.Manager, id string) (bool, error) {
	jobs, err := a.Store.Find(ctx, id, m.Element().ID())
	if errors.Is(err, jobstore.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	j := jobs[0]
	if j.Phase == job.PhaseDismissed || j.Successor != "" {
		return false, nil
	}
	if _, isApart := m.Get(model.Job, j.Tag); isApart { // compared, and the row is of another job with the same id
		return false, nil
	}
	listed, _ := m.Element().Value(vocabulary.AttributeListedJobs)
	return listed.Time().Before(j.Observed.Add(comparedWithin)), nil
}

// recordedJob returns the job of a request, which must have been submitted through
// rmctl: the record knows no details of others.
func (a *API) recordedJob(r *http.Request) (job.Job, error) {
	job, err := a.Platform.Job(r.Context(), r.PathValue("manager"), r.PathValue("job"))
	if err == nil && job.Tag == "" {
		return job, answer.Errorf(http.StatusNotFound, "job %s was not submitted through rmctl, which knows nothing about this", job.ID)
	}
	return job, err
}

// answerHistory answers with the events that rmctl explain prints.
func (a *API) answerHistory(w http.ResponseWriter, r *http.Request) error {
	j, err := a.recordedJob(r)
	if err != nil {
		return err
	}
	events := []job.Event{}
	err = a.Store.History(r.Context(), j.Tag, func(event job.Event) error {
		events = append(events, event)
		return nil
	})
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, map[string]any{"events": events})
}

func (a *API) answerProcesses(w http.ResponseWriter, r *http.Request) error {
	recorded, err := a.recordedJob(r)
	if err != nil {
		return err
	}
	processes, err := a.Store.Processes(r.Context(), recorded.Tag)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, map[string]any{"processes": append([]job.Process{}, processes...)})
}

// answerOutput answers with the output of a job: stream=stderr for its standard error,
// offset and limit for a part of it, follow=true to follow it until the job has ended, task=N
// for a task of an array. A header names the task where the output is not followed.
func (a *API) answerOutput(w http.ResponseWriter, r *http.Request) error {
	requested, err := readOutputRequest(r.URL.Query())
	if err != nil {
		return err
	}
	manager := r.PathValue("manager")
	controller, err := a.Platform.Controller(manager)
	if err != nil {
		return err
	}
	job, err := a.Platform.Job(r.Context(), manager, r.PathValue("job"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if requested.isFollowed {
		if job, err = a.beforeFollowing(ctx, controller, job, requested.stream); err != nil {
			return err
		}
		requested.isFollowed = !job.Detail.Ended() // otherwise it may have no output, which the status says
	}
	out := &outputWriter{w: w, skip: requested.offset, left: requested.limit}
	if requested.isFollowed {
		if err := out.start(true); err != nil { // the client learns that it is connected before there is output
			return err
		}
		err = controller.Follow(ctx, job, requested.stream, out)
	} else {
		requested.stream.Chosen = func(task, _ string) { w.Header().Set("Rmctl-Task", task) }
		err = controller.Output(ctx, job, requested.stream, out)
	}
	switch {
	case errors.Is(err, errEnough), requested.isFollowed && !out.hasWritten && errors.Is(err, fs.ErrNotExist): // the job ended before it began
		return out.end()
	case err != nil && out.isStarted:
		a.Log.Info("output ended early", "manager", manager, "job", job.ID, "error", err)
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	case err != nil:
		return err
	case !out.isStarted:
		return out.start(false)
	}
	return out.end()
}

// beforeFollowing returns a job as it is now, or why it has no output to follow.
func (a *API) beforeFollowing(ctx context.Context, c *control.Controller, j job.Job, stream control.Stream) (job.Job, error) {
	now, err := c.Status(ctx, j, false)
	if err != nil {
		a.Log.Info("following output without the job's state", "job", j.ID, "error", err)
	}
	_, err = c.OutputPath(ctx, now, stream)
	return now, err
}

// An outputRequest is the part of a job's output that a client requests.
type outputRequest struct {
	stream        control.Stream
	isFollowed    bool
	offset, limit int64
}

func readOutputRequest(query url.Values) (outputRequest, error) {
	stream, follow := cmp.Or(query.Get("stream"), "stdout"), cmp.Or(query.Get("follow"), "false")
	if stream != "stdout" && stream != "stderr" || follow != "true" && follow != "false" {
		return outputRequest{}, answer.Errorf(http.StatusBadRequest, "use stdout or stderr for stream, and true or false for follow")
	}
	task := query.Get("task")
	if strings.Trim(task, "0123456789") != "" {
		return outputRequest{}, answer.Errorf(http.StatusBadRequest, "invalid task %q: use a number", task)
	}
	requested := outputRequest{stream: control.Stream{Stderr: stream == "stderr", Task: task}, isFollowed: follow == "true"}
	var err error
	if requested.offset, err = readCount(query, "offset", 0); err != nil {
		return outputRequest{}, err
	}
	requested.limit, err = readCount(query, "limit", math.MaxInt64)
	return requested, err
}

// readCount reads a number of bytes from a query.
func readCount(query url.Values, name string, usual int64) (int64, error) {
	if !query.Has(name) {
		return usual, nil
	}
	count, err := strconv.ParseInt(query.Get(name), 10, 64)
	if err != nil || count < 0 {
		return 0, answer.Errorf(http.StatusBadRequest, "invalid %s %q: use a number of bytes", name, query.Get(name))
	}
	return count, nil
}

// errEnough ends the copying of output at its limit.
var errEnough = errors.New("limit reached")

// An outputWriter sends the requested part of what is written to it.
type outputWriter struct {
	w          http.ResponseWriter
	skip, left int64 // bytes
	isStarted  bool
	isFollowed bool
	hasWritten bool // whether the job has written something, sent or skipped
}

// start sends the head of the answer, at once if the output is followed.
func (o *outputWriter) start(isFollowed bool) error {
	o.isStarted, o.isFollowed = true, isFollowed
	o.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	o.w.WriteHeader(http.StatusOK)
	return o.send(nil)
}

// end extends the deadline for the end of the answer, which net/http sends: a job may have
// written nothing for a long time before it ended.
func (o *outputWriter) end() error { return answer.GiveTime(o.w, answer.WriteTimeout) }

// send sends a part, at once if the output is followed.
func (o *outputWriter) send(part []byte) error {
	if err := answer.GiveTime(o.w, answer.WriteTimeout); err != nil {
		return err
	}
	if _, err := o.w.Write(part); err != nil || !o.isFollowed {
		return err
	}
	return http.NewResponseController(o.w).Flush()
}

func (o *outputWriter) Write(p []byte) (int, error) {
	o.hasWritten = o.hasWritten || len(p) > 0
	part := p[min(o.skip, int64(len(p))):]
	o.skip -= int64(len(p) - len(part))
	part = part[:min(o.left, int64(len(part)))]
	o.left -= int64(len(part))
	if !o.isStarted {
		if err := o.start(false); err != nil {
			return 0, err
		}
	}
	if len(part) > 0 {
		if err := o.send(part); err != nil {
			return 0, err
		}
	}
	if o.left == 0 {
		return len(p), errEnough
	}
	return len(p), nil
}
