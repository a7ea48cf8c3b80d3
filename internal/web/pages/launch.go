package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/google/uuid"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/portablename"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// launchAddress is where launch forms are: of one target with rm=NAME,
// else a list of all of them.
const launchAddress = "/launch"

// submitTimeout is how long a page waits for the answer to its submission. A
// submit command that takes longer goes on.
const submitTimeout = 10 * time.Minute

// addLaunch registers the pages of launch forms.
func (p *Pages) addLaunch() {
	p.addNavigation(launchAddress, "Launch")
	p.handlers["GET "+launchAddress] = p.launchPage
	p.handlers["POST "+launchAddress] = p.launchPosted
}

// launchAddressOf returns the address of the form of a target, with the
// values of a saved submission if one is named.
func launchAddressOf(manager, configuration string) string {
	return listing.AddressOf(launchAddress, listing.Query("rm", manager, "config", configuration))
}

// launchPage shows the form of a target. config=NAME begins with a
// saved submission; tab=TITLE, program=NAME and set=name=value, which may be
// repeated, say more.
func (p *Pages) launchPage(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	manager := query.Get("rm")
	if manager == "" {
		return p.launchList(w, r)
	}
	controller, err := p.Platform.Controller(manager)
	if err != nil {
		return err
	}
	begin, err := p.launchBeginning(r.Context(), controller, query)
	if err != nil {
		return err
	}
	state := launch.Begin(begin)
	ctx, cancel := context.WithTimeout(r.Context(), launch.Timeout)
	defer cancel()
	l, err := launch.Open(ctx, controller, &state, nil)
	if err != nil {
		return err
	}
	// On this machine rmctl submit takes the directory that it is in; a server has none.
	if known, err := p.Platform.Manager(manager); err == nil && known.Target.Transport == settings.TransportLocal && state.Directory == "" {
		state.Directory, l.Base.Directory = l.Home(), l.Home()
	}
	return p.showLaunch(ctx, w, r, manager, l, launchOutcome{})
}

// launchBeginning returns the submission that a form begins with.
func (p *Pages) launchBeginning(ctx context.Context, controller *control.Controller, query url.Values) (job.Submission, error) {
	given := job.Submission{Executable: query.Get("program"), Tab: query.Get("tab")}
	values, wrong := launch.Assignments(strings.Join(query["set"], "\n"))
	if wrong != "" {
		return given, answer.Errorf(http.StatusBadRequest, "invalid set %q: use name=value", wrong)
	}
	given.Values = values
	if id := query.Get("again"); id != "" {
		return p.launchAgain(ctx, controller, query.Get("rm"), id, given)
	}
	name := query.Get("config")
	if name == "" {
		return given, nil
	}
	configuration, err := settings.LoadLaunchConfiguration(p.Folder, name)
	if err != nil {
		return given, answer.Errorf(http.StatusNotFound, "%w", err)
	}
	return given.Over(configuration.Submission), nil
}

// A launchOutcome is what came of what a user did on the page of a form.
type launchOutcome struct {
	Done      string // what was done
	Error     string // why it was not
	Existing  bool   // a saved submission of the name is there already
	JobName   string // of the job that the form was submitted as before
	JobPage   string
	Browsed   *launch.Folder
	FocusedOn string // the id of the element that is to have the focus
}

