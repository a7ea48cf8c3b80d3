package api

import (
	"cmp"
	"net/http"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/model"
)

// listingJSON is the outcome of the last listings of one kind of elements.
type listingJSON struct {
	Kind    string  `json:"kind"`
	At      string  `json:"at,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Rows    int     `json:"rows"`
	Error   string  `json:"error,omitempty"`
	ErrorAt string  `json:"errorAt,omitempty"`
	Next    string  `json:"next,omitempty"`
}

// problemJSON is a problem in the listings of a target.
type problemJSON struct {
	Kind      string `json:"kind"`
	What      string `json:"what"`
	Attribute string `json:"attribute,omitempty"`
	Example   string `json:"example,omitempty"`
	Count     int    `json:"count"`
}

// readTarget reads the target in a request.
func readTarget(r *http.Request) (settings.Target, error) {
	var target settings.Target
	err := read(r, &target)
	if target.Agent == nil {
		target.Definition = cmp.Or(target.Definition, target.Name, r.PathValue("manager"))
	}
	target.Transport = cmp.Or(target.Transport, settings.TransportLocal)
	return target, err
}

func (a *API) addManagersAPI() {
	a.handle("GET /managers", a.answerManagers)
	a.handle("POST /managers", a.answerAddManager)
	a.handle("GET /managers/{manager}", func(w http.ResponseWriter, r *http.Request) error {
		return a.answerManager(w, http.StatusOK, r.PathValue("manager"))
	})
	a.handle("PUT /managers/{manager}", a.answerEditManager)
	a.handle("DELETE /managers/{manager}", func(w http.ResponseWriter, r *http.Request) error {
		return answer.Done(w, a.Platform.Remove(r.PathValue("manager")))
	})
	for word, do := range map[string]func(name string) error{"start": a.Platform.Start, "stop": a.Platform.Stop, "refresh": a.Platform.Refresh} {
		a.handle("POST /managers/{manager}/"+word, func(w http.ResponseWriter, r *http.Request) error {
			if err := do(r.PathValue("manager")); err != nil {
				return err
			}
			return a.answerManager(w, http.StatusAccepted, r.PathValue("manager"))
		})
	}
	a.handle("GET /targets", a.answerTargets)
}

func (a *API) answerManagers(w http.ResponseWriter, _ *http.Request) error {
	all := []managerJSON{}
	snapshot := a.Platform.Model().Snapshot()
	for _, m := range a.Platform.Managers() {
		all = append(all, toManagerJSON(m, snapshot))
	}
	return answer.JSON(w, http.StatusOK, map[string]any{"managers": all})
}

func (a *API) answerManager(w http.ResponseWriter, status int, name string) error {
	m, err := a.Platform.Manager(name)
	if err != nil {
		return err
	}
	return answer.JSON(w, status, toManagerJSON(m, a.Platform.Model().Snapshot()))
}

func toManagerJSON(m views.Manager, snapshot *model.Snapshot) managerJSON {
	document := managerJSON{
		Target: m.Target, Shipped: m.Target.Shipped, State: string(m.State), Since: job.Timestamp(m.Since), Retry: job.Timestamp(m.Retry), Listings: []listingJSON{},
	}
	if m.Cause != nil {
		document.Cause = m.Cause.Error()
	}
	for _, l := range m.Listings {
		listing := listingJSON{Kind: l.Kind.String(), At: job.Timestamp(l.At), Seconds: l.Took.Seconds(), Rows: l.Rows,
			ErrorAt: job.Timestamp(l.ErrAt), Next: job.Timestamp(l.Next)}
		if l.Err != nil {
			listing.Error = l.Err.Error()
		}
		document.Listings = append(document.Listings, listing)
	}
	for _, p := range m.Problems {
		document.Problems = append(document.Problems, problemJSON{Kind: p.Of.String(), What: p.What, Attribute: p.Attribute, Example: p.Example, Count: p.Count})
	}
	if in, known := snapshot.Manager(m.Target.Name); known {
		document.Queues, document.Nodes, document.Jobs = in.Len(model.Queue), in.Len(model.Node), in.Len(model.Job)
	}
	return document
}

func (a *API) answerAddManager(w http.ResponseWriter, r *http.Request) error {
	target, err := readTarget(r)
	if err != nil {
		return err
	}
	if err := a.Platform.Add(target); err != nil {
		return refusedTarget(err)
	}
	return a.answerManager(w, http.StatusCreated, target.Name)
}

func (a *API) answerEditManager(w http.ResponseWriter, r *http.Request) error {
	target, err := readTarget(r)
	if err != nil {
		return err
	}
	name := r.PathValue("manager")
	if target.Name != "" && target.Name != name {
		return answer.Errorf(http.StatusBadRequest, "the object names %q, the URL %q: a target cannot be renamed", target.Name, name)
	}
	target.Name = name
	if err := a.Platform.Edit(target); err != nil {
		return refusedTarget(err)
	}
	return a.answerManager(w, http.StatusOK, name)
}

// refusedTarget is an error about an invalid target, such as one whose definition does not
// exist.
func refusedTarget(err error) error { return answer.Otherwise(http.StatusBadRequest, err) }

// answerTargets answers with all targets, including those that are not shown.
func (a *API) answerTargets(w http.ResponseWriter, _ *http.Request) error {
	targets, err := a.Platform.Targets()
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, map[string]any{"targets": targets.Documents()})
}

// managerJSON is a target; the names of the target's part are those of
// rmctl targets --json.
type managerJSON struct {
	settings.Target
	Shipped  bool          `json:"shipped,omitempty"`
	State    string        `json:"state"`
	Since    string        `json:"since"`
	Cause    string        `json:"cause,omitempty"`
	Retry    string        `json:"retry,omitempty"`
	Listings []listingJSON `json:"listings"`
	Problems []problemJSON `json:"problems,omitempty"`
	Queues   int           `json:"queues"`
	Nodes    int           `json:"nodes"`
	Jobs     int           `json:"jobs"`
}
