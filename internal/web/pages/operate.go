package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// A jobOperation is something that can be done to jobs in certain states.
type jobOperation struct {
	operation   control.Operation
	label       string
	consequence string
	suits       func(job.Detail) bool
}

var jobOperations = []jobOperation{
	{control.Cancel, "Cancel", "A canceled job ends for good.", func(d job.Detail) bool { return !d.Ended() }},
	{control.Hold, "Hold", "A held job waits until it is released.", func(d job.Detail) bool {
		return d.Primary() == job.Submitted && d != job.UserOnHold && d != job.UserSystemOnHold
	}},
	{control.Release, "Release", "", func(d job.Detail) bool { return d.OnHold() }},
	{control.Suspend, "Suspend", "A suspended job keeps its resources and does not run.", func(d job.Detail) bool { return d == job.Running }},
	{control.Resume, "Resume", "", func(d job.Detail) bool { return d.Primary() == job.Suspended }},
}

// The bounds of doing something to several jobs at once.
const (
	mostAtOnce     = 250 // jobs of one request
	sideBySide     = 4   // commands at the same time
	operateTimeout = 5 * time.Minute
)

// An outcome is what came of doing something to a job.
type outcome struct {
	Address string
	ID      string
	Problem string // empty where it went well
}

// outcomes are what came of doing something to several jobs.
type outcomes struct {
	Summary string
	Rows    []outcome
	Back    string
}

// operatePosted asks whether to do something to jobs and, once that is confirmed, does it.
func (p *Pages) operatePosted(w http.ResponseWriter, r *http.Request) error {
	at := slices.IndexFunc(jobOperations, func(each jobOperation) bool { return string(each.operation) == r.PostFormValue("operation") })
	if at < 0 {
		return answer.Errorf(http.StatusBadRequest, "unknown action %q for jobs", listing.Cell(r.PostFormValue("operation")))
	}
	keys := slices.Compact(slices.Sorted(slices.Values(r.PostForm["job"])))
	switch {
	case len(keys) == 0:
		return answer.Errorf(http.StatusBadRequest, "no job is selected: tick jobs in the table first")
	case len(keys) > mostAtOnce:
		return answer.Errorf(http.StatusBadRequest, "too many jobs: %d; select at most %d", len(keys), mostAtOnce)
	}
	back := backTo(r.PostFormValue("back"))
	jobs := make([]jobName, len(keys))
	for i, key := range keys { // all of them before anything is done
		var err error
		if jobs[i], err = readJobName(key); err != nil {
			return err
		}
	}
	if r.PostFormValue("confirmed") != "true" {
		return p.askToOperate(w, r, jobOperations[at], jobs, back)
	}
	return p.operate(w, r, jobOperations[at], jobs, back)
}

// A jobName is what a form calls a job by.
type jobName struct{ key, manager, id string }

func readJobName(key string) (jobName, error) {
	manager, id, err := listing.ReadElementKey(key)
	if err != nil {
		return jobName{}, answer.Errorf(http.StatusBadRequest, "%w", err)
	}
	return jobName{key, manager, id}, nil
}

// backTo returns an address of this server that a form names, else that of the jobs.
func backTo(address string) string {
	if strings.HasPrefix(address, "/job") && !strings.ContainsAny(address, "\\\r\n") {
		return address
	}
	return "/jobs"
}

// askToOperate shows the question whether to do it.
func (p *Pages) askToOperate(w http.ResponseWriter, r *http.Request, do jobOperation, jobs []jobName, back string) error {
	question := confirmation{Action: "/jobs/operate", Question: fmt.Sprintf("%s %s?", do.label, listing.Counted(len(jobs), "job")), Consequence: do.consequence, Back: back,
		Yes: do.label + " " + listing.Counted(len(jobs), "job"), Fields: []hiddenField{{"operation", string(do.operation)}, {"confirmed", "true"}, {"back", back}}}
	s := p.snapshot()
	for _, name := range jobs {
		question.Fields = append(question.Fields, hiddenField{"job", name.key})
		row := jobRow{Address: listing.ElementAddress("/job", name.manager, name.id), ID: listing.Cell(name.id), Mark: listing.NotSeen}
		if m, known := s.Manager(name.manager); known {
			if job, listed := m.Get(model.Job, name.id); listed {
				row = rowOf(listing.ListedJob{Manager: m, Job: job}, p.Ledger.Owner(s, m))
			}
		}
		question.Rows = append(question.Rows, row)
	}
	p.answer(w, r, http.StatusOK, document{title: do.label + " jobs", main: question.main(csrf(r))})
	return nil
}

// operate does it, and shows what failed.
func (p *Pages) operate(w http.ResponseWriter, r *http.Request, do jobOperation, jobs []jobName, back string) error {
	if err := answer.GiveTime(w, operateTimeout+bodyOfAnswer); err != nil {
		return err
	}
	// Who goes away meanwhile wants it all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), operateTimeout)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	result := outcomes{Rows: make([]outcome, len(jobs)), Back: back}
	var work errgroup.Group
	work.SetLimit(sideBySide)
	for i, name := range jobs {
		result.Rows[i] = outcome{Address: listing.ElementAddress("/job", name.manager, name.id), ID: listing.Cell(name.id)}
		work.Go(func() error {
			if err := p.Platform.Operate(ctx, name.manager, name.id, do.operation); err != nil {
				result.Rows[i].Problem = listing.Fact(err.Error())
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	failed := 0
	for _, each := range result.Rows {
		if each.Problem != "" {
			failed++
		}
	}
	if failed == 0 {
		http.Redirect(w, r, back, http.StatusSeeOther)
		return nil
	}
	result.Summary = fmt.Sprintf("%s: %s of %s failed.", do.label, listing.Thousands(failed), listing.Counted(len(jobs), "job"))
	p.answer(w, r, http.StatusBadGateway, document{title: do.label + " jobs", main: result.main()})
	return nil
}

// bodyOfAnswer is the time for sending an answer that took long to make.
const bodyOfAnswer = 10 * time.Second
