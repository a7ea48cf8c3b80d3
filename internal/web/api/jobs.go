package api

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
)

// jobJSON is the JSON of a job: that of the commands, and its user.
type jobJSON struct {
	job.Document
	User string `json:"user,omitempty"`
}

const jobPath = "/managers/{manager}/jobs/{job}"

func (a *API) addJobsAPI() {
	a.handle("POST /managers/{manager}/jobs", a.answerSubmit)
	a.handle("GET "+jobPath, a.answerJob)
	a.handle("GET "+jobPath+"/history", a.answerHistory)
	a.handle("GET "+jobPath+"/processes", a.answerProcesses)
	a.handle("GET "+jobPath+"/output", a.answerOutput)
	for _, operation := range []control.Operation{control.Cancel, control.Hold, control.Release, control.Suspend, control.Resume} {
		a.handle("POST "+jobPath+"/"+string(operation), func(w http.ResponseWriter, r *http.Request) error {
			if err := answer.GiveTime(w, longRequest); err != nil {
				return err
			}
			return answer.Done(w, a.Platform.Operate(r.Context(), r.PathValue("manager"), r.PathValue("job"), operation))
		})
	}
}

// answerSubmit submits a job. The same request, sent again because no answer came,
// makes no second job where it has a tag.
func (a *API) answerSubmit(w http.ResponseWriter, r *http.Request) error {
	submission, err := a.readSubmission(r)
	if err != nil {
		return err
	}
	manager := r.PathValue("manager")
	if _, err := a.Platform.Manager(manager); err != nil {
		return err
	}
	if submission.Tag != "" {
		job, err := a.Store.ByTag(r.Context(), submission.Tag)
		switch {
		case err == nil && job.Target != manager:
			return answer.Errorf(http.StatusConflict, "a submission to %q has the tag %s already", job.Target, submission.Tag)
		case err == nil:
			return answer.JSON(w, http.StatusOK, ofRecord(job))
		case !errors.Is(err, jobstore.ErrNotFound):
			return err
		}
	}
	if err := answer.GiveTime(w, longRequest); err != nil {
		return err
	}
	// Who goes away meanwhile wants the job all the same, and its id on record.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), longRequest)
	defer cancel()
	job, err := a.Platform.Submit(ctx, manager, submission)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusCreated, ofRecord(job))
}

func ofRecord(known job.Job) jobJSON { return jobJSON{Document: known.Document(), User: known.Owner} }

