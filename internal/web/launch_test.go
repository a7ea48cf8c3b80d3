package web

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/settings"
	"github.com/rmctl/rmctl/internal/views"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/launch"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/remote"
)

// A launchDesk is a server over targets of this machine, all of them started.
type launchDesk struct {
	*browser
	platform *views.Views
	store    *jobstore.Store
	folder   string // of the configuration, and of what tests put there
	home     string
}

// launchSite serves targets by the name of each with its definition: a shipped
// name, a file, or the text of one, in which DESK stands for the desk's own folder.
func launchSite(t *testing.T, targets map[string]string) *launchDesk {
	t.Helper()
	d := &launchDesk{home: os.Getenv("HOME"), folder: t.TempDir()}
	file := ""
	for name, definition := range targets {
		if strings.HasPrefix(definition, "<") {
			written := filepath.Join(d.folder, name+".xml")
			require.NoError(t, os.WriteFile(written, []byte(strings.ReplaceAll(definition, "DESK", d.folder)), 0o600))
			definition = written
		}
		file += "[targets." + name + "]\ndefinition = '" + definition + "'\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(d.folder, settings.TargetsFile), []byte(file), 0o600))
	loaded, err := settings.LoadTargets(settings.Folders{User: d.folder})
	require.NoError(t, err)
	d.store = newStore(t, filepath.Join(d.folder, "state"))
	d.platform, err = views.New(views.Options{Targets: loaded, Folders: settings.Folders{User: d.folder}, Store: d.store, Open: d.openHere})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.platform.Close()) })
	d.browser = serveWith(t, site{Platform: d.platform, Store: d.store, Folder: d.folder}, nil).enter()
	for name := range targets {
		d.starts(name)
	}
	return d
}

func (d *launchDesk) openHere(_ context.Context, target settings.Target) (*control.Controller, func() error, error) {
	definition, _, err := check.UsableDefinition(target.Definition)
	if err != nil {
		return nil, nil, err
	}
	connection, err := remote.NewLocal()
	if err != nil {
		return nil, nil, err
	}
	return control.New(control.Options{Target: target.Name, Definition: definition, Connection: connection, Store: d.store}), connection.Close, nil
}

// starts starts a target and waits until it is.
func (d *launchDesk) starts(name string) {
	d.t.Helper()
	require.NoError(d.t, d.platform.Start(name))
	d.becomes(name, vocabulary.StateStarted)
}

// becomes waits until a target is in a state.
func (d *launchDesk) becomes(name string, state model.State) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	for {
		snapshot := d.platform.Model().Snapshot()
		manager, err := d.platform.Manager(name)
		require.NoError(d.t, err)
		require.NotEqualValues(d.t, vocabulary.StateError, manager.State, "%v", manager.Cause)
		if manager.State == state {
			return
		}
		_, err = d.platform.Model().Next(ctx, snapshot)
		require.NoError(d.t, err)
	}
}

// hidden returns what the page of a form carries in an input that nobody sees.
func hidden(t testing.TB, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, found, "the page does not carry %q:\n%s", name, page)
	return html.UnescapeString(found[1])
}

// does posts what a page of a form carries with changes, and returns the next page.
func (d *launchDesk) does(manager, page string, changes url.Values) (*http.Response, string) {
	d.t.Helper()
	posted := url.Values{"rm": {manager}}
	for _, name := range []string{"csrf", "tag", "tab", "given", "edits"} {
		posted.Set(name, hidden(d.t, page, name))
	}
	for name, values := range changes {
		posted[name] = values
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	return d.do(http.MethodPost, formOf(manager), header, strings.NewReader(posted.Encode()))
}

// inputOf returns the name of the input that a label of a page is for.
func inputOf(t *testing.T, page, label string) string {
	t.Helper()
	found := regexp.MustCompile(`<label for="([^"]*)">` + regexp.QuoteMeta(label) + `</label>`).FindStringSubmatch(page)
	require.NotNil(t, found, "no field %q:\n%s", label, page)
	name := regexp.MustCompile(`id="` + regexp.QuoteMeta(found[1]) + `" name="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, name, "the label %q is for nothing:\n%s", label, page)
	return html.UnescapeString(name[1])
}

func labels(page string) []string {
	var all []string
	for _, found := range regexp.MustCompile(`<label for="f-[^"]*">([^<]*)</label>`).FindAllStringSubmatch(page, -1) {
		all = append(all, found[1])
	}
	return all
}

