package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/job"
)

// editJSON sets the text of a field, or checks a row; the order of edits counts.
type editJSON struct {
	ID      string  `json:"id"`
	Text    *string `json:"text,omitempty"`
	Checked *bool   `json:"checked,omitempty"`
}

// fieldJSON is a field with the bounds that only numbers have.
type fieldJSON struct {
	form.Field
	Least *int `json:"least,omitempty"`
	Most  *int `json:"most,omitempty"`
}

// formJSON is a form with its fields and their current values.
type formJSON struct {
	Tab        string              `json:"tab"`
	Tabs       []string            `json:"tabs"`
	Fields     []fieldJSON         `json:"fields"`
	Attributes map[string][]string `json:"attributes"` // of a submission from the form, as texts
	Problems   []form.Problem      `json:"problems"`
	Edits      *[]editJSON         `json:"edits,omitempty"` // that remain in effect after a button was pressed
}

func (a *API) addLaunchAPI() {
	a.handle("POST /managers/{manager}/render", a.answerRender)
	a.handle("POST /managers/{manager}/form", a.answerForm)
	a.handle("POST /managers/{manager}/form/press", a.answerPress)
	a.handle("GET /launch-configurations", a.answerLaunchConfigurations)
	a.handle("GET /launch-configurations/{name}", a.answerLaunchConfiguration)
	a.handle("PUT /launch-configurations/{name}", a.answerSaveLaunchConfiguration)
	a.handle("DELETE /launch-configurations/{name}", func(w http.ResponseWriter, r *http.Request) error {
		return answer.Done(w, settings.RemoveLaunchConfiguration(a.Folder, r.PathValue("name")))
	})
}

// readSubmission reads a submission with a program or a script.
func (a *API) readSubmission(r *http.Request) (job.Submission, error) {
	request, err := readTable(r)
	if err != nil {
		return job.Submission{}, err
	}
	submission, err := a.submission(request)
	if err == nil && submission.Executable == "" && submission.Script == "" {
		err = answer.Errorf(http.StatusBadRequest, "nothing to run: set executable or script")
	}
	return submission, err
}

// submission reads a submission, which may extend a saved one, from a request
// whose other keys were read.
func (a *API) submission(request *document.Table) (job.Submission, error) {
	submitted := request.Submission()
	tag, from := request.Text("tag"), request.Text("launchConfiguration")
	if err := request.Err(); err != nil {
		return submitted, answer.Errorf(http.StatusBadRequest, "invalid JSON object: %w", err)
	}
	if tag != "" {
		parsed, err := uuid.Parse(tag)
		if err != nil {
			return submitted, answer.Errorf(http.StatusBadRequest, "invalid tag %.50q: use a UUID", tag)
		}
		submitted.Tag = parsed.String()
	}
	for _, path := range []string{submitted.Directory, submitted.Script} {
		if path != "" && path[0] != '/' {
			return submitted, answer.Errorf(http.StatusBadRequest, "invalid path %q: use an absolute path", path)
		}
	}
	if from != "" {
		configuration, err := settings.LoadLaunchConfiguration(a.Folder, from)
		if err != nil {
			return submitted, err
		}
		submitted = submitted.Over(configuration.Submission)
	}
	if err := launch.CheckScript(submitted.Script); err != nil {
		return submitted, answer.Errorf(http.StatusBadRequest, "%w", err)
	}
	return submitted, nil
}

func (a *API) answerRender(w http.ResponseWriter, r *http.Request) error {
	submission, err := a.readSubmission(r)
	if err != nil {
		return err
	}
	controller, err := a.Platform.Controller(r.PathValue("manager"))
	if err != nil {
		return err
	}
	rendering, err := controller.Render(submission)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, rendering.Document())
}

// answerForm answers with the launch tab after some edits. The server keeps no state: the
// client sends all edits each time.
func (a *API) answerForm(w http.ResponseWriter, r *http.Request) error {
	request, err := readTable(r)
	if err != nil {
		return err
	}
	edited, err := a.editedForm(w, r, request)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, edited.document())
}

// An editedForm is a form while a request for it is answered.
type editedForm struct {
	controller *control.Controller
	base       job.Submission
	edits      []editJSON
	form       *form.Form
	page       *form.Page
}

// editedForm makes the form of a request and applies its edits.
func (a *API) editedForm(w http.ResponseWriter, r *http.Request, request *document.Table) (*editedForm, error) {
	edits, err := readEdits(request)
	if err != nil {
		return nil, err
	}
	base, err := a.submission(request)
	if err != nil {
		return nil, err
	}
	controller, err := a.Platform.Controller(r.PathValue("manager"))
	if err != nil {
		return nil, err
	}
	if err := answer.GiveTime(w, longRequest); err != nil {
		return nil, err
	}
	edited := &editedForm{controller: controller, base: base, edits: edits}
	return edited, edited.open(r.Context(), edits)
}

func readEdits(request *document.Table) ([]editJSON, error) {
	edits := []editJSON{}
	for _, table := range request.Tables("edits") {
		edit := editJSON{ID: table.Text("id")}
		if table.Has("text") {
			edit.Text = new(table.Text("text"))
		}
		if table.Has("checked") {
			edit.Checked = new(table.Flag("checked"))
		}
		if err := table.Err(); err != nil {
			return nil, answer.Errorf(http.StatusBadRequest, "invalid JSON object: edits: %w", err)
		}
		edits = append(edits, edit)
	}
	return edits, nil
}

