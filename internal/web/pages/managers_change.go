package pages

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/internal/web/listing"
)

// managersPosted starts or stops a target, whose name one of the fields
// start, stop and refresh has.
func (p *Pages) managersPosted(w http.ResponseWriter, r *http.Request) error {
	for field, do := range map[string]func(string) error{
		"start": p.Platform.Start, "stop": p.Platform.Stop, "refresh": p.Platform.Refresh,
	} {
		name := r.PostFormValue(field)
		if name == "" {
			continue
		}
		if err := do(name); err != nil {
			return err
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	return answer.Errorf(http.StatusBadRequest, "choose an action and a target")
}

// A targetForm is the form of the settings of a target.
type targetForm struct {
	IsNew      bool
	Name       string
	Definition string
	Agent      string // its program and arguments
	Proxy      string
	Transport  string
	Host       string
	SSHConfig  string
	Attributes string // name=value on each line
	Problem    string // why it was not taken
	Known      []string
	Transports []listing.Choice
	Proxies    []listing.Choice
}

// newManagerPage shows the form of a new target.
func (p *Pages) newManagerPage(w http.ResponseWriter, r *http.Request) error {
	return p.showTargetForm(w, r, http.StatusOK, targetForm{IsNew: true, Transport: settings.TransportLocal})
}

// editManagerPage shows the form of one that there is.
func (p *Pages) editManagerPage(w http.ResponseWriter, r *http.Request) error {
	m, err := p.Platform.Manager(r.URL.Query().Get("rm"))
	if err != nil {
		return err
	}
	form := targetForm{Name: m.Target.Name, Definition: m.Target.Definition, Agent: m.Target.Agent.String(), Proxy: m.Target.Proxy, Transport: m.Target.Transport, Host: m.Target.Host, SSHConfig: m.Target.SSHConfig}
	for _, name := range slices.Sorted(maps.Keys(m.Target.Attributes)) {
		form.Attributes += name + "=" + m.Target.Attributes[name] + "\n"
	}
	return p.showTargetForm(w, r, http.StatusOK, form)
}

func (p *Pages) showTargetForm(w http.ResponseWriter, r *http.Request, status int, form targetForm) error {
	form.Known = p.Platform.Available()
	for _, each := range []listing.Choice{
		{Value: settings.TransportLocal, Label: "on this machine"}, {Value: settings.TransportSSH, Label: "by SSH, in rmctl itself"},
		{Value: settings.TransportOpenSSH, Label: "by the ssh program"},
	} {
		each.IsOn = each.Value == form.Transport
		form.Transports = append(form.Transports, each)
	}
	for _, each := range []listing.Choice{{Value: "", Label: "its standard input and output"}, {Value: settings.ProxyTCP, Label: "a port it connects to"}} {
		each.IsOn = each.Value == form.Proxy
		form.Proxies = append(form.Proxies, each)
	}
	title := "Add a target"
	if !form.IsNew {
		title = "Edit " + listing.Cell(form.Name)
	}
	p.answer(w, r, status, document{title: title, main: form.main(csrf(r))})
	return nil
}

// targetPosted adds or changes a target, and shows the form again where
// what it says is not taken.
func (p *Pages) targetPosted(w http.ResponseWriter, r *http.Request) error {
	form := targetForm{
		IsNew: r.PostFormValue("new") == "true", Name: strings.TrimSpace(r.PostFormValue("name")), Definition: strings.TrimSpace(r.PostFormValue("definition")),
		Agent: strings.TrimSpace(r.PostFormValue("agent")), Proxy: r.PostFormValue("proxy"),
		Transport: r.PostFormValue("transport"), Host: strings.TrimSpace(r.PostFormValue("host")), SSHConfig: strings.TrimSpace(r.PostFormValue("ssh_config")),
		Attributes: r.PostFormValue("attributes"),
	}
	if err := p.save(form); err != nil {
		form.Problem = listing.Fact(err.Error())
		return p.showTargetForm(w, r, http.StatusUnprocessableEntity, form)
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// setScheduler sets the definition or the agent of a target. An unedited agent keeps its words:
// the form does not show where they end.
func (f *targetForm) setScheduler(target *settings.Target, before settings.Agent) error {
	if f.Agent == "" {
		target.Definition = cmp.Or(f.Definition, f.Name)
		return nil
	}
	target.Definition, target.Agent, target.Proxy = f.Definition, before, f.Proxy
	if f.Agent == before.String() {
		return nil
	}
	if err := target.Agent.Set(f.Agent); err != nil {
		return fmt.Errorf("the agent %q: %w", f.Agent, err)
	}
	return nil
}

func (p *Pages) save(form targetForm) error {
	if form.Name == "" {
		return errors.New("give it a name")
	}
	target := settings.Target{Name: form.Name, Transport: form.Transport, Host: form.Host, SSHConfig: form.SSHConfig}
	known, err := p.Platform.Manager(form.Name)
	isKnown := err == nil && !form.IsNew
	if err := form.setScheduler(&target, known.Target.Agent); err != nil {
		return err
	}
	values, wrong := launch.Assignments(launch.AsPosted(form.Attributes))
	if wrong != "" {
		return fmt.Errorf("invalid value %q: use name=value", strings.TrimSpace(wrong))
	}
	for _, each := range values {
		if target.Attributes == nil {
			target.Attributes = map[string]string{}
		}
		target.Attributes[each.Name] = strings.TrimRight(each.Value, " \t")
	}
	if form.IsNew {
		return p.Platform.Add(target)
	}
	if isKnown {
		target.Limits = known.Target.Limits // which the form does not have
	}
	return p.Platform.Edit(target)
}

// removeManagerPage asks whether to remove a target.
func (p *Pages) removeManagerPage(w http.ResponseWriter, r *http.Request) error {
	m, err := p.Platform.Manager(r.URL.Query().Get("rm"))
	if err != nil {
		return err
	}
	question := confirmation{
		Action: "/managers/remove", Question: fmt.Sprintf("Remove the target %s?", listing.Cell(m.Target.Name)),
		Consequence: "This removes its entry from the targets file. Jobs and their records stay.", Yes: "Remove", Back: "/", Fields: []hiddenField{{"rm", m.Target.Name}},
	}
	switch {
	case m.Target.Shipped:
		question.Consequence = "It is shipped with rmctl: you can show it again at any time."
	case !slices.Contains(m.Target.From, settings.OriginUser):
		question.Consequence = "It is configured for all users of this machine: you can show it again at any time."
	}
	p.answer(w, r, http.StatusOK, document{title: "Remove " + listing.Cell(m.Target.Name), main: question.main(csrf(r))})
	return nil
}

func (p *Pages) managerRemoved(w http.ResponseWriter, r *http.Request) error {
	if err := p.Platform.Remove(r.PostFormValue("rm")); err != nil {
		return err
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// A confirmation asks before something is done.
type confirmation struct {
	Action      string // the address that the answer goes to
	Question    string
	Consequence string
	Rows        []jobRow // of the jobs that it is about
	Yes         string   // what the button of the answer says
	Back        string   // where no leads to
	Fields      []hiddenField
}

// managerAddress returns the address of a page about a target.
func managerAddress(page, manager string) string {
	return listing.AddressOf(page, listing.Query("rm", manager))
}

// unshown returns the targets that are not shown yet.
func (p *Pages) unshown() []string {
	shown := map[string]bool{}
	for _, m := range p.Platform.Managers() {
		shown[m.Target.Name] = true
	}
	return slices.DeleteFunc(p.Platform.Available(), func(name string) bool { return shown[name] })
}