const launchDefinition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test"><control-data>
	<attribute name="queue"><default>day</default></attribute><attribute name="queues" visible="false"/>
	<attribute name="nodes" type="integer" min="1" max="8"><description>how many</description><default>1</default></attribute>
	<attribute name="mail" type="boolean"/>
	<attribute name="address"><validator><regex expression="\w+@\w+"/><error-message>that is no address</error-message></validator></attribute>
	<attribute name="side"/><attribute name="extra"><default>x</default></attribute><attribute name="file"/>
	<script><line><arg>#!/bin/sh</arg></line>
		<line><arg>#Q queue=${ptp_rm:queue#value} nodes=${ptp_rm:nodes#value}</arg></line>
		<line><arg isUndefinedIfMatches="#Q address=">#Q address=${ptp_rm:address#value}</arg></line>
		<line><arg isUndefinedIfMatches="#Q extra=">#Q extra=${ptp_rm:extra#value}</arg></line>
		<line><arg>${ptp_rm:executablePath#value} ${ptp_rm:progArgs#value}</arg></line></script>
	<submit-batch name="submit" waitForId="true"><arg>sh -c</arg><arg resolve="false">'echo x >>DESK/submitted; echo job $$'</arg><stdout-parser delim="\n"><target ref="@jobId">
		<match><expression>job (\d+)</expression><set field="name"><entry valueGroup="1"/></set></match></target></stdout-parser></submit-batch>
	<button-action name="look"><arg>echo night</arg><stdout-parser delim="\n"><target ref="queue">
		<match><expression>(\w+)</expression><set field="value"><entry valueGroup="1"/></set></match></target></stdout-parser></button-action>
	<launch-tab>
		<dynamic includeWidgetValuesFrom="Options"><title>Basic</title><layout><grid-layout numColumns="2"/></layout>
			<widget type="label"><fixed-text>Queue:</fixed-text></widget><widget type="text" attribute="queue"/>
			<widget type="label"><fixed-text>Nodes:</fixed-text></widget><widget type="spinner" attribute="nodes"/>
			<widget type="label"><fixed-text>Send mail:</fixed-text></widget><widget type="checkbox" buttonId="mail" attribute="mail"/>
			<widget type="label"><fixed-text>Address:</fixed-text></widget>
			<widget type="text" attribute="address"><control-state><show-if button="mail"/></control-state></widget>
			<action title="Look"><button-action><action>look</action></button-action></action>
		</dynamic>
		<dynamic><title>Options</title>
			<viewer name="options" initialAllChecked="false"><items><include>extra</include></items><value pattern="--@name=@value"/></viewer>
			<browse title="Browse" attribute="file"/>
		</dynamic>
	</launch-tab>
	<x:portable name="nodes" attribute="nodes"/>
</control-data></resource-manager-builder>`

func TestALaunchFormFollowsItsRulesWithoutAScriptInTheBrowser(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test"))
	require.Equal(t, []string{"Queue", "Nodes", "Send mail"}, labels(page))
	require.Contains(t, page, "#Q queue=day nodes=1\n")

	mail := inputOf(t, page, "Send mail")
	_, page = d.does("test", page, url.Values{mail: {"false", "true"}})
	require.Equal(t, []string{"Queue", "Nodes", "Send mail", "Address"}, labels(page))

	address := inputOf(t, page, "Address")
	response, page := d.does("test", page, url.Values{mail: {"false", "true"}, address: {"<nobody>"}})
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, page, `aria-invalid="true"`)
	require.Contains(t, page, "that is no address")
	require.Contains(t, page, "&lt;nobody&gt;", "what was typed is not shown any more")
	require.NotContains(t, page, "#Q address")

	_, page = d.does("test", page, url.Values{mail: {"false", "true"}, address: {"ada@home"}})
	require.Contains(t, page, "#Q address=ada@home\n")
	_, page = d.does("test", page, url.Values{mail: {"false"}})
	require.NotContains(t, page, "#Q address")
	_, page = d.does("test", page, url.Values{mail: {"false", "true"}})
	require.Contains(t, page, `value="ada@home"`, "what was filled in before is forgotten while it is hidden")
}

func TestALaunchFormIsSubmittedOnceHoweverOftenItsPageIsSent(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test"))
	submit := url.Values{"do": {`["submit"]`}}
	response, refused := d.does("test", page, submit)
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	require.Contains(t, refused, "enter a program or a script")
	require.NoFileExists(t, filepath.Join(d.folder, "submitted"))

	submit.Set("program", "/bin/true")
	response, _ = d.does("test", page, submit)
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	address, err := url.Parse(response.Header.Get("Location"))
	require.NoError(t, err)
	job, err := d.platform.Job(t.Context(), "test", address.Query().Get("id"))
	require.NoError(t, err)
	require.Equal(t, hidden(t, page, "tag"), job.Tag)

	response, again := d.does("test", page, submit)
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	require.Contains(t, again, "already submitted")
	require.Contains(t, again, html.EscapeString(address.String()))
	written, err := os.ReadFile(filepath.Join(d.folder, "submitted"))
	require.NoError(t, err)
	require.Equal(t, "x\n", string(written))

	response, _ = d.does("test", again, submit)
	require.Equal(t, http.StatusSeeOther, response.StatusCode, "nobody can submit the form a second time knowingly")
}

func TestAButtonOfALaunchFormRunsItsCommandAndShowsWhatItFound(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test"))
	queue, nodes := inputOf(t, page, "Queue"), inputOf(t, page, "Nodes")
	press := html.UnescapeString(regexp.MustCompile(`value="([^"]*)">Look</button>`).FindStringSubmatch(page)[1])
	_, page = d.does("test", page, url.Values{queue: {"typed"}, nodes: {"4"}})
	require.Contains(t, page, "#Q queue=typed nodes=4")
	_, page = d.does("test", page, url.Values{queue: {"typed"}, nodes: {"4"}, "do": {press}})
	require.Contains(t, page, "The command has run.")
	require.Contains(t, page, "#Q queue=night nodes=4\n", "what was typed outdoes what the command found, or is lost beside it")
}