// open makes the form and applies edits.
func (f *editedForm) open(ctx context.Context, edits []editJSON) (err error) {
	if f.form, f.page, err = f.controller.Form(ctx, f.base); err != nil {
		return err
	}
	stat := f.controller.Stat(ctx, f.base)
	for _, edit := range edits {
		if err := edit.apply(f.form, stat); err != nil {
			return err
		}
	}
	return nil
}

// answerPress runs the command of a button of the launch tab with the edits, and answers
// with the form after that and the edits that remain in effect.
func (a *API) answerPress(w http.ResponseWriter, r *http.Request) error {
	request, err := readTable(r)
	if err != nil {
		return err
	}
	button := request.Text("button") // id of its field
	edited, err := a.editedForm(w, r, request)
	if err != nil {
		return err
	}
	if err := edited.press(r.Context(), button); err != nil {
		return err
	}
	document := edited.document()
	document.Edits = &edited.edits
	return answer.JSON(w, http.StatusOK, document)
}

// press runs the command of a button and drops the edits that this outdates, except for
// those that check a row.
func (f *editedForm) press(ctx context.Context, id string) error {
	button, err := launch.ButtonWith(f.form, f.page, id)
	if err != nil {
		return err
	}
	if problems := f.form.Problems(f.page); len(problems) > 0 {
		return answer.Errorf(http.StatusBadRequest, "the button requires valid fields: %s: %s", problems[0].Name, problems[0].Reason)
	}
	pressed, err := launch.PressButton(ctx, f.controller, button, submission.Filled(f.base, f.form, f.page))
	if err != nil || !button.Refresh {
		return err
	}
	before := f.form
	if err := f.open(ctx, nil); err != nil {
		return err
	}
	f.edits = slices.DeleteFunc(f.edits, func(edit editJSON) bool {
		field, _ := before.Field(edit.ID)
		_, isKnown := f.form.Field(edit.ID) // the row of a table may be gone
		return !isKnown || edit.Text != nil && pressed.Outdates(field.Name)
	})
	for _, id := range pressed.Cleared(f.form) {
		f.edits = append(f.edits, editJSON{ID: id, Text: new(string)})
	}
	return f.open(ctx, f.edits)
}

// apply applies an edit. If the field refuses a text, it says so itself.
func (e editJSON) apply(f *form.Form, stat attribute.Stat) error {
	field, known := f.Field(e.ID)
	switch {
	case !known || field.Kind == form.Button:
		return answer.Errorf(http.StatusBadRequest, "the form has no editable field %.50q", e.ID)
	case e.Checked != nil && field.Kind == form.Row:
		f.Check(field, *e.Checked)
	case e.Text == nil || field.Fixed:
		return answer.Errorf(http.StatusBadRequest, "invalid edit of the field %.50q", e.ID)
	}
	if e.Text == nil {
		return nil
	}
	err := f.Set(field, *e.Text, stat)
	if _, isRefused := errors.AsType[*attribute.InvalidError](err); isRefused {
		return nil
	}
	return err
}

// document returns the form for JSON.
func (f *editedForm) document() formJSON {
	document := formJSON{Tab: f.page.Title, Tabs: []string{}, Fields: []fieldJSON{}, Attributes: map[string][]string{}, Problems: append([]form.Problem{}, f.form.Problems(f.page)...)}
	for _, tab := range f.form.Pages() {
		document.Tabs = append(document.Tabs, tab.Title)
	}
	for _, field := range f.form.Fields(f.page) {
		shown := fieldJSON{Field: field}
		if field.Kind == form.Number {
			shown.Least, shown.Most = &field.Least, &field.Most
		}
		document.Fields = append(document.Fields, shown)
	}
	for _, value := range submission.Filled(f.base, f.form, f.page).Values {
		document.Attributes[value.Name] = append(document.Attributes[value.Name], value.Value)
	}
	return document
}

func (a *API) answerLaunchConfigurations(w http.ResponseWriter, _ *http.Request) error {
	all, err := settings.ListLaunchConfigurations(a.Folder)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, map[string]any{"launchConfigurations": all})
}

func (a *API) answerLaunchConfiguration(w http.ResponseWriter, r *http.Request) error {
	l, err := settings.LoadLaunchConfiguration(a.Folder, r.PathValue("name"))
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, l)
}

func (a *API) answerSaveLaunchConfiguration(w http.ResponseWriter, r *http.Request) error {
	request, err := readTable(r)
	if err != nil {
		return err
	}
	l := &settings.LaunchConfiguration{Name: r.PathValue("name"), Target: request.Text("target"), Definition: request.Text("definition")}
	replace := request.Flag("replace")
	if request.Text("launchConfiguration") != "" || request.Text("tag") != "" {
		return answer.Errorf(http.StatusBadRequest, "a saved submission has no tag and no configuration")
	}
	submission, err := a.submission(request)
	if err != nil {
		return err
	}
	l.Submission = submission.Over(l.Submission)
	if _, err := l.TOML(); err != nil {
		return answer.Errorf(http.StatusBadRequest, "%w", err)
	}
	if err := l.Save(a.Folder, replace); err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, l)
}
