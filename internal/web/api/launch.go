package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/rmctl/rmctl/internal/document"

	"github.com/google/uuid"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/submission"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/job"
)

// editJSON fills a field in, or checks a row; the order of edits counts.
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

// filledJSON is a form with its fields as they are.
type filledJSON struct {
	Tab        string              `json:"tab"`
	Tabs       []string            `json:"tabs"`
	Fields     []fieldJSON         `json:"fields"`
	Attributes map[string][]string `json:"attributes"` // what a submission from it says, as texts
	Problems   []form.Problem      `json:"problems"`
	Edits      *[]editJSON         `json:"edits,omitempty"` // that go on to count after a button was pressed
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

// readSubmission reads what is to be run.
func (a *API) readSubmission(r *http.Request) (job.Submission, error) {
	request, err := readTable(r)
	if err != nil {
		return job.Submission{}, err
	}
	submission, err := a.submission(request)
	if err == nil && submission.Executable == "" && submission.Script == "" {
		err = answer.Errorf(http.StatusBadRequest, "there is nothing to run: the object has neither executable nor script")
	}
	return submission, err
}

// submission reads a submission, which may be laid over a launch configuration, from
// a request whose other keys were read.
func (a *API) submission(request *document.Table) (job.Submission, error) {
	given := request.Submission()
	tag, from := request.Text("tag"), request.Text("launchConfiguration") // a second try with the tag makes no second job
	if err := request.Err(); err != nil {
		return given, answer.Errorf(http.StatusBadRequest, "the object of the request: %w", err)
	}
	if tag != "" {
		parsed, err := uuid.Parse(tag)
		if err != nil {
			return given, answer.Errorf(http.StatusBadRequest, "the tag %.50q is no UUID", tag)
		}
		given.Tag = parsed.String()
	}
	for _, path := range []string{given.Directory, given.Script} {
		if path != "" && path[0] != '/' {
			return given, answer.Errorf(http.StatusBadRequest, "%q: name the whole path, from the root on", path)
		}
	}
	if from != "" {
		configuration, err := settings.LoadLaunchConfiguration(a.Folder, from)
		if err != nil {
			return given, err
		}
		given = given.Over(configuration.Submission)
	}
	if err := launch.CheckScript(given.Script); err != nil {
		return given, answer.Errorf(http.StatusBadRequest, "%w", err)
	}
	return given, nil
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

// answerForm answers with the launch tab as it is after some edits. Nothing of it is
// kept: the client sends all edits each time.
func (a *API) answerForm(w http.ResponseWriter, r *http.Request) error {
	request, err := readTable(r)
	if err != nil {
		return err
	}
	filling, _, err := a.filling(w, r, request)
	if err != nil {
		return err
	}
	return answer.JSON(w, http.StatusOK, filling.told())
}

// An apiFilling is a form while a program's request is answered.
type apiFilling struct {
	controller *control.Controller
	begin      job.Submission
	form       *form.Form
	page       *form.Page
}

// filling makes the form that a program requests, and reads its edits.
func (a *API) filling(w http.ResponseWriter, r *http.Request, request *document.Table) (*apiFilling, []editJSON, error) {
	edits, err := readEdits(request)
	if err != nil {
		return nil, nil, err
	}
	begin, err := a.submission(request)
	if err != nil {
		return nil, nil, err
	}
	controller, err := a.Platform.Controller(r.PathValue("manager"))
	if err != nil {
		return nil, nil, err
	}
	if err := answer.GiveTime(w, longRequest); err != nil {
		return nil, nil, err
	}
	filling := &apiFilling{controller: controller, begin: begin}
	return filling, edits, filling.open(r.Context(), edits)
}

func readEdits(request *document.Table) ([]editJSON, error) {
	var edits []editJSON
	for _, table := range request.Tables("edits") {
		edit := editJSON{ID: table.Text("id")}
		if table.Has("text") {
			edit.Text = new(table.Text("text"))
		}
		if table.Has("checked") {
			edit.Checked = new(table.Flag("checked"))
		}
		if err := table.Err(); err != nil {
			return nil, answer.Errorf(http.StatusBadRequest, "the object of the request: edits: %w", err)
		}
		edits = append(edits, edit)
	}
	return edits, nil
}

// open makes the form, and fills it in.
func (f *apiFilling) open(ctx context.Context, edits []editJSON) (err error) {
	if f.form, f.page, err = f.controller.Form(ctx, f.begin); err != nil {
		return err
	}
	stat := f.controller.Stat(ctx, f.begin)
	for _, edit := range edits {
		if err := edit.apply(f.form, stat); err != nil {
			return err
		}
	}
	return nil
}

// answerPress runs the command of a button of the launch tab with what is filled in,
// and answers with the form as it is then, and with the edits that go on to count.
func (a *API) answerPress(w http.ResponseWriter, r *http.Request) error {
	request, err := readTable(r)
	if err != nil {
		return err
	}
	button := request.Text("button") // id of its field
	filling, edits, err := a.filling(w, r, request)
	if err != nil {
		return err
	}
	edits, err = filling.press(r.Context(), button, edits)
	if err != nil {
		return err
	}
	told := filling.told()
	told.Edits = &edits
	return answer.JSON(w, http.StatusOK, told)
}

// press runs the command of a button, and returns the edits that still count. Of those
// that the button outdates, only what checks a row is kept.
func (f *apiFilling) press(ctx context.Context, id string, edits []editJSON) ([]editJSON, error) {
	button, err := launch.ButtonWith(f.form, f.page, id)
	if err != nil {
		return nil, err
	}
	if problems := f.form.Problems(f.page); len(problems) > 0 {
		return nil, answer.Errorf(http.StatusBadRequest, "the button runs nothing while a field cannot be used as it is: %s: %s", problems[0].Name, problems[0].Reason)
	}
	pressed, err := launch.PressButton(ctx, f.controller, button, submission.Filled(f.begin, f.form, f.page))
	if err != nil {
		return nil, err
	}
	if !button.Refresh {
		return append([]editJSON{}, edits...), nil
	}
	before := f.form
	if err := f.open(ctx, nil); err != nil {
		return nil, err
	}
	kept := []editJSON{}
	for _, edit := range edits {
		field, _ := before.Field(edit.ID)
		_, isThere := f.form.Field(edit.ID) // which the row of a table may not be
		if isThere && (edit.Text == nil || !pressed.Outdates(field.Name)) {
			kept = append(kept, edit)
		}
	}
	for _, id := range pressed.Cleared(f.form) {
		kept = append(kept, editJSON{ID: id, Text: new(string)})
	}
	return kept, f.open(ctx, kept)
}

// apply fills one field in. If it refuses a text, the field says so.
func (e editJSON) apply(f *form.Form, stat attribute.Stat) error {
	field, known := f.Field(e.ID)
	switch {
	case !known || field.Kind == form.Button:
		return answer.Errorf(http.StatusBadRequest, "the form has no field %.50q to fill in", e.ID)
	case e.Checked != nil && field.Kind == form.Row:
		f.Check(field, *e.Checked)
	case e.Text == nil || field.Fixed:
		return answer.Errorf(http.StatusBadRequest, "the edit of the field %.50q says nothing that it takes", e.ID)
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

// told returns the JSON of the form.
func (a *apiFilling) told() filledJSON {
	f, page := a.form, a.page
	filled := filledJSON{Tab: page.Title, Tabs: []string{}, Fields: []fieldJSON{}, Attributes: map[string][]string{}, Problems: append([]form.Problem{}, f.Problems(page)...)}
	for _, tab := range f.Pages() {
		filled.Tabs = append(filled.Tabs, tab.Title)
	}
	for _, field := range f.Fields(page) {
		told := fieldJSON{Field: field}
		if field.Kind == form.Number {
			told.Least, told.Most = &field.Least, &field.Most
		}
		filled.Fields = append(filled.Fields, told)
	}
	for _, value := range submission.Filled(a.begin, f, page).Values {
		filled.Attributes[value.Name] = append(filled.Attributes[value.Name], value.Value)
	}
	return filled
}

func (a *API) answerLaunchConfigurations(w http.ResponseWriter, _ *http.Request) error {
	names, err := settings.LaunchConfigurationNames(a.Folder)
	if err != nil {
		return err
	}
	all := []*settings.LaunchConfiguration{}
	for _, name := range names {
		all = append(all, settings.ListedLaunchConfiguration(a.Folder, name))
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
	replace := request.Flag("replace") // whether one of its name may be there
	if request.Text("launchConfiguration") != "" || request.Text("tag") != "" {
		return answer.Errorf(http.StatusBadRequest, "a launch configuration has neither a tag nor another one below it")
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