// launchPosted does what a button of the form's page says, and shows the form as
// it is then.
func (p *Pages) launchPosted(w http.ResponseWriter, r *http.Request) error {
	manager := r.URL.Query().Get("rm")
	controller, err := p.Platform.Controller(manager)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return answer.Errorf(http.StatusBadRequest, "read the form: %w", err)
	}
	state, err := launch.Posted(r.PostForm)
	if err != nil {
		return answer.Errorf(http.StatusBadRequest, "%w", err)
	}
	do := []string{"update"}
	if sent := r.PostForm.Get("do"); sent != "" {
		if err := json.Unmarshal([]byte(sent), &do); err != nil || len(do) == 0 {
			return answer.Errorf(http.StatusBadRequest, "invalid action of the button %.100q", sent)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), launch.Timeout)
	defer cancel()
	l, err := launch.Open(ctx, controller, &state, r.PostForm)
	if err != nil {
		return err
	}
	if do[0] == "submit" {
		return p.launchSubmitted(ctx, w, r, manager, l)
	}
	outcome, err := p.launchDo(ctx, manager, l, do)
	if err != nil {
		outcome.Error = err.Error()
	}
	return p.showLaunch(ctx, w, r, manager, l, outcome)
}

// launchDo does what a button says, but for submitting: a word, and what it is
// done to.
func (p *Pages) launchDo(ctx context.Context, manager string, l *launch.Tab, do []string) (launchOutcome, error) {
	var outcome launchOutcome
	done := func(err error, format string, arguments ...any) (launchOutcome, error) {
		if err == nil {
			outcome.Done = fmt.Sprintf(format, arguments...)
		}
		return outcome, err
	}
	switch {
	case do[0] == "update":
		return outcome, nil
	case do[0] == "tab" && len(do) == 2:
		return outcome, l.Turn(do[1])
	case do[0] == "reset":
		l.State.Edits = nil
		return done(l.Reopen(ctx), "The fields have their initial values again.")
	case do[0] == "press" && len(do) == 2:
		err := l.Press(ctx, do[1])
		return done(err, "The command has run.")
	case do[0] == "browse" && len(do) >= 2:
		var err error
		outcome.Browsed, err = l.Browse(ctx, do[1], do[2:])
		return outcome, err
	case do[0] == "choose" && len(do) == 3:
		outcome.FocusedOn = launchBrowsedInput(do[1])
		return outcome, l.ChoosePath(ctx, do[1], do[2])
	case do[0] == "save":
		return p.saveLaunch(manager, l)
	}
	return outcome, answer.Errorf(http.StatusBadRequest, "unknown action %.100q", do)
}

// saveLaunch keeps what is filled in as a saved submission.
func (p *Pages) saveLaunch(manager string, l *launch.Tab) (launchOutcome, error) {
	var outcome launchOutcome
	if err := l.Ready(); err != nil {
		return outcome, err
	}
	submission := l.Submission()
	if submission.Directory == l.Home() {
		submission.Directory = "" // wherever it is submitted from
	}
	configuration := &settings.LaunchConfiguration{Name: l.State.SaveAs, Target: manager, Submission: submission}
	err := configuration.Save(p.Folder, l.State.Replace)
	var existing *settings.LaunchConfigurationExistsError
	var name *settings.LaunchConfigurationNameError
	switch {
	case errors.As(err, &existing):
		outcome.Existing = true
	case errors.As(err, &name):
		l.Problems["save-as"] = name.Error()
	case err == nil:
		l.State.Replace = false
		outcome.Done = fmt.Sprintf("Saved as %q. To submit it, run: rmctl submit --config-name %s", configuration.Name, shellescape.Quote(configuration.Name))
	}
	return outcome, err
}

