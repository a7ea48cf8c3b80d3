package api

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/elements"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

func (a *API) addListingsAPI() {
	a.handle("GET /managers/{manager}/queues", a.answerQueues)
	a.handle("GET /managers/{manager}/nodes", a.answerNodes)
	a.handle("GET /managers/{manager}/jobs", a.answerListedJobs)
	a.handle("GET /jobs", a.answerJobs)
}

func (a *API) managerNames() []string {
	var names []string
	for m := range a.Platform.Model().Snapshot().Managers() {
		names = append(names, m.Element().ID())
	}
	return names
}

// ageOf returns the age of the listing whose time is in an attribute.
func ageOf(m *model.Manager, listedAt string) ageJSON {
	stale, _ := m.Element().Value(vocabulary.AttributeStale)
	return ageJSON{Listed: listing.TimeOf(m.Element(), listedAt), Stale: stale.Text()}
}

func (a *API) answerQueues(w http.ResponseWriter, r *http.Request) error {
	m, err := a.listed(r)
	if err != nil {
		return err
	}
	listed := struct {
		ageJSON
		Queues []elements.Queue `json:"queues"`
	}{ageOf(m, vocabulary.AttributeListedQueues), []elements.Queue{}}
	for e := range m.All(model.Queue) {
		isDefault, _ := e.Value(vocabulary.AttributeQueueDefault)
		listed.Queues = append(listed.Queues, elements.Queue{
			Name: e.ID(), Target: m.Element().ID(), State: listing.GivenState(e), Native: listing.GivenText(e, vocabulary.AttributeQueueStatus), Default: isDefault.Boolean(),
			TimeLimit: listing.GivenText(e, vocabulary.AttributeQueueTimeLimit), Running: listing.GivenNumber(e, vocabulary.AttributeQueueRunning),
			Waiting: listing.GivenNumber(e, vocabulary.AttributeQueueWaiting), Nodes: listing.GivenNumber(e, vocabulary.AttributeQueueNodes),
			Attributes: listing.Further(e),
		})
	}
	return answer.JSON(w, http.StatusOK, listed)
}

func (a *API) answerNodes(w http.ResponseWriter, r *http.Request) error {
	m, err := a.listed(r)
	if err != nil {
		return err
	}
	listed := struct {
		ageJSON
		Nodes []elements.Node `json:"nodes"`
	}{ageOf(m, vocabulary.AttributeListedNodes), []elements.Node{}}
	for e := range m.All(model.Node) {
		node := elements.Node{
			Attributes: listing.Further(e),
			Name:       e.ID(), Target: m.Element().ID(), State: listing.GivenState(e), Native: listing.GivenText(e, vocabulary.AttributeNodeStatus),
			CPUs: listing.GivenNumber(e, vocabulary.AttributeNodeCPUs), CPUsUsed: listing.GivenNumber(e, vocabulary.AttributeNodeCPUsUsed),
			Memory: listing.GivenNumber(e, vocabulary.AttributeNodeMemory), Reason: listing.GivenText(e, vocabulary.AttributeNodeReason),
		}
		if load, given := listing.GivenOf(e, vocabulary.AttributeNodeLoad); given {
			number := load.Double()
			node.Load = &number
		}
		if queues, given := listing.GivenOf(e, vocabulary.AttributeNodeQueues); given {
			node.Queues = queues.Array()
		}
		listed.Nodes = append(listed.Nodes, node)
	}
	return answer.JSON(w, http.StatusOK, listed)
}

// mostListed bounds how many jobs one answer has.
const mostListed = 1000

func (a *API) answerJobs(w http.ResponseWriter, r *http.Request) error {
	query, err := readJobsRequest(r.URL.Query())
	if err != nil {
		return err
	}
	snapshot := a.Platform.Model().Snapshot()
	if _, known := snapshot.Manager(query.Manager); !known && query.Manager != "" {
		return &views.UnknownManagerError{Name: query.Manager, Known: a.managerNames()}
	}
	all := a.Ledger.Choose(snapshot, query).Jobs
	first := min((query.Page-1)*query.Size, len(all))
	jobs := []jobJSON{}
	for _, each := range all[first:min(first+query.Size, len(all))] {
		jobs = append(jobs, listedJSON(each.Manager, each.Job))
	}
	return answer.JSON(w, http.StatusOK, struct {
		Total    int       `json:"total"`
		Page     int       `json:"page"`
		Size     int       `json:"size"`
		Revision uint64    `json:"revision"`
		Jobs     []jobJSON `json:"jobs"`
	}{len(all), query.Page, query.Size, snapshot.Revision(), jobs})
}

