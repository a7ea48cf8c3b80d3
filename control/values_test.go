package control_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
)

const someAttributes = `
	<attribute name="text"><default>d</default></attribute>
	<attribute name="fixed" readOnly="true"><default>f</default></attribute>
	<attribute name="hidden" visible="false"><default>h</default></attribute>
	<attribute name="color"><choice>,red,green, light blue</choice></attribute>
	<attribute name="size"><choice>small,large</choice><translateChoiceAs>-s,-l</translateChoiceAs></attribute>
	<attribute name="shorter"><choice>one,two,three</choice><translateChoiceAs>1,2</translateChoiceAs></attribute>
	<attribute name="rerun" translateBooleanAs="y,n"/>
	<attribute name="option" translateBooleanAs="-V, "/>
	<attribute name="halfpair" type="boolean" translateBooleanAs="--no-rotate"/>
	<attribute name="flag" type="java.lang.Boolean"/>
	<attribute name="nodes" type="integer" min="1" max="64"><default>1</default></attribute>
	<attribute name="memory" type="java.lang.Integer"/>
	<attribute name="mail" type="java.util.List"/>
	<attribute name="limits" type="java.util.Map"><validator><regex expression="\w+=.*"/><error-message>a word first, please</error-message></validator></attribute>
	<attribute name="checked"><validator><regex expression="\d+"/><error-message>digits, please</error-message></validator></attribute>
	<attribute name="silent"><validator><regex expression="\d+"/></validator></attribute>
	<attribute name="queue"/>
	<attribute name="control.queue.name" visible="false"><default>none</default><link-value-to>queue</link-value-to></attribute>
	<attribute name="workdir"><default>w</default><link-value-to>directory</link-value-to></attribute>
	<attribute name="chained" visible="false"><link-value-to>control.queue.name</link-value-to></attribute>`

// showing is a submit command whose arguments are the values of attributes.
func showing(names ...string) string {
	var text strings.Builder
	text.WriteString(`<submit-batch name="s"><arg>show</arg>`)
	for _, name := range names {
		text.WriteString(`<arg>"${ptp_rm:` + name + `#value}"</arg>`)
	}
	text.WriteString(`</submit-batch>`)
	return text.String()
}

// shown renders a submission and returns the values of attributes in it.
func shown(t *testing.T, controlData, name string, s job.Submission, change ...func(*control.Options)) (string, error) {
	t.Helper()
	rendering, err := newRenderer(t, define(t, controlData+showing(name)), change...).Render(s)
	if err != nil {
		return "", err
	}
	return rendering.Commands[len(rendering.Commands)-1].Arguments[1], nil
}