// launchSubmitted submits what is filled in and leads to the job's page.
func (p *Pages) launchSubmitted(ctx context.Context, w http.ResponseWriter, r *http.Request, manager string, l *launch.Tab) error {
	outcome := launchOutcome{}
	if err := l.Runnable(); err != nil {
		outcome.Error = "The job was not submitted: " + err.Error() + "."
		return p.showLaunch(ctx, w, r, manager, l, outcome)
	}
	// A page that is sent twice, by a double click or the browser's way back, must not
	// make two jobs unasked. No two submissions of one tag are ever recorded.
	before, err := p.Store.ByTag(ctx, l.State.Tag)
	switch {
	case err == nil:
		outcome.Error = "This form was already submitted. Submit it again for another job."
		if before.ID != "" {
			outcome.JobName, outcome.JobPage = before.ID, listing.ElementAddress("/job", manager, before.ID)
		}
	case !errors.Is(err, jobstore.ErrNotFound):
		return err
	default:
		if err := answer.GiveTime(w, submitTimeout); err != nil {
			return err
		}
		// Who leaves the page meanwhile wants the job all the same, and its id on record.
		job, err := p.Platform.Submit(context.WithoutCancel(ctx), manager, l.Submission())
		if err == nil {
			http.Redirect(w, r, listing.ElementAddress("/job", manager, job.ID), http.StatusSeeOther)
			return nil
		}
		outcome.Error = err.Error()
	}
	l.State.Tag = uuid.NewString()
	return p.showLaunch(ctx, w, r, manager, l, outcome)
}

// launchData is what the page of a form shows beside the form itself.
type launchData struct {
	*launch.Tab
	Manager  string
	Items    []launchItem
	Outcome  launchOutcome
	Preview  launchPreview
	Saved    []launchSaved
	Portable []string

	HasDebug, IsInteractive, IsReady bool
}

// showLaunch shows the page of a form.
func (p *Pages) showLaunch(ctx context.Context, w http.ResponseWriter, r *http.Request, manager string, l *launch.Tab, outcome launchOutcome) error {
	definition := l.Controller.Definition
	outcome.Error, l.Warning = listing.Fact(outcome.Error), listing.Fact(l.Warning)
	data := launchData{Tab: l, Manager: manager, Items: launchItems(l.Form, l.Form.Fields(l.Page)), Outcome: outcome, IsReady: l.Ready() == nil}
	var err error
	submit, debug := definition.Submit(false), definition.Submit(true)
	data.HasDebug = debug != nil && debug != submit
	if l.State.Debug && data.HasDebug {
		submit = debug
	}
	data.IsInteractive = submit != nil && submit.Element.IsInteractive()
	for _, name := range portablename.Names() {
		if len(definition.PortableLinks(name.Name)) > 0 {
			data.Portable = append(data.Portable, name.Name)
		}
	}
	if data.Saved, err = p.launchSaved(manager, definition.Name); err != nil {
		data.Warning = err.Error()
	}
	data.Preview = previewOf(l, ctx, manager)
	status := http.StatusOK
	if outcome.Error != "" {
		status = http.StatusUnprocessableEntity
	}
	p.answer(w, r, status, document{title: "Launch on " + manager, main: data.main(csrf(r)), files: []string{"launch.css", "launch.js"}})
	return nil
}

// maxLaunchSaved bounds how many saved submissions are read for a page.
const maxLaunchSaved = 200

// A launchSaved is a saved submission that a form can begin with.
type launchSaved struct{ Name, Address string }

// launchSaved returns the saved submissions for a target, by name:
// those for its target, for its definition, and for any. One that cannot be read
// is not a matter of this page.
func (p *Pages) launchSaved(manager, definition string) ([]launchSaved, error) {
	names, err := settings.LaunchConfigurationNames(p.Folder)
	if err != nil {
		return nil, err
	}
	var saved []launchSaved
	for _, name := range names[:min(len(names), maxLaunchSaved)] {
		configuration, err := settings.LoadLaunchConfiguration(p.Folder, name)
		if err != nil {
			p.Log.Debug("cannot read a saved submission", "name", name, "error", err)
			continue
		}
		isFor := configuration.Target == manager || configuration.Target == "" && slices.Contains([]string{"", definition}, configuration.Definition)
		if isFor {
			saved = append(saved, launchSaved{name, launchAddressOf(manager, name)})
		}
	}
	return saved, nil
}

// launchBrowsedInput returns the id of the element of the input that a path is chosen for.
func launchBrowsedInput(id string) string {
	if id == launch.PathDirectory || id == launch.PathScript {
		return "own-" + id
	}
	return "f-" + domOf(id)
}
