package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/rmctl/rmctl/coalloc"
	"github.com/rmctl/rmctl/internal/web/answer"
)

// Ensembles submits and finds ensembles; nil to have none.
type Ensembles interface {
	Read(ctx context.Context, text []byte) (*coalloc.Request, error)
	Submit(ctx context.Context, r *coalloc.Request, commit bool) (id string, err error)
	List(ctx context.Context, all bool) ([]coalloc.Status, error)
	// Follow returns an ensemble to read.
	Follow(ctx context.Context, id string) (coalloc.Control, error)
	// Open returns an ensemble to change.
	Open(ctx context.Context, id string) (coalloc.Control, error)
	// Edit adds the parts of a request to an ensemble, or substitutes its only part for the one with a label. The host that runs the
	// ensemble reads the request.
	Edit(ctx context.Context, id, label string, text []byte) error
	// Events returns what has happened to an ensemble after a sequence number.
	Events(ctx context.Context, id string, after int) ([]coalloc.EnsembleEvent, error)
}

const ensemblePath = "/ensembles/{ensemble}"

func (a *API) addEnsemblesAPI() {
	a.handle("GET /ensembles", a.answerEnsembles)
	a.handle("POST /ensembles", a.answerSubmitEnsemble)
	a.handle("GET "+ensemblePath, a.answerEnsemble)
	a.handle("GET "+ensemblePath+"/events", a.answerEnsembleEvents)
	a.handle("POST "+ensemblePath+"/parts", a.changeEnsemble(a.editParts))
	a.handle("PUT "+ensemblePath+"/parts/{part}", a.changeEnsemble(a.editParts))
	a.handle("DELETE "+ensemblePath+"/parts/{part}", a.openEnsemble(func(ctx context.Context, ensemble coalloc.Control, r *http.Request) error {
		return ensemble.Delete(ctx, r.PathValue("part"))
	}))
	a.handle("POST "+ensemblePath+"/commit", a.openEnsemble(func(ctx context.Context, ensemble coalloc.Control, r *http.Request) error {
		var asked struct {
			Now bool `json:"now"`
		}
		if err := read(r, &asked); err != nil {
			return err
		}
		return ensemble.Commit(ctx, asked.Now)
	}))
	a.handle("POST "+ensemblePath+"/cancel", a.openEnsemble(func(ctx context.Context, ensemble coalloc.Control, _ *http.Request) error {
		return ensemble.Cancel(ctx)
	}))
}

// ensembles returns the ensembles, or the reason for their absence.
func (a *API) ensembles() (Ensembles, error) {
	if a.Ensembles == nil {
		return nil, answer.Errorf(http.StatusNotFound, "this server has no ensembles")
	}
	return a.Ensembles, nil
}

func (a *API) answerEnsembles(w http.ResponseWriter, r *http.Request) error {
	ensembles, err := a.ensembles()
	if err != nil {
		return err
	}
	listed, err := ensembles.List(r.Context(), r.URL.Query().Get("all") == "true")
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, struct {
		Ensembles []coalloc.Status `json:"ensembles"`
	}{listed})
}

// An ensembleRequest has a request as text, or as an object.
type ensembleRequest struct {
	Request json.RawMessage `json:"request"`
	Commit  bool            `json:"commit"`
}

// readRequest returns the text of a request.
func readRequest(r *http.Request, asked *ensembleRequest) ([]byte, error) {
	if err := read(r, asked); err != nil {
		return nil, err
	}
	text := []byte(asked.Request)
	if !bytes.HasPrefix(text, []byte(`"`)) {
		return text, nil
	}
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return nil, answer.Errorf(http.StatusBadRequest, "the member request: %w", err)
	}
	return []byte(written), nil
}

// editParts adds parts, or substitutes one for the part that the address names.
func (a *API) editParts(ctx context.Context, r *http.Request) error {
	var asked ensembleRequest
	text, err := readRequest(r, &asked)
	switch {
	case err != nil:
		return err
	case asked.Commit:
		return answer.Errorf(http.StatusBadRequest, "commit is not supported when adding parts")
	}
	return a.Ensembles.Edit(ctx, r.PathValue("ensemble"), r.PathValue("part"), text)
}

func (a *API) answerSubmitEnsemble(w http.ResponseWriter, r *http.Request) error {
	ensembles, err := a.ensembles()
	if err != nil {
		return err
	}
	if err := answer.GiveTime(w, longRequest); err != nil {
		return err
	}
	ctx, cancel := untilDone(r)
	defer cancel()
	var asked ensembleRequest
	text, err := readRequest(r, &asked)
	if err != nil {
		return err
	}
	request, err := ensembles.Read(ctx, text)
	if err != nil {
		return answer.Errorf(http.StatusBadRequest, "%w", err)
	}
	id, err := ensembles.Submit(ctx, request, asked.Commit)
	if err != nil {
		return err
	}
	return a.sendEnsemble(ctx, w, http.StatusCreated, id)
}

func (a *API) sendEnsemble(ctx context.Context, w http.ResponseWriter, status int, id string) error {
	ensemble, err := a.Ensembles.Follow(ctx, id)
	if err != nil {
		return err
	}
	shown, err := ensemble.Status(ctx)
	if err != nil && shown.ID == "" { // otherwise it is the last known state, with the reason
		return err
	}
	return answer.JSON(w, status, shown)
}

func (a *API) answerEnsemble(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.ensembles(); err != nil {
		return err
	}
	return a.sendEnsemble(r.Context(), w, http.StatusOK, r.PathValue("ensemble"))
}

func (a *API) answerEnsembleEvents(w http.ResponseWriter, r *http.Request) error {
	ensembles, err := a.ensembles()
	if err != nil {
		return err
	}
	after := 0
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = strconv.Atoi(text); err != nil || after < 0 {
			return answer.Errorf(http.StatusBadRequest, "invalid after %.50q: use the sequence number of an event", text)
		}
	}
	events, err := ensembles.Events(r.Context(), r.PathValue("ensemble"), after)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, struct {
		Events []coalloc.EnsembleEvent `json:"events"`
	}{append([]coalloc.EnsembleEvent{}, events...)})
}

// openEnsemble returns what opens an ensemble, changes it and answers with it.
func (a *API) openEnsemble(change func(ctx context.Context, ensemble coalloc.Control, r *http.Request) error) answer.Handler {
	return a.changeEnsemble(func(ctx context.Context, r *http.Request) error {
		ensemble, err := a.Ensembles.Open(ctx, r.PathValue("ensemble"))
		if err != nil {
			return err
		}
		return change(ctx, ensemble, r)
	})
}

// changeEnsemble returns what changes an ensemble and answers with it.
func (a *API) changeEnsemble(change func(ctx context.Context, r *http.Request) error) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, err := a.ensembles(); err != nil {
			return err
		}
		if err := answer.GiveTime(w, longRequest); err != nil {
			return err
		}
		ctx, cancel := untilDone(r)
		defer cancel()
		if err := change(ctx, r); err != nil {
			return err
		}
		return a.sendEnsemble(ctx, w, http.StatusOK, r.PathValue("ensemble"))
	}
}