// ofElement returns a job as the model knows it. Its state is as old as the last
// listing of its resource manager.
func ofElement(manager *model.Manager, e *model.Element) jobJSON {
	detail := cmp.Or(job.Detail(listing.GivenText(e, vocabulary.AttributeJobDetail)), job.Undetermined)
	listed := jobJSON{User: listing.GivenText(e, vocabulary.AttributeJobUser), Document: job.Document{
		ID: e.ID(), Target: manager.Element().ID(), State: string(detail.Primary()), Detail: string(detail), Native: listing.GivenText(e, vocabulary.AttributeJobStatus),
		Queue: e.Parent(), ExitCode: listing.GivenNumber(e, vocabulary.AttributeJobExitCode), Signal: listing.GivenNumber(e, vocabulary.AttributeJobSignal), Reason: listing.GivenText(e, vocabulary.AttributeJobMessage),
		Nodes: listing.GivenText(e, vocabulary.AttributeJobNodes), Submitted: listing.TimeOf(e, vocabulary.AttributeJobSubmitted), Started: listing.TimeOf(e, vocabulary.AttributeJobStarted),
		Ended: listing.TimeOf(e, vocabulary.AttributeJobEnded), Tag: listing.GivenText(e, vocabulary.AttributeJobTag),
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

// answerJob answers with a job: as it is on record, else as it was listed, else as its
// scheduler answers a query.
func (a *API) answerJob(w http.ResponseWriter, r *http.Request) error {
	ctx, name, id := r.Context(), r.PathValue("manager"), r.PathValue("job")
	if m, known := a.Platform.Model().Snapshot().Manager(name); known {
		if e, listed := m.Get(model.Job, id); listed && listing.GivenText(e, vocabulary.AttributeJobTag) == "" {
			isOlder, err := a.isOlderThanRecord(ctx, m, id)
			if err != nil {
				return err
			}
			if !isOlder {
				return answer.JSON(w, http.StatusOK, ofElement(m, e))
			}
		}
	}
	job, err := a.Platform.Job(ctx, name, id)
	if err != nil {
		return err
	}
	told := ofRecord(job)
	if job.Tag != "" {
		processes, err := a.Store.Processes(ctx, job.Tag)
		if err != nil {
			return err
		}
		for i := range processes {
			processes[i].Output = "" // the processes have an answer of their own
		}
		told.Processes = processes
	}
	return answer.JSON(w, http.StatusOK, told)
}

// comparedWithin is longer than it takes until what is listed has been compared with
// the record: a listing, and an interval of the slowest schedulers.
const comparedWithin = 10 * time.Minute

// isOlderThanRecord reports whether the row of a job that the model takes for none on
// record has only not been compared with the record yet. Events have the job
// already, and a client that reacts to one must not get an older state.
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

// recordedJob returns the job of a request that was submitted by this user through
// rmctl: only about those the record knows more than listings.
func (a *API) recordedJob(r *http.Request) (job.Job, error) {
	job, err := a.Platform.Job(r.Context(), r.PathValue("manager"), r.PathValue("job"))
	if err == nil && job.Tag == "" {
		return job, answer.Errorf(http.StatusNotFound, "job %s was not submitted through rmctl, so nothing of this is known", job.ID)
	}
	return job, err
}

// answerHistory answers with what rmctl explain prints.
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

// answerOutput answers with what a job wrote, as it is: stream=stderr for its standard
// error, offset and limit for a part of it, follow=true to go on until it has ended.
func (a *API) answerOutput(w http.ResponseWriter, r *http.Request) error {
	wanted, err := readOutputRequest(r.URL.Query())
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
	out := &outputWriter{w: w, skip: wanted.offset, left: wanted.limit}
	if wanted.isFollowed {
		if err := out.begin(true); err != nil { // the client is to know that it is served before there is anything
			return err
		}
		err = controller.Follow(ctx, job, wanted.isStderr, out)
	} else {
		err = controller.Output(ctx, job, wanted.isStderr, out)
	}
	switch {
	case errors.Is(err, errEnough):
		return out.end()
	case err != nil && out.begun:
		a.Log.Info("an output ended early", "manager", manager, "job", job.ID, "error", err)
		panic(http.ErrAbortHandler) // which cuts the answer off, so that nobody takes it for the whole
	case err != nil:
		return err
	case !out.begun:
		return out.begin(false)
	}
	return out.end()
}

// An outputRequest is the part of a job's output that a program wants.
type outputRequest struct {
	isStderr, isFollowed bool
	offset, limit        int64
}

func readOutputRequest(query url.Values) (outputRequest, error) {
	stream, follow := cmp.Or(query.Get("stream"), "stdout"), cmp.Or(query.Get("follow"), "false")
	if stream != "stdout" && stream != "stderr" || follow != "true" && follow != "false" {
		return outputRequest{}, answer.Errorf(http.StatusBadRequest, "stream is stdout or stderr, and follow true or false")
	}
	wanted := outputRequest{isStderr: stream == "stderr", isFollowed: follow == "true"}
	var err error
	if wanted.offset, err = readCount(query, "offset", 0); err != nil {
		return outputRequest{}, err
	}
	wanted.limit, err = readCount(query, "limit", math.MaxInt64)
	return wanted, err
}

// readCount reads a number of bytes from a query.
func readCount(query url.Values, name string, usual int64) (int64, error) {
	if !query.Has(name) {
		return usual, nil
	}
	count, err := strconv.ParseInt(query.Get(name), 10, 64)
	if err != nil || count < 0 {
		return 0, answer.Errorf(http.StatusBadRequest, "%s=%q: write a number of bytes", name, query.Get(name))
	}
	return count, nil
}

// errEnough ends the copying of output once enough was sent.
var errEnough = errors.New("no more is wanted")

// An outputWriter sends the part that is wanted of what is written to it.
type outputWriter struct {
	w          http.ResponseWriter
	skip, left int64 // bytes
	begun      bool
	follows    bool
}

// begin sends the head of the answer, at once where somebody follows the output.
func (o *outputWriter) begin(follows bool) error {
	o.begun, o.follows = true, follows
	o.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	o.w.WriteHeader(http.StatusOK)
	return o.send(nil)
}

// end gives the client time for the end of the answer, which is sent when the request
// is done: a job may have been silent for long before it ended.
func (o *outputWriter) end() error { return answer.GiveTime(o.w, answer.WriteTimeout) }

// send sends a part, at once where somebody follows the output.
func (o *outputWriter) send(part []byte) error {
	if err := answer.GiveTime(o.w, answer.WriteTimeout); err != nil {
		return err
	}
	if _, err := o.w.Write(part); err != nil || !o.follows {
		return err
	}
	return http.NewResponseController(o.w).Flush()
}

func (o *outputWriter) Write(p []byte) (int, error) {
	wanted := p[min(o.skip, int64(len(p))):]
	o.skip -= int64(len(p) - len(wanted))
	wanted = wanted[:min(o.left, int64(len(wanted)))]
	o.left -= int64(len(wanted))
	if !o.begun {
		if err := o.begin(false); err != nil {
			return 0, err
		}
	}
	if len(wanted) > 0 {
		if err := o.send(wanted); err != nil {
			return 0, err
		}
	}
	if o.left == 0 {
		return len(p), errEnough
	}
	return len(p), nil
}