// readJobsRequest reads a query for jobs. Unknown parameters are errors: a client that
// misspells a filter must not get all jobs.
func readJobsRequest(values url.Values) (listing.JobsQuery, error) {
	q := listing.JobsQuery{Manager: values.Get("manager"), Queue: values.Get("queue"), User: values.Get("user"), State: values.Get("state"), Text: values.Get("text"),
		Mine: values.Get("mine") == "true"}
	for name, texts := range values {
		if !slices.Contains([]string{"manager", "queue", "user", "state", "text", "mine", "sort", "page", "size"}, name) || len(texts) > 1 {
			return q, answer.Errorf(http.StatusBadRequest, "unknown or repeated parameter %.50q", name)
		}
	}
	if _, known := listing.JobFilterOf(q.State); q.State != "" && !known {
		return q, answer.Errorf(http.StatusBadRequest, "unknown state %.50q", q.State)
	}
	q.Sort, q.Descending = strings.CutPrefix(cmp.Or(values.Get("sort"), "-id"), "-")
	if _, known := listing.JobSorts[q.Sort]; !known {
		return q, answer.Errorf(http.StatusBadRequest, "cannot sort jobs by %.50q", q.Sort)
	}
	if !slices.Contains([]string{"", "true", "false"}, values.Get("mine")) || len(q.Text) > listing.LongestFilter {
		return q, answer.Errorf(http.StatusBadRequest, "use true or false for mine, and at most %d bytes for text", listing.LongestFilter)
	}
	var err error
	if q.Page, err = readNumber(values, "page", 1, math.MaxInt32); err != nil {
		return q, err
	}
	q.Size, err = readNumber(values, "size", listing.PageSizes[0], mostListed)
	return q, err
}

// readNumber reads a number from 1 to most from a query.
func readNumber(values url.Values, name string, usual, most int) (int, error) {
	text := values.Get(name)
	if text == "" {
		return usual, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > most {
		return 0, answer.Errorf(http.StatusBadRequest, "%s=%.50q: enter a number from 1 to %d", name, text, most)
	}
	return number, nil
}

// listed returns the target of a request as the model has it.
func (a *API) listed(r *http.Request) (*model.Manager, error) {
	name := r.PathValue("manager")
	m, known := a.Platform.Model().Snapshot().Manager(name)
	if !known {
		return nil, &views.UnknownManagerError{Name: name, Known: a.managerNames()}
	}
	return m, nil
}

// ageJSON says how old a listing is, and why it is stale.
type ageJSON struct {
	Listed string `json:"listed,omitempty"`
	Stale  string `json:"stale,omitempty"`
}

// listedJobsJSON is a listing of everybody's jobs as the scheduler printed it.
type listedJobsJSON struct {
	Listed        string         `json:"listed"`
	NotUnderstood int            `json:"notUnderstood"`
	Again         int            `json:"again"`
	Jobs          []job.Document `json:"jobs"`
}

// answerListedJobs answers with the newest listing of jobs as rmctl jobs --everyone prints
// it, without facts of the record or of earlier listings.
func (a *API) answerListedJobs(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("manager")
	controller, err := a.Platform.Controller(name)
	if err != nil {
		return err
	}
	var rows elements.RowSet
	made, err := a.Platform.LatestJobs(r.Context(), name, rows.Add)
	if errors.Is(err, control.ErrNotListed) {
		return answer.Errorf(http.StatusConflict, "the jobs of %q: %w, or that failed, or was too large", name, err)
	}
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, listedJobsJSON{made.Begun.UTC().Format(time.RFC3339Nano), made.NotUnderstood, made.Again, elements.JobsOf(controller, rows.Rows())})
}