func TestALaunchFormIsSavedAndBegunFromALaunchConfiguration(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test"))
	fill := url.Values{
		inputOf(t, page, "Nodes"): {"4"}, "program": {"./simulate"}, "arguments": {`'in put.dat' -v`}, "directory": {"/tmp"},
		"environment": {"A=1\r\nB=two words"}, "further": {"extra=given"}, "save-as": {"nightly"}, "do": {`["save"]`},
	}
	_, page = d.does("test", page, fill)
	require.Contains(t, page, "Saved as &#34;nightly&#34;")
	saved, err := settings.LoadLaunchConfiguration(d.folder, "nightly")
	require.NoError(t, err)
	require.Equal(t, "test", saved.Target)
	require.Equal(t, []job.Assignment{{Name: "extra", Value: "given"}, {Name: "nodes", Value: "4"}}, saved.Values)
	require.Equal(t, []string{"in put.dat", "-v"}, saved.Arguments)
	require.Equal(t, []job.Variable{{Name: "A", Value: "1"}, {Name: "B", Value: "two words"}}, saved.Environment.Variables)

	response, page := d.does("test", page, fill)
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	require.Contains(t, page, "already")
	fill.Set("replace", "true")
	_, page = d.does("test", page, fill)
	require.Contains(t, page, "Saved as")

	page = d.get("/launch?config=nightly&rm=test")
	for _, text := range []string{`value="./simulate"`, `value="&#39;in put.dat&#39; -v"`, "A=1\nB=two words</textarea>", "#Q queue=day nodes=4", "#Q extra=given",
		html.EscapeString("rmctl submit -t test -s extra=given -s nodes=4 -e A=1 -e 'B=two words' -d /tmp -- ./simulate 'in put.dat' -v")} {
		require.Contains(t, page, text)
	}
	require.Contains(t, d.get("/launch"), html.EscapeString("/launch?config=nightly&rm=test"))
}

func TestPortableNamesFillALaunchForm(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test") + "&set=nodes%3D3&program=a.out")
	require.Contains(t, page, "#Q queue=day nodes=3")
	_, page = d.does("test", page, url.Values{"further": {"nodes=7"}})
	require.Contains(t, page, "nodes=7")
	_, page = d.does("test", page, url.Values{"further": {"nodes=many\nqueue=night"}})
	require.Regexp(t, `id="own-further-problem" class="problem">[^<]*nodes`, page)
	page = d.get(formOf("test") + "&set=nodes%3D2&set=gone%3Dx")
	require.Regexp(t, `id="own-further-problem" class="problem">[^<]*gone`, page)
	require.Contains(t, page, "\nnodes=2\ngone=x</textarea>", "nobody can mend what the form began with")
	_, page = d.does("test", page, url.Values{"further": {"nodes=2"}})
	require.Contains(t, page, "#Q queue=day nodes=2")
	_, page = d.does("test", page, url.Values{"further": {"no line"}})
	require.Regexp(t, `id="own-further-problem" class="problem">[^<]*enter name=value`, page)
}