func values(pairs ...string) []job.Assignment {
	var list []job.Assignment
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, job.Assignment{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func TestValuesAreStoredAsTheFormWouldStoreThem(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		values    []job.Assignment
		want      string
	}{
		"the default without a value":              {"text", nil, "d"},
		"a text":                                   {"text", values("text", "x y"), "x y"},
		"the empty text takes the value away":      {"text", values("text", ""), ""},
		"the last of several":                      {"text", values("text", "1", "text", "2"), "2"},
		"an item of a choice":                      {"color", values("color", "green"), "green"},
		"an item is stored with its blanks":        {"color", values("color", "light blue"), " light blue"},
		"no item":                                  {"color", values("color", ""), ""},
		"the translation of an item":               {"size", values("size", "large"), "-l"},
		"what an item is stored as":                {"size", values("size", "-s"), "-s"},
		"an item that has no translation":          {"shorter", values("shorter", "three"), "three"},
		"a switch that is on":                      {"rerun", values("rerun", "true"), "y"},
		"a switch that is off":                     {"rerun", values("rerun", "No"), "n"},
		"what a switch is stored as":               {"rerun", values("rerun", "n"), "n"},
		"a switch for an option":                   {"option", values("option", "on"), "-V"},
		"a switch for no option":                   {"option", values("option", "off"), " "},
		"a translation that is no pair is ignored": {"halfpair", values("halfpair", "yes"), "true"},
		"a switch without translation":             {"flag", values("flag", "0"), "false"},
		"an integer":                               {"nodes", values("nodes", " 12 "), "12"},
		"the least integer":                        {"nodes", values("nodes", "1"), "1"},
		"the largest integer":                      {"nodes", values("nodes", "64"), "64"},
		"an integer without bounds":                {"memory", values("memory", "-5"), "-5"},
		"no integer":                               {"memory", values("memory", ""), ""},
		"a list of one":                            {"mail", values("mail", "a"), "[a]"},
		"a list by repetition":                     {"mail", values("mail", "a", "text", "x", "mail", "b,c"), "[a, b,c]"},
		"a list that begins again":                 {"mail", values("mail", "a", "mail", "", "mail", "b"), "[b]"},
		"an emptied list":                          {"mail", values("mail", "a", "mail", ""), ""},
		"a map by repetition":                      {"limits", values("limits", "cpu=4", "limits", "mem=a=b"), "{cpu=4, mem=a=b}"},
		"the last of several entries of a key":     {"limits", values("limits", "cpu=4", "limits", "cpu=5"), "{cpu=5}"},
		"an emptied switch":                        {"rerun", values("rerun", ""), ""},
		"an emptied choice":                        {"size", values("size", ""), ""},
		"a value that refers to another":           {"text", values("text", "<${ptp_rm:nodes#value}>"), "<1>"},
		"what a validator takes":                   {"checked", values("checked", "12"), "12"},
		"a link":                                   {"control.queue.name", values("queue", "long"), "long"},
		"the default of a link to nothing":         {"control.queue.name", nil, "none"},
		"a link to a link":                         {"chained", values("queue", "long"), "long"},
		"a value before a link":                    {"workdir", values("workdir", "/w"), "/w"},
		"a link before a default":                  {"workdir", nil, "/home/u/run"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shown(t, someAttributes, c.attribute, job.Submission{Executable: "x", Directory: "/home/u/run", Values: c.values})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestValuesThatAreRefusedNameTheirAttribute(t *testing.T) {
	for name, c := range map[string]struct{ attribute, value, want string }{
		"an attribute that does not exist":     {"colour", "red", `definition "test" has no such attribute` + "\n" + `did you mean "color"?`},
		"one that resembles no other":          {"zzzzzzzzzz", "1", "rmctl describe"},
		"a read-only one":                      {"fixed", "x", "read-only"},
		"one of the engine's":                  {"executablePath", "/x", "set by rmctl"},
		"a fact of a job":                      {"job.native", "R", "set by rmctl"},
		"no item of the choice":                {"color", "blue", "choose one of red, green"},
		"a switch in between":                  {"rerun", "maybe", "true or false"},
		"a boolean of another kind":            {"flag", "2", "true or false"},
		"no integer":                           {"nodes", "many", "enter a whole number"},
		"too small an integer":                 {"nodes", "0", "minimum is 1"},
		"too large an integer":                 {"nodes", "65", "maximum is 64"},
		"what a validator refuses":             {"checked", "12x", "digits, please"},
		"an integer of more than 32 bits":      {"memory", "99999999999", "enter a whole number"},
		"an entry without a key":               {"limits", "4", "key=value"},
		"an entry that a validator refuses":    {"limits", "a b=4", "a word first, please"},
		"an invisible one":                     {"hidden", "x", "set by the definition only"},
		"an invisible one that is linked":      {"control.queue.name", "x", `takes the value of "queue"`},
		"the directory":                        {"directory", "/x", "use -d"},
		"a system's property":                  {"os.name", "AIX", "set by rmctl"},
		"a validator without message":          {"silent", "x", `does not match`},
		"what a validator wants to be there":   {"silent", "", `does not match`},
		"an attribute whose name has no text":  {"", "x", "no such attribute"},
		"a name with references stays what it": {"${ptp_rm:text#value}", "x", "no such attribute"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := shown(t, someAttributes, "text", job.Submission{Executable: "x", Values: values(c.attribute, c.value)})
			require.ErrorContains(t, err, `attribute "`+c.attribute+`"`)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestEveryRefusedValueIsReported(t *testing.T) {
	_, err := shown(t, someAttributes, "text", job.Submission{Executable: "x", Values: values("nodes", "0", "nothing", "1", "text", "x")})
	require.ErrorContains(t, err, `"nodes"`)
	require.ErrorContains(t, err, `"nothing"`)
	var invalid *attribute.InvalidError
	require.ErrorAs(t, err, &invalid)
	var refused *control.ValueError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "nothing", refused.Attribute)
}

func TestValuesOfTheTargetAreOverriddenByThoseOfTheCaller(t *testing.T) {
	defaults := func(o *control.Options) {
		o.Defaults = values("text", "of the target", "mail", "target@x", "nodes", "3", "limits", "cpu=1", "limits", "mem=1")
	}
	for name, c := range map[string]struct {
		attribute string
		values    []job.Assignment
		want      string
	}{
		"the target's":                         {"text", nil, "of the target"},
		"the caller's":                         {"text", values("text", "mine"), "mine"},
		"the target's list":                    {"mail", nil, "[target@x]"},
		"the target's map":                     {"limits", nil, "{cpu=1, mem=1}"},
		"the caller's map replaces it":         {"limits", values("limits", "mem=2"), "{mem=2}"},
		"the caller's list replaces it":        {"mail", values("mail", "a", "mail", "b"), "[a, b]"},
		"wherever in the caller's values":      {"mail", values("nodes", "2", "mail", "a"), "[a]"},
		"and the values beside it are as ever": {"nodes", values("mail", "a", "nodes", "2"), "2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shown(t, someAttributes, c.attribute, job.Submission{Executable: "x", Values: c.values}, defaults)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := shown(t, someAttributes, "text", job.Submission{Executable: "x"}, func(o *control.Options) { o.Defaults = values("nodes", "0") })
	require.ErrorContains(t, err, "minimum is 1", "the target's values are checked, too")
}

func TestAnArgumentOfAClearedAttributeIsUndefined(t *testing.T) {
	controlData := `<attribute name="flag"><default>x</default></attribute>
		<submit-batch name="s"><arg>show</arg><arg attribute="flag" isUndefinedIfMatches="false">--flag</arg></submit-batch>`
	for text, want := range map[string][]string{"true": {"show", "--flag"}, "false": {"show"}, "": {"show"}} {
		rendering, err := newRenderer(t, define(t, controlData)).Render(job.Submission{Executable: "x", Values: values("flag", text)})
		require.NoError(t, err)
		require.Equal(t, want, rendering.Commands[0].Arguments)
	}
}

func TestLinksInACircleTakeTheirDefaults(t *testing.T) {
	got, err := shown(t, `<attribute name="a" visible="false"><default>x</default><link-value-to>b</link-value-to></attribute>
		<attribute name="b" visible="false"><link-value-to>a</link-value-to></attribute>`, "a", job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, "x", got)
}

const withForm = `
	<attribute name="bound" visible="false"/>
	<attribute name="bindir" visible="false"/>
	<attribute name="stdout_remote_path" visible="false"/>
	<attribute name="linked" visible="false"><link-value-to>bound</link-value-to></attribute>
	<attribute name="box"/>
	<attribute name="count" min="1"/>
	<attribute name="level"><choice>low,high</choice></attribute>
	<attribute name="speed"><choice>slow,fast</choice></attribute>
	<attribute name="queue"><choice>normal</choice><translateChoiceAs>q1</translateChoiceAs></attribute>
	<attribute name="queues" visible="false"/>
	<attribute name="mpi"/>
	<attribute name="nodes" type="integer"/>
	<attribute name="twice"><choice>a,b</choice></attribute>`

const itsForm = `<launch-tab><dynamic><title>T</title>
	<widget type="text" attribute="bound"/>
	<widget type="checkbox" attribute="box"/>
	<widget type="spinner" attribute="count"/>
	<widget type="combo" attribute="level"/>
	<widget type="combo" attribute="speed" readOnly="true"/>
	<widget type="combo" attribute="queue" readOnly="true"><items-from>queues</items-from></widget>
	<button-group attribute="mpi"><button type="radiobutton" title=""/><button type="radiobutton" title="mpiexec"/><button type="radiobutton" title="mpirun"/></button-group>
	<widget type="text" attribute="nodes"/>
	<widget type="combo" attribute="twice" readOnly="true"/>
	<browse attribute="twice" title="b"/><widget type="combo" attribute="twice"/>
</dynamic></launch-tab>`

func TestTheWidgetOfAnAttributeGivesItsValues(t *testing.T) {
	site := newRenderer(t, define(t, withForm+showing("bound", "box", "count", "level", "speed", "queue", "mpi", "nodes", "twice", "stdout_remote_path", "linked", "bindir")+itsForm))
	rendering, err := site.Render(job.Submission{Executable: "x", Values: values("bound", "b", "box", "yes", "count", "3", "level", "medium",
		"speed", "fast", "queue", "gpu", "mpi", "mpirun", "nodes", "2", "twice", "c", "stdout_remote_path", "/o")})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "b", "true", "3", "medium", "fast", "gpu", "mpirun", "2", "c", "/o", "b", ""}, rendering.Commands[0].Arguments)
	for name, c := range map[string]struct{ value, want string }{
		"box": {"x", "true or false"}, "count": {"0", "minimum is 1"}, "speed": {"medium", "choose one of slow, fast"},
		"mpi": {"srun", "choose one of mpiexec, mpirun"}, "nodes": {"two", "enter a whole number"}, "bindir": {"/opt/", "set by the definition only"}, "linked": {"x", `takes the value of "bound"`},
	} {
		_, err := site.Render(job.Submission{Executable: "x", Values: values(name, c.value)})
		require.ErrorContains(t, err, `attribute "`+name+`"`)
		require.ErrorContains(t, err, c.want)
	}
}

func TestATargetPresetsInvisibleAttributes(t *testing.T) {
	got, err := shown(t, withForm, "bindir", job.Submission{Executable: "x"}, func(o *control.Options) { o.Defaults = values("bindir", "/opt/pbs/bin/") })
	require.NoError(t, err)
	require.Equal(t, "/opt/pbs/bin/", got)
	got, err = shown(t, withForm, "bindir", job.Submission{Executable: "x", Values: values("bindir", "/usr/bin/"), Invisible: true})
	require.NoError(t, err)
	require.Equal(t, "/usr/bin/", got, "what commands find out may be made up for a rendering")
	_, err = shown(t, someAttributes, "fixed", job.Submission{Executable: "x", Values: values("fixed", "x"), Invisible: true})
	require.ErrorContains(t, err, "read-only")
}

func TestRelativeFilesAreInTheDirectoryOfTheJob(t *testing.T) {
	s := newSite(t, define(t, `<attribute name="input"><validator><file-info/><error-message>no such input</error-message></validator></attribute>`+submitting(`echo job 7`, "")))
	s.write(t, "run/data", "x")
	for _, name := range []string{"data", "../run/data", s.path("run/data"), ""} {
		s.submits(t, job.Submission{Executable: "x", Directory: s.path("run"), Values: values("input", name)})
	}
	for _, name := range []string{"run/data", "/nonexistent/data", "."} {
		_, err := s.Submit(t.Context(), job.Submission{Executable: "x", Directory: s.path("run"), Values: values("input", name)})
		require.ErrorContains(t, err, "no such input", name)
	}
}

func TestDefinitionsCanUseFactsAboutTheTarget(t *testing.T) {
	site := newRenderer(t, define(t, `<submit-batch name="s"><arg>${ptp_rm:os.name#value} ${ptp_rm:os.name#visible} ${ptp_rm:os.name#readOnly} ${ptp_rm:control.address#visible}</arg></submit-batch>`))
	rendering, err := site.Render(job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, []string{runtime.GOOS, "true", "true", "false"}, rendering.Commands[0].Arguments)
}

const twoTabs = `
	<attribute name="basic"><default>b</default></attribute>
	<attribute name="advanced"><default>a</default></attribute>
	<attribute name="shared"><default>s</default></attribute>
	<attribute name="hidden" visible="false"><default>h</default></attribute>`

const twoTabsForm = `<launch-tab>
	<dynamic includeWidgetValuesFrom="Shared"><title>Basic</title><composite><widget type="text" attribute="basic"/></composite></dynamic>
	<dynamic><title>Advanced</title><widget type="text" attribute="advanced"/></dynamic>
	<dynamic><title>Shared</title><widget type="text" attribute="shared"/></dynamic>
</launch-tab>`

func TestVisibleAttributesThatTheFirstTabDoesNotSetHaveNoValue(t *testing.T) {
	definition := define(t, twoTabs+showing("basic", "advanced", "shared", "hidden", "os.name")+twoTabsForm)
	s := newRenderer(t, definition)
	rendering, err := s.Render(job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "b", "", "s", "h", runtime.GOOS}, rendering.Commands[0].Arguments)

	rendering, err = s.Render(job.Submission{Executable: "x", Values: values("advanced", "set")})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "b", "set", "s", "h", runtime.GOOS}, rendering.Commands[0].Arguments, "what a caller sets counts")
}

func TestALinkDoesNotSetAttributesHiddenByTheForm(t *testing.T) {
	definition := define(t, twoTabs+`
		<attribute name="left.out"><default>d</default><link-value-to>basic</link-value-to></attribute>
		<attribute name="to.left.out" visible="false"><default>own</default><link-value-to>advanced</link-value-to></attribute>`+showing("left.out", "to.left.out")+twoTabsForm)
	rendering, err := newRenderer(t, definition).Render(job.Submission{Executable: "x"})
	require.NoError(t, err)
	require.Equal(t, []string{"show", "", "own"}, rendering.Commands[0].Arguments)
}