func TestPathsAreChosenFromTheTarget(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	hostile := `<img src=x onerror=alert(1)>`
	require.NoError(t, os.MkdirAll(filepath.Join(d.home, "in", hostile), 0o700))
	for _, name := range []string{"data", "a\u202egpj.sh"} {
		require.NoError(t, os.WriteFile(filepath.Join(d.home, "in", name), nil, 0o600))
	}
	page := d.get(formOf("test") + "&tab=Options")
	browse := regexp.MustCompile(`value="([^"]*)"[^>]*>Browse</button>`).FindAllStringSubmatch(page, -1)
	_, page = d.does("test", page, url.Values{"do": {html.UnescapeString(browse[1][1])}}) // behind that of the directory
	require.Contains(t, page, `role="dialog"`)
	into := regexp.MustCompile(`value="([^"]*)">in/</button>`).FindStringSubmatch(page)
	require.NotNil(t, into, page)
	_, page = d.does("test", page, url.Values{"do": {html.UnescapeString(into[1])}})
	require.Contains(t, page, html.EscapeString(hostile)+"/")
	require.NotContains(t, page, hostile)
	require.Contains(t, page, `>a\u202egpj.sh</button>`, "a name does not read as another one")
	require.NotContains(t, page, ">a\u202e")
	choose := regexp.MustCompile(`value="([^"]*)">data</button>`).FindStringSubmatch(page)
	_, page = d.does("test", page, url.Values{"do": {html.UnescapeString(choose[1])}})
	require.Contains(t, page, `value="`+filepath.Join(d.home, "in", "data")+`"`)

	response, page := d.does("test", page, url.Values{"do": {`["browse","directory","/no/such"]`}})
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	require.Contains(t, page, "cannot list the folder")
	response, _ = d.does("test", page, url.Values{"do": {`["choose","0","/etc/passwd"]`}})
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode, "a field that is no path takes one")
}

func TestAPipeGivenAsAScriptIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	page := d.get(formOf("test"))
	_, filled := d.does("test", page, url.Values{"script": {pipe}})
	require.Contains(t, filled, "is not a regular file")
	response, chosen := d.does("test", page, url.Values{"do": {`["choose","script","` + pipe + `"]`}})
	require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode)
	require.Contains(t, chosen, "is not a regular file")
	p := d.program()
	status, answer := p.call(http.MethodPost, "/managers/test/render", map[string]any{"script": pipe})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer["error"], "is not a regular file")
}

func TestTablesAndTabsOfALaunchFormCount(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test"))
	require.NotContains(t, page, "#Q extra")
	_, page = d.does("test", page, url.Values{"do": {`["tab","Options"]`}})
	require.Equal(t, "Options", hidden(t, page, "tab"))
	value := inputOf(t, page, "extra")
	check := launch.CheckInput + strings.TrimPrefix(value, launch.ValueInput)
	_, page = d.does("test", page, url.Values{check: {"false", "true"}, value: {"typed"}})
	require.Contains(t, page, "#Q extra=typed")
	_, page = d.does("test", page, url.Values{check: {"false"}})
	require.NotContains(t, page, "#Q extra")
	_, page = d.does("test", page, url.Values{check: {"false", "true"}, value: {"typed"}, "do": {`["tab","Basic"]`}})
	require.Contains(t, page, "#Q extra=typed", "what the other tab says is not included")
	require.Contains(t, page, "#Q queue=day")
	_, page = d.does("test", page, url.Values{"do": {`["reset"]`}})
	require.NotContains(t, page, "#Q extra")
}

func TestWhatAPageSendsForAFormIsNotTrusted(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"test": launchDefinition})
	page := d.get(formOf("test"))
	for name, wrong := range map[string]url.Values{
		"tag": {"tag": {"x"}}, "edits": {"edits": {"{"}}, "given": {"given": {`[1]`}}, "do": {"do": {"submit"}}, "word": {"do": {`["fly"]`}},
	} {
		response, _ := d.does("test", page, wrong)
		require.GreaterOrEqual(t, response.StatusCode, 400, name)
		require.Less(t, response.StatusCode, 500, name)
	}
	_, page = d.does("test", page, url.Values{"edits": {`[{"input":"f.99","text":"x"},{"input":"c.0","text":"true"},{"input":"","text":"y"},{"input":"f.1.queue","text":"z"}]`}})
	require.Contains(t, page, "#Q queue=day nodes=1\n")
	response, _ := d.do(http.MethodGet, formOf("nowhere"), nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	require.NoError(t, d.platform.Stop("test"))
	d.becomes("test", vocabulary.StateStopped)
	response, page = d.do(http.MethodGet, formOf("test"), nil, nil)
	require.Equal(t, http.StatusConflict, response.StatusCode)
	require.Contains(t, page, "STOPPED")
	require.Contains(t, d.get("/launch"), "start it first")
}

// formOf returns the address of the launch form of a target.
func formOf(manager string) string { return "/launch?" + url.Values{"rm": {manager}}.Encode() }
